package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestLostPeriod: every question about a period whose id is another's since a restore finds that it does not exist.
func TestLostPeriod(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		c := filled(t, dsn, everywhere)
		s, lost := c.stores[1], c.ref
		c.query(t, s)
		c.indexed(t, s)
		dbtest.MustExec(t, dbtest.Connect(t, dsn), "UPDATE periods SET incarnation = -incarnation")
		made := refOf(t, s, lost.Board)
		if made.ID != lost.ID || made.Incarnation == lost.Incarnation || made.Incarnation == 0 {
			t.Fatalf("the periods are %+v and %+v", lost, made)
		}
		for what, ask := range questions(s) {
			if err := ask(t.Context(), lost); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
				t.Errorf("%s of the lost period: %v", what, err)
			}
			if err := ask(t.Context(), made); err != nil {
				t.Errorf("%s of the new period: %v", what, err)
			}
		}
		if _, _, ok := s.IndexMark(lost); ok {
			t.Error("the index of the lost period is still there")
		}
		p := at(t, s, made)
		p.Incarnation = -p.Incarnation
		parts, err := s.Entries.CommitsSince(t.Context(), []leaderboard.PeriodRevision{p}, 100)
		if err != nil || !errors.Is(parts[made.ID].Err, rank.ErrDiverged) {
			t.Errorf("the log after a state of the lost period: %+v, %v", parts, err)
		}
	})
}

// questions are the questions about one period, as functions that return a text of the answer.
func questions(s *store.Store) map[string]func(context.Context, leaderboard.PeriodRef) error {
	page := func(q leaderboard.PageQuery) func(context.Context, leaderboard.PeriodRef) error {
		return func(ctx context.Context, ref leaderboard.PeriodRef) error {
			q.Mode = leaderboard.ModeStrict
			_, err := s.Entries.Page(ctx, ref, q)
			return err
		}
	}
	return map[string]func(context.Context, leaderboard.PeriodRef) error{
		"top": page(leaderboard.PageQuery{Limit: 3}), "a deep page": page(leaderboard.PageQuery{Offset: 30, Limit: 3}),
		"around": page(leaderboard.PageQuery{Around: "m1", Before: 1, Limit: 3}),
		"members": func(ctx context.Context, ref leaderboard.PeriodRef) error {
			_, err := s.Entries.Members(ctx, ref, leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeTied}, Members: []string{"m1", "m2"}})
			return err
		},
		"the rank of a score": func(ctx context.Context, ref leaderboard.PeriodRef) error {
			_, err := s.Entries.ScoreRank(ctx, ref, leaderboard.ScoreQuery{Score: 3})
			return err
		},
		"the distribution": func(ctx context.Context, ref leaderboard.PeriodRef) error {
			_, err := s.Entries.Distribution(ctx, ref, leaderboard.DistributionQuery{Buckets: 3})
			return err
		},
		"a combined page": func(ctx context.Context, ref leaderboard.PeriodRef) error {
			_, err := s.Entries.CombinedPage(ctx, []leaderboard.PeriodRef{ref}, leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Limit: 3})
			return err
		},
		"the export": func(ctx context.Context, ref leaderboard.PeriodRef) error {
			return s.Entries.Snapshot(ctx, ref, 10, func(leaderboard.State) error { return nil }, func([]rank.Key) error { return nil })
		},
		"the index": func(ctx context.Context, ref leaderboard.PeriodRef) error {
			_, err := s.Indexes.Status(ctx, ref)
			return err
		},
		"a build of the index": func(ctx context.Context, ref leaderboard.PeriodRef) error {
			_, err := s.Indexes.Build(ctx, ref, store.IndexBuild{Reason: leaderboard.RunReasonCommand})
			return err
		},
	}
}

// refOf looks the only period of a board up.
func refOf(t *testing.T, s *store.Store, board string) leaderboard.PeriodRef {
	t.Helper()
	l, err := s.Boards.Current(t.Context(), board)
	if err != nil {
		t.Fatal(err)
	}
	return l.Periods[0].Ref(&l.Board)
}

// TestIndexOfALostPeriod: a saved index of a lost period is neither loaded nor in the way, and a server that still has it
// in memory does not save it over the new period's index.
func TestIndexOfALostPeriod(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		c := filled(t, dsn, everywhere)
		s, db := c.stores[0], dbtest.Connect(t, dsn)
		c.query(t, c.stores[1])
		c.indexed(t, c.stores[1])
		if err := c.write(t.Context(), s, rand.New(rand.NewPCG(6, 6)), 5); err != nil { // to be saved by Close
			t.Fatal(err)
		}
		c.query(t, c.stores[1])
		dbtest.MustExec(t, db, "UPDATE periods SET incarnation = -incarnation")
		made := refOf(t, s, c.ref.Board)
		if st, err := s.Indexes.Status(t.Context(), made); err != nil || st.Saved || st.Loaded {
			t.Errorf("the new period has an index already: %+v, %v", st, err)
		}
		if _, err := s.Indexes.Build(t.Context(), made, store.IndexBuild{Reason: leaderboard.RunReasonCommand}); err != nil {
			t.Fatal(err)
		}
		if err := c.stores[1].Close(); err != nil {
			t.Fatal(err)
		}
		if st, err := s.Indexes.Status(t.Context(), made); err != nil || !st.Saved || !st.Loaded {
			t.Errorf("the index of the new period: %+v, %v", st, err)
		}
	})
}

// TestLostRules: after a restore a board may have the id and the version that another one had, or that it had itself with
// other rules. A process that remembers the lost rules does not write by them.
func TestLostRules(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicyBest})
		for _, score := range []int64{5, 3} {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", score)); err != nil {
				t.Fatal(err)
			}
		}
		dbtest.MustExec(t, db, "UPDATE boards SET rules = JSON_SET(rules, '$.policy', 'sum'), updated_at = ?", time.Now().UTC().Add(time.Minute))
		if r, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 2)); err != nil || *r.Results[0].Score != 7 {
			t.Errorf("by the rules of a lost board: %+v, %v", r, err)
		}
	})
}
