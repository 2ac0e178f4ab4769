package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/devserver"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// The writer against what MySQL does without it, on the same server with its durable defaults, in the same run and in
// turns, on a table of a million rows that fits into the buffer pool (with less memory both wait for pages, and 32
// connections wait better than one writer):
//
//	go test ./store -run '^$' -bench Write -benchtime 3x -timeout 30m
//
// One iteration is one turn of each, benchTurn long.
const (
	benchRows  = 1_000_000
	benchTurn  = 3 * time.Second
	singles    = 128 // goroutines that submit one entry at a time
	plainPool  = 32  // connections that upsert one row at a time
	bulkRows   = 500
	bulkWaits  = 4 // goroutines that submit bulkRows entries at a time
	benchBoard = "bench"
	benchPool  = 256 << 20 // bytes; the table takes about 170 MB
)

func BenchmarkWrite(b *testing.B) {
	w := newWriteBench(b)
	b.Run("single", func(b *testing.B) {
		w.compare(b, func() float64 { return w.submits(b, singles, 1) }, func() float64 { return w.plain(b, plainPool, 1) })
	})
	b.Run("single-of-bulk", func(b *testing.B) {
		w.compare(b, func() float64 { return w.submits(b, singles, 1) }, func() float64 { return w.plain(b, 1, bulkRows) })
	})
	b.Run("bulk", func(b *testing.B) {
		w.compare(b, func() float64 { return w.submits(b, bulkWaits, bulkRows) }, func() float64 { return w.plain(b, 1, bulkRows) })
	})
}

type writeBench struct {
	s       *store.Store
	db      *sql.DB
	batches atomic.Int64
	pid     int // of the server
}

// BatchEnded implements store.Observer.
func (w *writeBench) BatchEnded(int, int, time.Duration, time.Duration, error) { w.batches.Add(1) }

func newWriteBench(b *testing.B) *writeBench {
	b.Helper()
	server, err := devserver.StartMySQL(b.Context(), devserver.Config{Dir: b.TempDir(), MySQLOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Stop(context.Background()) })
	db, err := sql.Open("mysql", server.DSN)
	if err != nil {
		b.Fatal(err)
	}
	w := &writeBench{pid: server.PID}
	w.exec(b, db, "CREATE DATABASE bench")
	_ = db.Close()
	if w.db, err = sql.Open("mysql", server.DSN+"bench?interpolateParams=true"); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = w.db.Close() })
	w.db.SetMaxIdleConns(plainPool)
	w.s = open(b, server.DSN+"bench", func(c *store.Config) {
		c.Observer = w
	})
	if _, _, err := w.s.Boards.PutBoard(b.Context(), benchBoard, leaderboard.Rules{Policy: leaderboard.PolicyLatest}); err != nil {
		b.Fatal(err)
	}
	w.exec(b, w.db, "SET GLOBAL innodb_buffer_pool_size = ?", benchPool)
	w.fill(b)
	return w
}

func (w *writeBench) exec(b *testing.B, db *sql.DB, query string, args ...any) {
	b.Helper()
	if _, err := db.ExecContext(b.Context(), query, args...); err != nil {
		b.Fatal(err)
	}
}

// fill makes the entries without the service.
func (w *writeBench) fill(b *testing.B) {
	const digits = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
	for i := range 10 {
		w.exec(b, w.db, "INSERT INTO entries (period_id, member, score, created_time) SELECT p.id, CONCAT('m', LPAD(? + n, 7, '0')),"+
			" RAND(n) * 1000000, '2026-01-01' FROM (SELECT a.d*10000 + b.d*1000 + c.d*100 + d.d*10 + e.d n FROM "+
			digits+" a,"+digits+" b,"+digits+" c,"+digits+" d,"+digits+" e ORDER BY n) numbers, periods p", i*benchRows/10)
	}
	w.exec(b, w.db, "UPDATE periods SET entry_count = ?", benchRows)
}

