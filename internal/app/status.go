package app

import (
	"context"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/cache"
	"leaderboard/cache/residency"
	"leaderboard/cache/topn"
	"leaderboard/cache/watch"
	"leaderboard/store"
)

// statusWait is how long MySQL has to answer what the status of boards asks, and Redis redisHealthLimit, side by side.
const statusWait = time.Second

// overview tells how boards stand: a few questions for all of them to MySQL and Redis, the rest is known here.
type overview struct {
	store    *store.Store
	catalog  *cache.Catalog
	copies   *topn.Copies // nil without Redis
	resident *residency.Periods
	watch    *watch.Watch
	gate     gate
}

// KnownBoards returns the boards that this process can tell of without MySQL.
func (o overview) KnownBoards(after string, limit int, covers func(board string) bool) []leaderboard.Board {
	known := o.catalog.Known(after, limit, covers)
	out := make([]leaderboard.Board, len(known))
	for i := range known {
		out[i] = known[i].Board
	}
	return out
}

// BoardHealth returns how boards stand.
func (o overview) BoardHealth(ctx context.Context, boards []leaderboard.Board, away bool) []leaderboard.BoardHealth {
	out := make([]leaderboard.BoardHealth, len(boards))
	for i := range boards {
		out[i].Board = boards[i]
	}
	if away || !o.askPeriods(ctx, boards, out) {
		o.recall(out)
		away = true
	}
	var both sync.WaitGroup
	if !away {
		both.Go(func() { o.askLags(ctx, out) })
	}
	both.Go(func() { o.askCopies(ctx, out) })
	both.Wait()
	for i := range out {
		out[i].Resident = o.resident.Holds(out[i].Period.ID)
	}
	return out
}

// askPeriods asks MySQL for the periods, and reports whether it answered.
func (o overview) askPeriods(ctx context.Context, boards []leaderboard.Board, out []leaderboard.BoardHealth) bool {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	return o.gate(ctx, func(ctx context.Context) error {
		periods, err := o.store.FirstPeriods(ctx, boards)
		for i := range periods {
			out[i].Period = periods[i]
		}
		return err
	}) == nil
}

// recall says what this process knew last. The watch may have heard of commits after the catalog has.
func (o overview) recall(out []leaderboard.BoardHealth) {
	for i := range out {
		b := &out[i]
		b.Stale = true
		known, ok := o.catalog.KnownPeriod(b.Board.Name)
		if !ok || known.BoardID != b.Board.ID {
			continue
		}
		b.Period = known
		if latest, ok := o.watch.Latest(known.ID); ok && latest.History == known.History && latest.Seq > known.LastSeq {
			b.Period.LastSeq, b.Period.Committed = latest.Seq, latest.AsOf
		}
	}
}

// askLags asks MySQL how far derived boards are behind.
func (o overview) askLags(ctx context.Context, out []leaderboard.BoardHealth) {
	var derived []int64
	for i := range out {
		if out[i].Board.Rules.Derive != nil {
			derived = append(derived, out[i].Board.ID)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	_ = o.gate(ctx, func(ctx context.Context) error { // without an answer nobody can tell
		lags, err := o.store.DerivedLags(ctx, derived)
		for i := range out {
			if lag, ok := lags[out[i].Board.ID]; ok {
				out[i].Lag = &lag
			}
		}
		return err
	})
}

// askCopies asks Redis for the copies.
func (o overview) askCopies(ctx context.Context, out []leaderboard.BoardHealth) {
	var refs []leaderboard.PeriodRef
	var of []int
	for i := range out {
		if p := &out[i].Period; p.ID != 0 {
			refs, of = append(refs, p.Ref(&out[i].Board)), append(of, i)
		}
	}
	if o.copies == nil || len(refs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, redisHealthLimit)
	defer cancel()
	copies, err := o.copies.Health(ctx, refs)
	if err != nil {
		return // without an answer nobody can tell
	}
	for n, i := range of {
		out[i].Copy = copies[n]
	}
}
