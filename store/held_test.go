package store_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// reviewBoard makes a board that holds what is above 100.
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
	list, err := s.Held.Held(t.Context(), leaderboard.HeldQuery{Member: member, State: leaderboard.HeldStateWaiting, Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0].ID
}

func asAdmin(ctx context.Context) context.Context {
	return leaderboard.WithCaller(ctx, leaderboard.Caller{Key: "kadminadmina", Admin: true})
}

// TestHeldRaced: of two servers that decide at once one does, and an approved amount is added once (promise A7).
func TestHeldRaced(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		servers := []*store.Store{open(t, dsn, nil), open(t, dsn, nil)}
		ref := reviewBoard(t, servers[0], "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		approved := int64(0)
		for range 20 {
			id := heldID(t, servers[0], "b", "m", 1000)
			answers := make(chan leaderboard.Held, 4)
			for i := range 4 {
				go func() {
					h, err := desk(servers[i%2]).DecideHeld(asAdmin(context.Background()), leaderboard.HeldDecision{ID: id, Approve: i < 2})
					if err != nil && !errors.Is(err, leaderboard.ErrHeldDecided) {
						t.Error(err)
					}
					answers <- h
				}()
			}
			for range 4 {
				dbtest.Await(t, "the decision", answers)
			}
			h, err := servers[1].Held.HeldOne(t.Context(), id)
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
		storetest.CheckLog(t, storetest.Of(servers[0], nil), ref)
	})
}

// TestHeldCommitLost: an approval is carried out with its entry or not at all: COMMIT is lost, or its answer is. The same decision again
// leads to one entry (promise A7).
func TestHeldCommitLost(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		for name, f := range map[string]dbtest.Fault{"before": dbtest.FaultCutBefore, "after": dbtest.FaultCutAfter} {
			p, through := dbtest.NewProxy(t, dsn)
			direct, lossy := open(t, dsn, nil), open(t, through, nil)
			ref := reviewBoard(t, direct, name, leaderboard.Rules{Policy: leaderboard.PolicySum})
			d := leaderboard.HeldDecision{ID: heldID(t, lossy, name, "m-"+name, 500), Approve: true}
			p.On("COMMIT", f, 1)
			if _, err := desk(lossy).DecideHeld(asAdmin(t.Context()), d); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("%s: %v", name, err)
			}
			p.Heal()
			for range 2 {
				h, err := desk(lossy).DecideHeld(asAdmin(t.Context()), d)
				if err != nil || h.State != leaderboard.HeldStateApproved || h.Outcome != leaderboard.StatusApplied || h.DecidedBy != "kadminadmina" {
					t.Errorf("%s, again: %+v, %v", name, h, err)
				}
			}
			if got := dbtest.ScoreOf(t, direct, ref, "m-"+name); got != 500 {
				t.Errorf("%s: the score is %d", name, got)
			}
			storetest.CheckLog(t, storetest.Of(direct, nil), ref)
		}
	})
}

// TestHeldInClosedPeriod: what is approved after its period is over corrects that only when asked to, with all that came with it, and
// never enters the period that is current by then. Metadata that windows share is freed with its last entry (promise A7).
func TestHeldInClosedPeriod(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s := open(t, dsn, dbtest.ClockBy(&offset))
		ref := reviewBoard(t, s, "b", leaderboard.Rules{
			Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowHour}, Metadata: &leaderboard.Metadata{MaxBytes: 100},
		})
		b, err := s.Boards.Board(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		before, err := s.Boards.CurrentPeriod(t.Context(), b, leaderboard.WindowHour)
		if err != nil {
			t.Fatal(err)
		}
		first := dbtest.One("b", "", "m", 50)
		first.Entries[0].Metadata = `{"n":1}`
		if _, err := s.Writer.Submit(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		second := dbtest.One("b", "", "m", 500)
		second.Entries[0].Metadata = `{"n":2}`
		if _, err := s.Writer.Submit(t.Context(), second); err != nil {
			t.Fatal(err)
		}
		list, err := s.Held.Held(t.Context(), leaderboard.HeldQuery{BoardID: b.ID, State: leaderboard.HeldStateWaiting, Limit: 2})
		if err != nil || len(list) != 1 || list[0].Sub.Metadata != `{"n":2}` {
			t.Fatalf("%+v, %v", list, err)
		}
		offset.Add(int64(2 * time.Hour))
		d := leaderboard.HeldDecision{ID: list[0].ID, Approve: true}
		if _, err := desk(s).DecideHeld(asAdmin(t.Context()), d); !errors.Is(err, leaderboard.ErrPeriodClosed) {
			t.Fatalf("without reopen: %v", err)
		}
		if got := dbtest.ScoreOf(t, s, ref, "m"); got != 50 {
			t.Errorf("the score is %d after a refusal", got)
		}
		d.Reopen = true
		if h, err := desk(s).DecideHeld(asAdmin(t.Context()), d); err != nil || h.Outcome != leaderboard.StatusApplied {
			t.Fatalf("%+v, %v", h, err)
		}
		now, err := s.Boards.CurrentPeriod(t.Context(), b, leaderboard.WindowHour)
		if err != nil {
			t.Fatal(err)
		}
		if all, hour, current := dbtest.ScoreOf(t, s, ref, "m"), dbtest.ScoreOf(t, s, before.Ref(&b), "m"), dbtest.ScoreOf(t, s, now.Ref(&b), "m"); all != 500 || hour != 500 || current != -1 {
			t.Errorf("scores are %d in all, %d in the hour, %d in the one now", all, hour, current)
		}
		db := dbtest.Connect(t, dsn)
		if n := dbtest.Count(t, db, "metadata_bodies"); n != 1 {
			t.Errorf("%d bodies of metadata are stored", n)
		}
		if n := dbtest.Count(t, db, "runs WHERE kind = 'reopen' AND actor = 'kadminadmina'"); n != 1 {
			t.Errorf("%d corrections are recorded", n)
		}
		if n := dbtest.Count(t, db, "audit WHERE action = 'held.approve' AND member = 'm'"); n != 1 {
			t.Errorf("%d approvals are recorded", n)
		}
	})
}

