package installed_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features/records"
	"leaderboard/features/review"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// reviewBoard makes a board that holds scores above 100.
func reviewBoard(t *testing.T, s *store.Store, name string, rules leaderboard.Rules) leaderboard.PeriodRef {
	t.Helper()
	most := int64(100)
	rules.Review = &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}
	return dbtest.MakeBoard(t, s, name, rules)
}

func asAdmin(ctx context.Context) context.Context {
	return leaderboard.WithCaller(ctx, leaderboard.Caller{Key: "kadminadmina", Admin: true})
}

// TestHeldInClosedPeriod: a submission that is approved after its period is over corrects the closed period only if asked to, with
// all its data, and never enters the period that is current then. Metadata that windows share is freed with its last entry
// (promise A7).
func TestHeldInClosedPeriod(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s := open(t, dsn, dbtest.ClockBy(&offset)).Store
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
		list, err := review.NewStore(s.Database(), s.Writer).Held(t.Context(), leaderboard.HeldQuery{BoardID: b.ID, State: leaderboard.HeldStateWaiting, Limit: 2})
		if err != nil || len(list) != 1 || list[0].Sub.Metadata != `{"n":2}` {
			t.Fatalf("%+v, %v", list, err)
		}
		offset.Add(int64(2 * time.Hour))
		d := leaderboard.HeldDecision{ID: list[0].ID, Approve: true}
		if _, err := review.NewStore(s.Database(), s.Writer).DecideHeld(asAdmin(t.Context()), d); !errors.Is(err, leaderboard.ErrPeriodClosed) {
			t.Fatalf("without reopen: %v", err)
		}
		if got := dbtest.ScoreOf(t, s, ref, "m"); got != 50 {
			t.Errorf("the score is %d after a refusal", got)
		}
		d.Reopen = true
		if h, err := review.NewStore(s.Database(), s.Writer).DecideHeld(asAdmin(t.Context()), d); err != nil || h.Outcome != leaderboard.StatusApplied {
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

// TestApprovedIsRecorded: an approved submission has a record with its score, by who submitted it, and the race shows it.
func TestApprovedIsRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		for policy, want := range map[leaderboard.Policy][2]int64{leaderboard.PolicyBest: {300, 300}, leaderboard.PolicySum: {300, 310}} {
			board := string(policy)
			ref := reviewBoard(t, s.Store, board, leaderboard.Rules{Policy: policy, Record: leaderboard.RecordApplied})
			player := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "kwriterwrite", RequestID: "r1"})
			for _, score := range []int64{10, 300} {
				if _, err := s.Writer.Submit(player, dbtest.One(board, "", "m-"+board, score)); err != nil {
					t.Fatal(err)
				}
			}
			list, err := review.NewStore(s.Database(), s.Writer).Held(t.Context(), leaderboard.HeldQuery{Member: "m-" + board, State: leaderboard.HeldStateWaiting, Limit: 1})
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			for range 2 { // the second one changes nothing
				if _, err := review.NewStore(s.Database(), s.Writer).DecideHeld(asAdmin(t.Context()), leaderboard.HeldDecision{ID: list[0].ID, Approve: true}); err != nil {
					t.Fatal(err)
				}
			}
			made, err := s.records().Submissions(t.Context(), records.SubmissionsQuery{BoardID: ref.BoardID, Member: "m-" + board, Limit: 10})
			if err != nil || len(made) != 2 {
				t.Fatalf("%s: %+v, %v", policy, made, err)
			}
			r := made[0]
			if r.Status != leaderboard.StatusApplied || r.Score != want[0] || r.Previous == nil || *r.Previous != 10 || r.NewScore == nil || *r.NewScore != want[1] ||
				r.Actor != "kwriterwrite" || r.RequestID != "r1" || r.Seq != 2 {
				t.Errorf("%s: the record is %+v", policy, r)
			}
			race, err := s.records().Race(t.Context(), records.RaceQuery{PeriodID: ref.ID, Members: []string{"m-" + board}})
			if err != nil || len(race.Scores) != 1 || race.Scores[0][leaderboard.RaceMoments-1] == nil || *race.Scores[0][leaderboard.RaceMoments-1] != want[1] {
				t.Errorf("%s: the race is %+v, %v", policy, race, err)
			}
		}
	})
}

// TestHeldReasons runs on stores and on the model.
func TestHeldReasons(t *testing.T) {
	t.Parallel()
	t.Run("model", func(t *testing.T) { testHeldReasons(t, storetest.NewModel()) })
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		_, subject := featured(t, dsn, nil)
		testHeldReasons(t, subject.Featured)
	})
}

// testHeldReasons: each rule holds the submissions that it names, and submissions by keys of scope admin are not held.
func testHeldReasons(t *testing.T, s storetest.Featured) {
	rate := int64(10)
	rules := leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}, Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{
		{RankWithin: 2}, {PerSecond: &rate}, {By: leaderboard.HoldByPlayers},
	}}}
	board, _, err := s.PutBoard(t.Context(), "reasons", rules)
	if err != nil {
		t.Fatal(err)
	}
	by := func(c leaderboard.Caller, entries ...leaderboard.Submission) string {
		t.Helper()
		r, err := s.Submit(leaderboard.WithCaller(context.WithoutCancel(t.Context()), c), leaderboard.SubmitRequest{Board: board.Name, Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		var why []string
		for _, res := range r.Results {
			text := string(res.Status)
			if res.Rule != nil {
				text += " " + strings.TrimPrefix(res.Rule.Detail, "an admin decides: ")
			}
			why = append(why, text)
		}
		return strings.Join(why, "; ")
	}
	key, admin := leaderboard.Caller{Key: "kotherotherk"}, leaderboard.Caller{Key: "kadminadmina", Admin: true}
	const among = "held the entry would be among the first 2"
	for _, c := range []struct {
		what, got, want string
	}{
		{"an empty board", by(key, leaderboard.Submission{Member: "a", Score: 1}), among},
		{"an admin", by(admin, leaderboard.Submission{Member: "a", Score: 50}, leaderboard.Submission{Member: "b", Score: 40}, leaderboard.Submission{Member: "c", Score: 30}), "applied; applied; applied"},
		{"third", by(key, leaderboard.Submission{Member: "d", Score: 39}, leaderboard.Submission{Member: "d", Score: 40}), "applied; applied"},
		{"second", by(key, leaderboard.Submission{Member: "d", Score: 41}), among},
		{"first", by(key, leaderboard.Submission{Member: "c", Score: 60}), among},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	player := leaderboard.Caller{Key: "token:k", Player: leaderboard.PlayerOwner("token:k", "p")}
	for _, c := range []struct {
		score int64
		want  string
	}{{0, "held a player has submitted it"}, {30, "held the score is more than 10 for each second of the play"}} {
		play, err := s.BeginPlay(t.Context(), board, "p")
		if err != nil {
			t.Fatal(err)
		}
		sub := leaderboard.Submission{Member: "p", Score: c.score, Play: &play.ID}
		if got := by(player, sub); got != c.want {
			t.Errorf("a player: %s, want %s", got, c.want)
		}
		if got := by(player, sub); !strings.Contains(got, "rejected") { // the play counts when it is held
			t.Errorf("the same play again: %s", got)
		}
	}
}