// compare takes turns and reports rows/s of both and their ratio.
func (w *writeBench) compare(b *testing.B, ours, theirs func() float64) {
	var mine, base, mineCPU, baseCPU float64
	turns := 0
	for b.Loop() {
		rows, cpu := w.timed(b, theirs)
		base, baseCPU = base+rows, baseCPU+cpu
		rows, cpu = w.timed(b, ours)
		mine, mineCPU = mine+rows, mineCPU+cpu
		turns++
	}
	b.ReportMetric(mineCPU/mine*1e6, "cpu-us/row")
	b.ReportMetric(baseCPU/base*1e6, "baseline-cpu-us/row")
	b.ReportMetric(mine/float64(turns), "rows/s")
	b.ReportMetric(base/float64(turns), "baseline-rows/s")
	b.ReportMetric(mine/base, "ratio")
	b.ReportMetric(0, "ns/op")
}

// timed runs one turn and returns rows/s and the seconds of processor time that this process and the server took per second
// of it, which are more meaningful than the rate when other work runs on the machine.
func (w *writeBench) timed(b *testing.B, turn func() float64) (rows, cpu float64) {
	start, before := time.Now(), w.processorTime(b)
	rows = turn()
	return rows, (w.processorTime(b) - before) / time.Since(start).Seconds()
}

// processorTime returns the processor time of this process and the server in seconds, 0 where there is no /proc.
func (w *writeBench) processorTime(b *testing.B) float64 {
	const ticksPerSecond = 100
	sum := 0.0
	for _, pid := range []int{os.Getpid(), w.pid} {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0
		}
		_, fields, _ := strings.Cut(string(stat), ") ") // the name of the program may hold spaces
		for _, field := range strings.Fields(fields)[11:13] {
			ticks, err := strconv.ParseFloat(field, 64)
			if err != nil {
				b.Fatal(err)
			}
			sum += ticks / ticksPerSecond
		}
	}
	return sum
}

// repeat runs fn in goroutines for one turn and returns the rows/s that it reports.
func repeat(b *testing.B, goroutines int, fn func() (rows int, err error)) float64 {
	var wg sync.WaitGroup
	var rows atomic.Int64
	start := time.Now()
	for range goroutines {
		wg.Go(func() {
			for time.Since(start) < benchTurn {
				n, err := fn()
				if err != nil {
					b.Error(err)
					return
				}
				rows.Add(int64(n))
			}
		})
	}
	wg.Wait()
	return float64(rows.Load()) / time.Since(start).Seconds()
}

func anyone() string { return fmt.Sprintf("m%07d", rand.IntN(benchRows)) }

func (w *writeBench) submits(b *testing.B, goroutines, n int) float64 {
	before := w.batches.Load()
	rate := repeat(b, goroutines, func() (int, error) {
		entries := make([]leaderboard.Submission, n)
		for i := range entries {
			entries[i] = leaderboard.Submission{Member: anyone(), Score: rand.Int64N(1_000_000)}
		}
		_, err := w.s.Writer.Submit(context.Background(), leaderboard.SubmitRequest{Board: benchBoard, Entries: entries})
		return n, err
	})
	b.ReportMetric(rate*benchTurn.Seconds()/float64(w.batches.Load()-before), "rows/batch")
	return rate
}

// plain returns the baseline: autocommit upserts of n rows into the same table, without lock, log or HTTP. The policy
// of the board is latest, so the writer is not disturbed by rows that change behind its back.
func (w *writeBench) plain(b *testing.B, goroutines, n int) float64 {
	query := "INSERT INTO entries (period_id, member, score, tiebreak, created_time) VALUES " +
		strings.TrimSuffix(strings.Repeat("(1,?,?,0,NOW(6)),", n), ",") +
		" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_time = VALUES(created_time)"
	return repeat(b, goroutines, func() (int, error) {
		args := make([]any, 0, 2*n)
		for range n {
			args = append(args, anyone(), rand.Int64N(1_000_000))
		}
		_, err := w.db.ExecContext(b.Context(), query, args...)
		return n, err
	})
}