// TestHeldGoes: housekeeping takes what has waited too long, decided or not, and a board takes what it holds along (promise A7).
func TestHeldGoes(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s := open(t, dsn, dbtest.ClockBy(&offset))
		db := dbtest.Connect(t, dsn)
		reviewBoard(t, s, "b", leaderboard.Rules{})
		reviewBoard(t, s, "c", leaderboard.Rules{})
		decided, waits := heldID(t, s, "b", "m", 101), heldID(t, s, "b", "m", 102)
		if _, err := desk(s).DecideHeld(asAdmin(t.Context()), leaderboard.HeldDecision{ID: decided, Note: strings.Repeat("é", leaderboard.MaxHeldNote)}); err != nil {
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
		if _, err := s.Held.HeldOne(t.Context(), young); err != nil {
			t.Error(err)
		}
		if _, err := desk(s).DecideHeld(asAdmin(t.Context()), leaderboard.HeldDecision{ID: waits, Approve: true}); !errors.Is(err, leaderboard.ErrHeldNotFound) {
			t.Errorf("one that is gone: %v", err)
		}
	})
}

// TestApprovedIsRecorded: an approved submission has a record with its score, by who submitted it, and the race shows it.
func TestApprovedIsRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		for policy, want := range map[leaderboard.Policy][2]int64{leaderboard.PolicyBest: {300, 300}, leaderboard.PolicySum: {300, 310}} {
			board := string(policy)
			ref := reviewBoard(t, s, board, leaderboard.Rules{Policy: policy, Record: leaderboard.RecordApplied})
			player := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "kwriterwrite", RequestID: "r1"})
			for _, score := range []int64{10, 300} {
				if _, err := s.Writer.Submit(player, dbtest.One(board, "", "m-"+board, score)); err != nil {
					t.Fatal(err)
				}
			}
			list, err := s.Held.Held(t.Context(), leaderboard.HeldQuery{Member: "m-" + board, State: leaderboard.HeldStateWaiting, Limit: 1})
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			for range 2 { // the second one changes nothing
				if _, err := desk(s).DecideHeld(asAdmin(t.Context()), leaderboard.HeldDecision{ID: list[0].ID, Approve: true}); err != nil {
					t.Fatal(err)
				}
			}
			records, err := s.Records.Submissions(t.Context(), leaderboard.SubmissionsQuery{BoardID: ref.BoardID, Member: "m-" + board, Limit: 10})
			if err != nil || len(records) != 2 {
				t.Fatalf("%s: %+v, %v", policy, records, err)
			}
			r := records[0]
			if r.Status != leaderboard.StatusApplied || r.Score != want[0] || r.Previous == nil || *r.Previous != 10 || r.NewScore == nil || *r.NewScore != want[1] ||
				r.Actor != "kwriterwrite" || r.RequestID != "r1" || r.Seq != 2 {
				t.Errorf("%s: the record is %+v", policy, r)
			}
			race, err := s.Records.Race(t.Context(), leaderboard.RaceQuery{PeriodID: ref.ID, Members: []string{"m-" + board}})
			if err != nil || len(race.Scores) != 1 || race.Scores[0][leaderboard.RaceMoments-1] == nil || *race.Scores[0][leaderboard.RaceMoments-1] != want[1] {
				t.Errorf("%s: the race is %+v, %v", policy, race, err)
			}
		}
	})
}
