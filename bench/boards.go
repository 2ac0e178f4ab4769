package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/client"
)

const (
	boardsDatabase = "leaderboard_boards"
	boardsMakers   = 32
	boardsAtOnce   = 1000
	boardsConns    = 64
	boardsIdle     = 10   // seconds
	boardsDerived  = 1000 // every so many boards there is a derived one
	boardsPrefix   = "many"
)

// measureBoards starts a server on options.boards boards: what it asks and takes while nothing happens, and what the
// first write and read of 1,000 of them at once take.
func (w *world) measureBoards(ctx context.Context, rep *report, log io.Writer) error {
	rep.boardless = true
	defer w.stopService()
	b, err := w.makeBoards(ctx, rep, log)
	if err != nil {
		return err
	}
	defer func() { _ = b.db.Close() }()
	w.dsn = b.dsn
	if err := w.serve(ctx); err != nil {
		return err
	}
	if err := w.idleBoards(ctx, b.db, rep); err != nil {
		return err
	}
	return w.boardsTogether(ctx, rep)
}

func manyName(i int) string { return boardsPrefix + strconv.Itoa(i) }

// makeBoards makes the boards, and derived ones beside them, unless they are there.
func (w *world) makeBoards(ctx context.Context, rep *report, log io.Writer) (*board, error) {
	db, err := sql.Open("mysql", w.mysql.DSN)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+boardsDatabase); err != nil {
		return nil, err
	}
	b, err := newBoard(ctx, w.mysql.DSN+boardsDatabase, 0)
	if err != nil {
		return nil, err
	}
	var have int
	err = b.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM boards WHERE name LIKE '"+boardsPrefix+"%'").Scan(&have)
	if err == nil && have < w.boards { // of a run that was cut off a few of the last ones may lack
		start := time.Now()
		if err = b.putMany(ctx, max(0, have-boardsMakers), w.boards, newProgress(log, "making boards", w.boards-have)); err == nil {
			rep.add(row{What: fmt.Sprintf("%s boards made by one process", thousands(w.boards-have)), Here: fmt.Sprintf("%.0f a second", float64(w.boards-have)/time.Since(start).Seconds())})
		}
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, b.closeStores()
}

// putMany makes the boards with the numbers given.
func (b *board) putMany(ctx context.Context, from, to int, bar *progress) error {
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		first atomic.Pointer[error]
	)
	next.Store(int64(from))
	for range boardsMakers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < to && first.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := b.putOne(ctx, i); err != nil {
					first.CompareAndSwap(nil, &err)
				}
				bar.add(1)
			}
		})
	}
	wg.Wait()
	bar.end("ready")
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

func (b *board) putOne(ctx context.Context, i int) error {
	if _, _, err := b.store.PutBoard(ctx, manyName(i), benchRules(benchTopN)); err != nil {
		return err
	}
	if i%boardsDerived != 0 {
		return nil
	}
	rule := &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: manyName(i)}}}
	_, _, err := b.store.PutBoard(ctx, "sum"+strconv.Itoa(i), leaderboard.Rules{Derive: rule})
	return err
}

// idleBoards counts the statements of a server that nobody asks for anything, once its derived boards have nothing to do.
func (w *world) idleBoards(ctx context.Context, db *sql.DB, rep *report) error {
	questions := func() (n int64, err error) {
		var name string
		err = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n)
		return n, err
	}
	var rate float64
	for start := time.Now(); ; {
		before, err := questions()
		if err != nil {
			return err
		}
		began := time.Now()
		if err := wait(ctx, w.seconds(boardsIdle)); err != nil {
			return err
		}
		after, err := questions()
		if err != nil {
			return err
		}
		last := rate
		rate = float64(after-before-1) / time.Since(began).Seconds()
		if (last > 0 && rate > 0.9*last) || time.Since(start) > w.seconds(12*boardsIdle) {
			break
		}
	}
	use, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	rep.add(row{
		What: fmt.Sprintf("idle: %s boards, %s of them derived", thousands(w.boards), thousands((w.boards+boardsDerived-1)/boardsDerived)),
		Here: fmt.Sprintf("%.0f statements a second, %.0f MiB (RSS)", rate, use.rssMB), Goal: "≤ 50 statements a second", Met: yesNo(rate <= 50),
	})
	return nil
}

// boardsTogether writes to 1,000 boards at once, and reads their tops, twice: the first time the server knows none.
func (w *world) boardsTogether(ctx context.Context, rep *report) error {
	before, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	chosen := rand.Perm(w.boards)[:min(boardsAtOnce, w.boards)]
	for _, when := range []string{"for the first time", "once more"} {
		for _, do := range []struct {
			what string
			ask  func(string) error
		}{
			{"an entry submitted to each of", func(name string) error {
				request := client.SubmitRequest(name, randomEntries(w.members, 1))
				request.Header = nil
				_, err := w.api.Do(ctx, request)
				return err
			}},
			{"the top read of each of", func(name string) error {
				_, err := w.api.Do(ctx, client.Request{Method: http.MethodGet, Path: "/v1/boards/" + name + "/top"})
				return err
			}},
		} {
			times, took, err := forEach(chosen, do.ask)
			if err != nil {
				return err
			}
			rep.add(row{
				What: fmt.Sprintf("%s %s boards, %s, %d connections", do.what, thousands(len(chosen)), when, boardsConns),
				Here: fmt.Sprintf("%s, p50 %s, p99 %s", inSeconds(took), inMS(median(times)), inMS(times[len(times)*99/100])),
			})
		}
	}
	after, err := processUsage(w.pid)
	if err != nil {
		return err
	}
	rep.add(row{What: "memory of a board that is used (RSS)", Here: fmt.Sprintf("%.0f KiB", (after.rssMB-before.rssMB)*1024/float64(len(chosen)))})
	return nil
}

// forEach asks about all boards, by some connections, and returns the times of the answers.
func forEach(chosen []int, ask func(string) error) (times []time.Duration, took time.Duration, err error) {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		next atomic.Int64
	)
	start := time.Now()
	for range boardsConns {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(chosen); i = int(next.Add(1)) - 1 {
				began := time.Now()
				failed := ask(manyName(chosen[i]))
				mu.Lock()
				times, err = append(times, time.Since(began)), errors.Join(err, failed)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return times, time.Since(start), err
}
