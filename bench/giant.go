package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"syscall"
	"time"

	"leaderboard"
	"leaderboard/internal/devserver"
)

const (
	giantDatabase = "bench_giant_80" // giantFull: one that was filled otherwise is another board

	giantRoom     = 250     // bytes of disk for a row while its board is filled: table, ordered index, and what it is sorted in
	giantFillPool = 4 << 30 // bytes of the buffer pool meanwhile: the rest of the memory is for the files that are sorted
	giantRedo     = 4 << 30 // bytes
	giantFlush    = 2 * time.Minute

	giantFillGoal   = 150_000 // rows a second
	giantBuildGoal  = 1.3     // seconds per million
	giantGrowthGoal = 1.5
	giantLoadGoal   = 200 * time.Millisecond
)

// giants are the boards of the section: the large one, of a tenth of its size, and of a hundredth.
type giants struct{ large, tenth, hundredth *board }

func (g *giants) all() []*board {
	var there []*board
	for _, b := range []*board{g.large, g.tenth, g.hundredth} {
		if b != nil {
			there = append(there, b)
		}
	}
	return there
}

// measureGiant measures the store in this process on one board of options.giants entries. What was filled is used again.
func (w *world) measureGiant(ctx context.Context, rep *report, log io.Writer) (err error) {
	rep.boardless = true // not of options.members
	var g giants
	defer func() {
		for _, b := range g.all() {
			err = errors.Join(err, b.close())
		}
	}()
	if err := w.openGiants(ctx, &g, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, flushPages(context.WithoutCancel(ctx), g.large.db, log)) }()
	for _, part := range []struct {
		name string
		run  func(context.Context, *giants, *report) error
	}{
		{"size", w.giantSize},
		{"warming", w.giantWarm},
		{"fill", w.giantFill},
		{"build", w.giantBuild},
		{"memory", w.giantMemory},
		{"latency", w.giantLatency},
		{"depths", w.giantDepths},
		{"load", w.giantLoad},
		{"submits", w.giantSubmits},
	} {
		start := time.Now()
		if err := part.run(ctx, &g, rep); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprintf(log, "giant: %s took %s\n", part.name, inSeconds(time.Since(start)))
	}
	return nil
}

// openGiants fills the boards that are not there yet.
func (w *world) openGiants(ctx context.Context, g *giants, log io.Writer) error {
	server := w.mysql.DSN
	have, err := countOf(ctx, server, giantDatabase)
	if err != nil {
		return err
	}
	memory, err := machineMemory()
	if err != nil {
		return err
	}
	room := int64(w.giants) * giantRoom
	if have != w.giants {
		if err := roomFor(w.dir, room); err != nil {
			return err
		}
		if err := setPool(ctx, w.mysql, min(giantFillPool, memory/4, leastPool+room), log); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		to       **board
		database string
		members  int
		fill     func(*board) error
	}{
		{&g.large, giantDatabase, w.giants, func(b *board) error { b.giant = true; return b.bulkFill(ctx, log) }},
		{&g.tenth, "bench_" + strconv.Itoa(w.giants/10), w.giants / 10, func(b *board) error { return b.fill(ctx, log) }},
		{&g.hundredth, "bench_" + strconv.Itoa(w.giants/100), w.giants / 100, func(b *board) error { return b.fill(ctx, log) }},
	} {
		if *one.to, err = openWith(ctx, server, one.database, one.members, one.fill); err != nil {
			return fmt.Errorf("board of %s: %w", thousands(one.members), err)
		}
	}
	g.large.giant = true
	return setPool(ctx, w.mysql, min(memory*2/3, leastPool+room), log)
}

// roomFor refuses to fill a disk that has too little room.
func roomFor(dir string, want int64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return err
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < want {
		return fmt.Errorf("%s has %.1f GB left, %.1f GB are wanted", dir, float64(free)/1e9, float64(want)/1e9)
	}
	return nil
}

