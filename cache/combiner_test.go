package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

func TestCombinerConformance(t *testing.T) {
	t.Parallel()
	s, m := merging(t)
	storetest.RunCombined(t, s, m)
}

// TestCombinerProperty: a combination of copies of different moments is correct at the states that it names.
func TestCombinerProperty(t *testing.T) {
	t.Parallel()
	s, m := merging(t)
	storetest.PropertyCombined(t, s, m, false)
}

func merging(t *testing.T) (storetest.Subject, *Reader) {
	t.Helper()
	s := layered(t)
	return s, s.Rankings.(*Reader)
}

// counted counts the queries that reach the database, and can fail.
type counted struct {
	leaderboard.Rankings
	leaderboard.Pasts
	combined leaderboard.CombinedRankings
	pages    atomic.Int64
	asked    atomic.Int64
	failure  atomic.Pointer[error]
}

func (c *counted) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	c.pages.Add(1)
	return c.Rankings.Page(ctx, p, q)
}

func (c *counted) Query(ctx context.Context, p leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	return storetest.QueryEach(ctx, c, p, questions), nil
}

func (c *counted) CombinedPage(ctx context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	c.asked.Add(1)
	if err := c.failure.Load(); err != nil {
		return nil, *err
	}
	return c.combined.CombinedPage(ctx, p, q)
}

func (c *counted) CombinedMember(ctx context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	c.asked.Add(1)
	return c.combined.CombinedMember(ctx, p, q)
}

// TestCombinerLayers: tops are combined in the process, the rest asks the database once and is kept, and serves as the
// last good answer while the database is away.
func TestCombinerLayers(t *testing.T) {
	t.Parallel()
	model := storetest.NewModel()
	c := &counted{Rankings: model, combined: model}
	var refs []leaderboard.PeriodRef
	for _, name := range []string{"a", "b"} {
		b, _, err := model.PutBoard(t.Context(), name, leaderboard.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := model.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, p.Ref(&b))
	}
	var later atomic.Int64 // read by calls too, which may outlast the query
	now := func() time.Time { return time.Unix(1_900_000_000, later.Load()) }
	m := NewReader(nil, c, ReaderOptions{FreshFor: 100 * time.Millisecond, Now: now})
	page := func(q leaderboard.CombinedQuery) *leaderboard.CombinedPage {
		t.Helper()
		q.Mode = leaderboard.ModeStrict
		p, err := m.CombinedPage(t.Context(), refs, q)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for offset := range int64(90) { // all of them out of the same two tops
		page(leaderboard.CombinedQuery{Limit: 10, Offset: 1 + offset})
	}
	if c.pages.Load() != 2 || c.asked.Load() != 0 {
		t.Errorf("%d pages and %d merged answers were asked for", c.pages.Load(), c.asked.Load())
	}
	deep := leaderboard.CombinedQuery{Limit: 10, Offset: 991}
	closed := append([]leaderboard.PeriodRef{}, refs...)
	closed[1].Closed, closed[1].LastSeq = true, 1 // which the database has not reached
	for _, offset := range []int64{0, 2000} {
		q := leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Limit: 5, Offset: offset}
		if p, err := m.CombinedPage(t.Context(), closed, q); !errors.Is(err, leaderboard.ErrSeqAhead) {
			t.Errorf("an older state of what is closed, from %d: %+v, %v", offset, p, err)
		}
	}
	c.asked.Store(0)
	first, again := page(deep), page(deep)
	if c.asked.Load() != 1 || first.States[1].Source != leaderboard.SourceMySQL || again.States[1].Source != leaderboard.SourceLocal {
		t.Errorf("%d merged answers, from %+v and %+v", c.asked.Load(), first.States, again.States)
	}
	deep.Uncached = true
	page(deep)
	page(leaderboard.CombinedQuery{Limit: 10, Uncached: true})
	if last := page(deep); c.asked.Load() != 4 || last.States[1].Source != leaderboard.SourceMySQL {
		t.Errorf("asked %d times for what is fresh, the last from %+v", c.asked.Load()-1, last.States)
	}
	deep.Uncached = false
	gone := fmt.Errorf("gone: %w", leaderboard.ErrUnavailable)
	c.failure.Store(&gone)
	later.Add(int64(5 * time.Second))
	if last := page(deep); !last.States[0].Stale || !last.States[1].Stale {
		t.Errorf("while the truth is away: %+v", last.States)
	}
	deep.Offset++
	deep.Mode = leaderboard.ModeStrict
	if _, err := m.CombinedPage(t.Context(), refs, deep); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("an answer that was never given: %v", err)
	}
}

// TestCombinerIsBounded: combined answers take the same places as others that reach MySQL.
func TestCombinerIsBounded(t *testing.T) {
	t.Parallel()
	model := storetest.NewModel()
	b, _, err := model.PutBoard(t.Context(), "a", leaderboard.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
	if err != nil {
		t.Fatal(err)
	}
	m := NewReader(nil, model, ReaderOptions{FallbackConcurrent: 1, ReadWait: time.Millisecond})
	inside, leave, left := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		left <- m.database.Alone(t.Context(), func(context.Context) error {
			close(inside)
			<-leave
			return nil
		})
	}()
	<-inside
	refs := []leaderboard.PeriodRef{p.Ref(&b)}
	if _, err := m.CombinedMember(t.Context(), refs, leaderboard.CombinedMemberQuery{Mode: leaderboard.ModeTied, Member: "ada"}); !errors.Is(err, leaderboard.ErrOverloaded) {
		t.Errorf("with no place left: %v", err)
	}
	close(leave)
	if err := <-left; err != nil {
		t.Error(err)
	}
	if _, err := m.CombinedMember(t.Context(), refs, leaderboard.CombinedMemberQuery{Mode: leaderboard.ModeTied, Member: "ada"}); err != nil {
		t.Error(err)
	}
}
