package review

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// serve returns a migrated store that has the feature.
func serve(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	s, _ := featuretest.Store(t, dsn, []features.Feature{Feature()}, change)
	return s
}

// held returns the held submissions of a store.
func held(s *store.Store) *Store { return NewStore(s.Database(), s.Writer) }

// reviewBoard makes a board that holds scores above 100.
func reviewBoard(t *testing.T, s *store.Store, name string, rules leaderboard.Rules) leaderboard.PeriodRef {
	t.Helper()
	most := int64(100)
	rules.Review = &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}
	return dbtest.MakeBoard(t, s, name, rules)
}

// heldID has a submission held and returns its id.
func heldID(t *testing.T, s *store.Store, board, member string, score int64) int64 {
	t.Helper()
	r, err := s.Writer.Submit(t.Context(), dbtest.One(board, "", member, score))
	if err != nil || r.Results[0].Status != leaderboard.StatusHeld {
		t.Fatalf("%+v, %v", r, err)
	}
	list, err := held(s).Held(t.Context(), leaderboard.HeldQuery{Member: member, State: leaderboard.HeldStateWaiting, Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0].ID
}

func asAdmin(ctx context.Context) context.Context {
	return leaderboard.WithCaller(ctx, leaderboard.Caller{Key: "kadminadmina", Admin: true})
}

// TestHeldRaced: of two servers that decide at once only one succeeds, and an approved amount is added once (promise A7).
func TestHeldRaced(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		servers := []*store.Store{serve(t, dsn, nil), serve(t, dsn, nil)}
		ref := reviewBoard(t, servers[0], "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		approved := int64(0)
		for range 20 {
			id := heldID(t, servers[0], "b", "m", 1000)
			answers := make(chan leaderboard.Held, 4)
			for i := range 4 {
				go func() {
					h, err := held(servers[i%2]).DecideHeld(asAdmin(context.Background()), leaderboard.HeldDecision{ID: id, Approve: i < 2})
					if err != nil && !errors.Is(err, leaderboard.ErrHeldDecided) {
						t.Error(err)
					}
					answers <- h
				}()
			}
			for range 4 {
				dbtest.Await(t, "the decision", answers)
			}
			h, err := held(servers[1]).HeldOne(t.Context(), id)
			if err != nil || h.State == leaderboard.HeldStateWaiting {
				t.Fatalf("%+v, %v", h, err)
			}
			if h.State == leaderboard.HeldStateApproved {
				approved++
			}
		}
		if got := dbtest.ScoreOf(t, servers[0], ref, "m"); approved > 0 && got != 1000*approved || approved == 0 && got != -1 {
			t.Errorf("%d were approved, the score is %d", approved, got)
		}
		storetest.CheckLog(t, storetest.Of(servers[0], storetest.Added{}), ref)
	})
}

// TestHeldCommitLost: an approval is carried out with its entry or not at all: COMMIT is lost, or its answer is. The same decision again
// leads to one entry (promise A7).
func TestHeldCommitLost(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		for name, f := range map[string]dbtest.Fault{"before": dbtest.FaultCutBefore, "after": dbtest.FaultCutAfter} {
			p, through := dbtest.NewProxy(t, dsn)
			direct, lossy := serve(t, dsn, nil), serve(t, through, nil)
			ref := reviewBoard(t, direct, name, leaderboard.Rules{Policy: leaderboard.PolicySum})
			d := leaderboard.HeldDecision{ID: heldID(t, lossy, name, "m-"+name, 500), Approve: true}
			p.On("COMMIT", f, 1)
			if _, err := held(lossy).DecideHeld(asAdmin(t.Context()), d); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("%s: %v", name, err)
			}
			p.Heal()
			for range 2 {
				h, err := held(lossy).DecideHeld(asAdmin(t.Context()), d)
				if err != nil || h.State != leaderboard.HeldStateApproved || h.Outcome != leaderboard.StatusApplied || h.DecidedBy != "kadminadmina" {
					t.Errorf("%s, again: %+v, %v", name, h, err)
				}
			}
			if got := dbtest.ScoreOf(t, direct, ref, "m-"+name); got != 500 {
				t.Errorf("%s: the score is %d", name, got)
			}
			storetest.CheckLog(t, storetest.Of(direct, storetest.Added{}), ref)
		}
	})
}

// TestHeldGoes: housekeeping deletes submissions that have waited too long, decided or not, and a deleted board takes its
// held submissions along (promise A7).
func TestHeldGoes(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s := serve(t, dsn, dbtest.ClockBy(&offset))
		db := dbtest.Connect(t, dsn)
		reviewBoard(t, s, "b", leaderboard.Rules{})
		reviewBoard(t, s, "c", leaderboard.Rules{})
		decided, waits := heldID(t, s, "b", "m", 101), heldID(t, s, "b", "m", 102)
		if _, err := held(s).DecideHeld(asAdmin(t.Context()), leaderboard.HeldDecision{ID: decided, Note: strings.Repeat("é", leaderboard.MaxHeldNote)}); err != nil {
			t.Fatal(err)
		}
		heldID(t, s, "c", "n", 103)
		if err := s.Boards.DeleteBoard(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "held"); n != 2 {
			t.Errorf("%d rows without those of the board", n)
		}
		offset.Add(int64(leaderboard.DefaultHeldTTL + time.Minute))
		young := heldID(t, s, "b", "young", 104)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil || dbtest.Count(t, db, "held") != 1 {
			t.Errorf("%d rows in the end, %v", dbtest.Count(t, db, "held"), err)
		}
		if _, err := held(s).HeldOne(t.Context(), young); err != nil {
			t.Error(err)
		}
		if _, err := held(s).DecideHeld(asAdmin(t.Context()), leaderboard.HeldDecision{ID: waits, Approve: true}); !errors.Is(err, leaderboard.ErrHeldNotFound) {
			t.Errorf("one that is gone: %v", err)
		}
	})
}
