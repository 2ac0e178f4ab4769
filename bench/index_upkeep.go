package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
)

const (
	foldRounds = 3
	foldGoal   = 500_000 // changes a second
)

// measureUpkeep submits to the board of options.members with and without an index kept, and then folds what that wrote
// into the log.
func (w *world) measureUpkeep(ctx context.Context, boards []*board, rep *report, log io.Writer) error {
	fmt.Fprintln(log, "index: upkeep")
	for _, b := range boards {
		if b.members != w.members {
			continue
		}
		before, err := b.saved(ctx)
		if err != nil {
			return err
		}
		late, err := b.open(nil) // sees nothing of the submits until it is asked
		if err != nil {
			return err
		}
		if err := b.rankMember(ctx, late); err != nil {
			return err
		}
		if err := w.compareSubmits(ctx, b, rep); err != nil {
			return err
		}
		return b.measureFold(ctx, late, before, rep)
	}
	return nil
}

// compareSubmits lets a store with and one without an index submit in turn.
func (w *world) compareSubmits(ctx context.Context, b *board, rep *report) error {
	without, err := b.openScanning()
	if err != nil {
		return err
	}
	for _, load := range []struct {
		what       string
		callers, n int
	}{{"single-entry submits, 128 callers", submitConns, 1}, {"submits of 500 entries, 4 callers", batchConns, bulkRows}} {
		kept, plain, ratio, err := paired(
			writeRounds,
			func() (float64, error) {
				if err := b.rankMember(ctx, b.store); err != nil { // folds what the other one wrote
					return 0, err
				}
				return b.submits(ctx, b.store, load.callers, load.n, w.seconds(writeSeconds))
			},
			func() (float64, error) { return b.submits(ctx, without, load.callers, load.n, w.seconds(writeSeconds)) },
		)
		if err != nil {
			return err
		}
		rep.add(row{
			What: load.what + ", an index kept, " + b.size(), Here: thousands(kept) + " rows/s",
			Yardstick: "without an index: " + thousands(plain) + " rows/s", Ratio: ratio, Goal: "≥ 0.9",
		})
	}
	return nil
}

// submits returns the rows a second that callers get accepted, n entries at a time.
func (b *board) submits(ctx context.Context, s *store.Store, callers, n int, length time.Duration) (float64, error) {
	var (
		wg    sync.WaitGroup
		rows  atomic.Int64
		first atomic.Pointer[error]
	)
	start := time.Now()
	for range callers {
		wg.Go(func() {
			for time.Since(start) < length {
				if _, err := s.Submit(ctx, leaderboard.SubmitRequest{Board: benchBoard, Entries: entriesOf(n, b.randomMember)}); err != nil {
					first.CompareAndSwap(nil, &err)
					return
				}
				rows.Add(int64(n))
			}
		})
	}
	wg.Wait()
	if err := first.Load(); err != nil {
		return 0, *err
	}
	return float64(rows.Load()) / time.Since(start).Seconds(), nil
}

// measureFold folds the log since before: alone, and as a store does that reads it first.
func (b *board) measureFold(ctx context.Context, late *store.Store, before []byte, rep *report) error {
	caughtUp, err := timed(ctx, func(ctx context.Context) error { return b.rankMember(ctx, late) })
	if err != nil {
		return err
	}
	var changes int64
	var times []time.Duration
	for range foldRounds {
		var took time.Duration
		if changes, took, err = b.foldLog(ctx, before); err != nil {
			return err
		}
		times = append(times, took)
	}
	rate := float64(changes) / max(median(times).Seconds(), math.SmallestNonzeroFloat64)
	rep.add(row{
		What: fmt.Sprintf("folding %s changes into the index, %s", thousands(changes), b.size()), Here: thousands(rate) + " changes/s",
		Goal: "≥ 500,000 changes/s", Met: yesNo(rate >= foldGoal),
	})
	rep.add(row{
		What: "the same by a server that reads them from the log first, for one rank",
		Here: fmt.Sprintf("%s changes/s", thousands(float64(changes)/caughtUp.Seconds())),
	})
	return nil
}

// foldLog folds the log from the state of a saved index on, and returns the time of the folding alone.
func (b *board) foldLog(ctx context.Context, saved []byte) (changes int64, took time.Duration, err error) {
	index, err := rank.Decode(saved)
	if err != nil {
		return 0, 0, err
	}
	codec := rank.CodecOf(b.ref.Rules)
	for {
		commits, err := b.store.Changes(ctx, b.ref.ID, index.At().Seq, 200)
		if err != nil || len(commits) == 0 {
			return changes, took, err
		}
		start := time.Now()
		for i := range commits {
			if err := index.Fold(codec, &commits[i]); err != nil {
				return changes, took, err
			}
			changes += int64(len(commits[i].Changes))
		}
		took += time.Since(start)
	}
}
