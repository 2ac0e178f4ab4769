package cache

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
	"leaderboard/cache/watch"
	"leaderboard/store/storetest"
)

// still is a database that always answers the same, at seq 3.
type still struct{ leaderboard.Rankings }

func (still) state() leaderboard.State {
	return leaderboard.State{Revision: leaderboard.Revision{Seq: 3}, Total: 3}
}

func (s still) Page(context.Context, leaderboard.PeriodRef, leaderboard.PageQuery) (*leaderboard.Page, error) {
	return &leaderboard.Page{State: s.state(), Entries: make([]leaderboard.Ranked, 2), Next: "next"}, nil
}

func (s still) Members(context.Context, leaderboard.PeriodRef, leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	return &leaderboard.Standings{State: s.state(), Entries: make([]leaderboard.Standing, 1), NotRanked: []string{"x"}}, nil
}

func (s still) ScoreRank(context.Context, leaderboard.PeriodRef, leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	return &leaderboard.ScoreRank{State: s.state(), Ranks: leaderboard.Ranks{Strict: 3, Tied: 2}}, nil
}

// revisions is a database that shows period 1 at seq 3, or is away.
type revisions struct{ away atomic.Bool }

func (r *revisions) Revisions(context.Context, []int64) (map[int64]leaderboard.Revision, error) {
	if r.away.Load() {
		return nil, leaderboard.ErrUnavailable
	}
	return map[int64]leaderboard.Revision{1: {Seq: 3}}, nil
}

// TestAwayMarksEveryAnswer: while the database does not say how far it is no answer claims to be current, whatever layer
// gave it, and nothing else of it changes.
func TestAwayMarksEveryAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &revisions{}
		w := watch.New(source, watch.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		var counted int
		r := NewReader(nil, still{}, ReaderOptions{Watch: w, OnAnswer: func(_ leaderboard.Source, stale bool) {
			if stale {
				counted++
			}
		}})
		ref := leaderboard.PeriodRef{ID: 1, Rules: new(leaderboard.Rules{}.WithDefaults())}
		query := leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: 3}
		for _, isAway := range []bool{true, false, true} { // at first with nothing in memory
			source.away.Store(isAway)
			time.Sleep(time.Second)
			page, err := r.Page(t.Context(), ref, leaderboard.PageQuery{Query: query, Limit: 2})
			if err != nil || len(page.Entries) != 2 || page.Next != "next" {
				t.Fatalf("page %+v, %v", page, err)
			}
			members, err := r.Members(t.Context(), ref, leaderboard.MembersQuery{Query: query, Members: []string{"b", "x"}, Limit: 5})
			if err != nil || len(members.Entries) != 1 || len(members.NotRanked) != 1 {
				t.Fatalf("members %+v, %v", members, err)
			}
			score, err := r.ScoreRank(t.Context(), ref, leaderboard.ScoreQuery{MinSeq: 3, Score: 2})
			if err != nil || score.Strict != 3 || score.Tied != 2 {
				t.Fatalf("rank of a score %+v, %v", score, err)
			}
			for _, state := range []leaderboard.State{page.State, members.State, score.State} {
				if state.Stale != isAway || state.Seq != 3 || state.Total != 3 {
					t.Errorf("away %t: answer of %+v", isAway, state)
				}
			}
		}
		if counted != 6 {
			t.Errorf("%d stale answers were counted, want 6", counted)
		}
	})
}

// TestCatalogKnowsThatMySQLIsAway: the catalog notices that MySQL is away and that it is back, and an answer about a
// board is no sign of trouble.
func TestCatalogKnowsThatMySQLIsAway(t *testing.T) {
	t.Parallel()
	m := storetest.NewModel()
	if _, _, err := m.PutBoard(t.Context(), "demo", leaderboard.Rules{}.WithDefaults()); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0)
	c := NewCatalog(m, CatalogOptions{Now: func() time.Time { return now }})
	check := func(board string, wantErr, want bool) {
		t.Helper()
		now = now.Add(2 * catalogTTL)
		_, _, err := c.Resolve(t.Context(), board, "", "")
		if (err != nil) != wantErr || c.Away() != want {
			t.Errorf("%s: error %v, away %t, want %t", board, err, c.Away(), want)
		}
	}
	check("demo", false, false)
	check("nobody", true, false)
	m.Fail(leaderboard.ErrUnavailable)
	check("demo", false, true) // known, though nobody can say for how long it is true
	check("nobody", true, true)
	m.Fail(nil)
	check("nobody", true, false)
	check("demo", false, false)
}