// setPool sets the buffer pool, and the redo log beside it, and waits until the pool has its size.
func setPool(ctx context.Context, mysql *devserver.Server, size int64, log io.Writer) error {
	db, err := sql.Open("mysql", mysql.DSN+"?interpolateParams=true")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, set := range []struct {
		query string
		value int64
	}{{"SET GLOBAL innodb_redo_log_capacity = ?", giantRedo}, {"SET GLOBAL innodb_buffer_pool_size = ?", size}} {
		if _, err := db.ExecContext(ctx, set.query, set.value); err != nil {
			return err
		}
	}
	fmt.Fprintf(log, "giant: buffer pool of %.1f GB\n", float64(size)/1e9)
	for {
		var name, status string
		if err := db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status_code'").Scan(&name, &status); err != nil {
			return err
		}
		if status == "0" {
			return nil
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// flushPages has all pages written to disk, so that the server stops in time.
func flushPages(ctx context.Context, db *sql.DB, log io.Writer) error {
	for _, q := range []string{"SET GLOBAL innodb_io_capacity_max = 20000", "SET GLOBAL innodb_io_capacity = 10000", "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0", "SET GLOBAL innodb_max_dirty_pages_pct = 0"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	for start := time.Now(); time.Since(start) < giantFlush; {
		var name string
		var dirty int64
		if err := db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'").Scan(&name, &dirty); err != nil {
			return err
		}
		if dirty < 1000 {
			return nil
		}
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	fmt.Fprintln(log, "giant: not all pages are on disk yet; the next start recovers them")
	return nil
}

// giantSize says what the tables take, and whether the buffer pool holds them.
func (w *world) giantSize(ctx context.Context, g *giants, rep *report) error {
	if err := g.large.exec(ctx, "ANALYZE TABLE entries"); err != nil { // the statistics may be older than the last rows
		return err
	}
	var table, key, pool float64
	sizes := map[string]*float64{"PRIMARY": &table, orderKey: &key}
	rows, err := g.large.db.QueryContext(ctx, "SELECT index_name, stat_value * @@innodb_page_size FROM mysql.innodb_index_stats"+
		" WHERE database_name = ? AND table_name = 'entries' AND stat_name = 'size'", giantDatabase)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var size float64
		if err := rows.Scan(&name, &size); err != nil {
			return err
		}
		if to, ok := sizes[name]; ok {
			*to = size
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := g.large.db.QueryRowContext(ctx, "SELECT @@innodb_buffer_pool_size").Scan(&pool); err != nil {
		return err
	}
	holds := "holds them"
	if table+key > pool {
		holds = "does not hold them: what is measured is the disk too"
	}
	rep.add(row{
		What:      "table and ordered index, " + g.large.size(),
		Here:      fmt.Sprintf("%.1f GB and %.1f GB, %.0f bytes a member", table/1e9, key/1e9, (table+key)/float64(g.large.members)),
		Yardstick: fmt.Sprintf("a buffer pool of %.1f GB, which %s", pool/1e9, holds),
	})
	return nil
}

func (w *world) giantWarm(ctx context.Context, g *giants, _ *report) error {
	for _, b := range g.all() {
		if err := b.warm(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) giantFill(_ context.Context, g *giants, rep *report) error {
	rep.add(row{
		What: "filling, " + g.large.size(), Here: thousands(g.large.fillRate) + " rows/s", Goal: "≥ 150,000 rows/s",
		Met: yesNo(g.large.fillRate >= giantFillGoal),
	})
	return nil
}

// giantBuild builds the index of all boards: that of the large one is measured.
func (w *world) giantBuild(ctx context.Context, g *giants, rep *report) error {
	for _, b := range g.all() {
		took, err := b.buildIndex(ctx)
		if err != nil {
			return err
		}
		if b != g.large {
			continue
		}
		perMillion := took.Seconds() / (float64(b.members) / 1e6)
		rep.add(row{
			What: "build of the index, " + b.size(), Here: fmt.Sprintf("%.1f s, %.2f s per million", took.Seconds(), perMillion),
			Goal: "≤ 1.3 s per million", Met: yesNo(perMillion <= giantBuildGoal),
		})
	}
	return nil
}

func (w *world) giantMemory(ctx context.Context, g *giants, rep *report) error {
	payload, err := g.large.saved(ctx)
	if err != nil {
		return err
	}
	m, err := weigh(payload)
	if err != nil {
		return err
	}
	rep.add(row{
		What: "memory of the index, " + g.large.size(), Goal: "≤ 16 MB", Met: yesNo(m.total <= memoryGoal),
		Here: fmt.Sprintf("%.1f MiB in %s buckets; saved in %.1f MiB", m.total/(1<<20), thousands(m.buckets), float64(len(payload))/(1<<20)),
	})
	return nil
}

// giantLatency asks the large board and that of a tenth in turn.
func (w *world) giantLatency(ctx context.Context, g *giants, rep *report) error {
	boards := []*board{g.large, g.tenth}
	seen := make([]latency, len(boards))
	for range latencyRounds {
		for i, b := range boards {
			if err := b.latencyRound(ctx, w.seconds(2*latencySeconds), &seen[i]); err != nil {
				return err
			}
		}
	}
	for _, one := range []struct {
		what, goal    string
		large, theirs []time.Duration
	}{
		{"primary-key read of a random member", "", seen[0].read, seen[1].read},
		{"rank of a random member", "≤ 1.5", seen[0].rank, seen[1].rank},
		{"page of 100 at a random depth", "≤ 1.5", seen[0].page, seen[1].page},
	} {
		var ratios []float64
		for i := range one.large {
			ratios = append(ratios, float64(one.large[i])/float64(max(1, one.theirs[i])))
		}
		rep.add(row{
			What: one.what + ", p50, " + g.large.size(), Here: inMS(median(one.large)),
			Yardstick: g.tenth.size() + ": " + inMS(median(one.theirs)), Ratio: median(ratios), Goal: one.goal,
		})
	}
	return nil
}

// giantDepths asks for pages of 100 at the beginning, at the end, and between.
func (w *world) giantDepths(ctx context.Context, g *giants, rep *report) error {
	for _, depth := range []struct {
		name string
		part float64
	}{{"at the top", 0}, {"around the middle", 0.5}, {"at the end", 1}} {
		last := int64(g.large.members) - pageEntries
		var times []time.Duration
		for start := time.Now(); len(times) == 0 || time.Since(start) < w.seconds(latencySeconds); {
			offset := min(last, int64(depth.part*float64(last))+rand.Int64N(pageEntries))
			took, err := timed(ctx, func(ctx context.Context) error {
				page, err := g.large.store.Page(ctx, g.large.ref, leaderboard.PageQuery{Limit: pageEntries, Offset: offset})
				if err == nil && len(page.Entries) != pageEntries {
					err = fmt.Errorf("a page at %d has %d entries", offset, len(page.Entries))
				}
				return err
			})
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		p50 := median(times) // sorts
		rep.add(row{What: fmt.Sprintf("page of 100 %s, %s", depth.name, g.large.size()), Here: fmt.Sprintf("p50 %s, p99 %s", inMS(p50), inMS(times[len(times)*99/100]))})
	}
	return nil
}

func (w *world) giantLoad(ctx context.Context, g *giants, rep *report) error {
	var times []time.Duration
	for range loadRounds {
		took, err := g.large.firstAnswer(ctx)
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	took := median(times)
	rep.add(row{
		What: "first rank of a new process, loading the index, " + g.large.size(), Here: inMS(took), Goal: "≤ 200 ms",
		Met: yesNo(took <= giantLoadGoal),
	})
	return nil
}

// giantSubmits submits to the large board and to that of a hundredth in turn; both keep their index.
func (w *world) giantSubmits(ctx context.Context, g *giants, rep *report) error {
	for _, load := range []struct {
		what       string
		callers, n int
	}{{"single-entry submits, 128 callers", submitConns, 1}, {"submits of 500 entries, 4 callers", batchConns, bulkRows}} {
		submits := func(b *board) func() (float64, error) {
			return func() (float64, error) {
				return b.submits(ctx, b.store, load.callers, load.n, w.seconds(2*writeSeconds))
			}
		}
		large, small, ratio, err := paired(writeRounds, submits(g.large), submits(g.hundredth))
		if err != nil {
			return err
		}
		rep.add(row{
			What: load.what + ", " + g.large.size(), Here: thousands(large) + " rows/s",
			Yardstick: g.hundredth.size() + ": " + thousands(small) + " rows/s", Ratio: ratio, Goal: "≥ 0.5",
		})
	}
	return nil
}
