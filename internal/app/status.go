package app

import (
	"context"
	"sync"
	"time"

	"leaderboard/cache"
	"leaderboard/cache/feed"
	"leaderboard/cache/resident"
	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// statusWait bounds the answers of MySQL to the status of boards. Redis has redisHealthLimit; both are asked side by side.
const statusWait = time.Second

// boardStatus makes the status of boards, with a few questions to MySQL and Redis for all of them together.
type boardStatus struct {
	boards   *store.Boards
	derived  laggards // nil: no derived boards
	catalog  *cache.Catalog
	copies   *topn.Copies // nil without Redis
	resident *resident.Periods
	feed     *feed.Feed
	gate     gate
	seen     *seenPeriods
}

// laggards are the derived boards, which may be behind their sources.
type laggards interface {
	// DerivedLags returns, by the id of a derived board, the age of the oldest change of its sources that it does not reflect.
	DerivedLags(ctx context.Context, ids []int64) (map[int64]time.Duration, error)
}

// seenPeriods holds the current periods of boards as MySQL last gave them to boardStatus. All methods may be called concurrently.
type seenPeriods struct {
	mu      sync.Mutex
	periods map[int64]leaderboard.Period
}

// maxSeen is how many boards are remembered.
const maxSeen = 10_000

func (t *seenPeriods) keep(periods []leaderboard.Period) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.periods)+len(periods) > maxSeen {
		clear(t.periods)
	}
	for i := range periods {
		t.periods[periods[i].BoardID] = periods[i]
	}
}

// of returns the current period of a board's first window; ok is false when it is not held.
func (t *seenPeriods) of(b *leaderboard.Board) (p leaderboard.Period, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok = t.periods[b.ID]
	return p, ok && p.Window == b.Rules.Windows[0]
}

// BoardHealth returns the status of boards. With away, MySQL is not asked.
func (s boardStatus) BoardHealth(ctx context.Context, boards []leaderboard.Board, away bool) []leaderboard.BoardHealth {
	out := make([]leaderboard.BoardHealth, len(boards))
	for i := range boards {
		out[i].Board = boards[i]
	}
	if away || !s.queryPeriods(ctx, boards, out) {
		s.recall(out)
		away = true
	}
	var both sync.WaitGroup
	if !away && s.derived != nil {
		both.Go(func() { s.queryLags(ctx, out) })
	}
	both.Go(func() { s.queryCopies(ctx, out) })
	both.Wait()
	for i := range out {
		out[i].Resident = s.resident.Holds(out[i].Period.ID)
	}
	return out
}

// queryPeriods asks MySQL for the periods, and reports whether it answered.
func (s boardStatus) queryPeriods(ctx context.Context, boards []leaderboard.Board, out []leaderboard.BoardHealth) bool {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	return s.gate(ctx, func(ctx context.Context) error {
		periods, err := s.boards.FirstPeriods(ctx, boards)
		for i := range periods {
			out[i].Period = periods[i]
		}
		s.seen.keep(periods)
		return err
	}) == nil
}

// recall fills in the last period that this process knew: the catalog's, or the last answer of MySQL if it is later, so that a
// status is never older than the one before. The feed may know of commits after both.
func (s boardStatus) recall(out []leaderboard.BoardHealth) {
	for i := range out {
		b := &out[i]
		b.Stale = true
		known, ok := s.catalog.KnownPeriod(b.Board.Name)
		ok = ok && known.BoardID == b.Board.ID
		if said, was := s.seen.of(&b.Board); was && (!ok || said.Committed > known.Committed) {
			known, ok = said, true
		}
		if !ok {
			continue
		}
		b.Period = known
		if latest, _, ok := s.feed.Latest(known.ID); ok && latest.Incarnation == known.Incarnation && latest.Seq > known.LastSeq {
			b.Period.LastSeq, b.Period.Committed = latest.Seq, latest.AsOf
		}
	}
}

// queryLags asks MySQL how far derived boards are behind.
func (s boardStatus) queryLags(ctx context.Context, out []leaderboard.BoardHealth) {
	var derived []int64
	for i := range out {
		if out[i].Board.Rules.Derive != nil {
			derived = append(derived, out[i].Board.ID)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	_ = s.gate(ctx, func(ctx context.Context) error { // without an answer there is no lag to show
		lags, err := s.derived.DerivedLags(ctx, derived)
		for i := range out {
			if lag, ok := lags[out[i].Board.ID]; ok {
				out[i].Lag = &lag
			}
		}
		return err
	})
}

// queryCopies asks Redis for the copies.
func (s boardStatus) queryCopies(ctx context.Context, out []leaderboard.BoardHealth) {
	var refs []leaderboard.PeriodRef
	var of []int
	for i := range out {
		if p := &out[i].Period; p.ID != 0 {
			refs, of = append(refs, p.Ref(&out[i].Board)), append(of, i)
		}
	}
	if s.copies == nil || len(refs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, redisHealthLimit)
	defer cancel()
	copies, err := s.copies.Health(ctx, refs)
	if err != nil {
		return // without an answer there is no copy to show
	}
	for n, i := range of {
		out[i].Copy = copies[n]
	}
}
