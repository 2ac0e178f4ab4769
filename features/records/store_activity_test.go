package records

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// activityText returns the recorded activity of the latest hours of a board, the newest first, without their times.
func activityText(t *testing.T, s *store.Store, q ActivityQuery) string {
	t.Helper()
	a, err := kept(s).Activity(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, h := range a.Hours {
		text := fmt.Sprintf("%d %d %d ", h.Submissions, h.Applied, h.NewMembers)
		if h.Entries == nil {
			text += "-"
		} else {
			text += fmt.Sprint(*h.Entries)
		}
		if i > 0 && a.Hours[i-1].StartsAt-h.StartsAt != 3_600_000_000 {
			t.Errorf("an hour begins at %s, the one after it at %s", h.StartsAt, a.Hours[i-1].StartsAt)
		}
		out = append(out, text)
	}
	if a.Partial {
		out = append(out, "more")
	}
	return strings.Join(out, "; ")
}

// TestActivity: the recorded submissions hour by hour, and the number of entries; up to a number of records.
func TestActivity(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // no hour ends while the test runs
	ahead.Store(int64(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour + 10*time.Minute))))
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := serve(t, dsn, dbtest.ClockBy(&ahead))
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Record: leaderboard.RecordAll})
		dbtest.MakeBoard(t, s, "other", leaderboard.Rules{Record: leaderboard.RecordAll})
		q := ActivityQuery{BoardID: ref.BoardID, Window: leaderboard.WindowAllTime, Hours: 3, Records: 100}
		if got := activityText(t, s, q); got != "0 0 0 0; 0 0 0 0; 0 0 0 0" {
			t.Errorf("before the first submission: %s", got)
		}
		submit := func(board string, hoursAgo int, entries ...leaderboard.Submission) {
			t.Helper()
			ctx := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: fmt.Sprint("ago", hoursAgo)})
			if _, err := s.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: board, Entries: entries}); err != nil {
				t.Fatal(err)
			}
		}
		submit("other", 0, leaderboard.Submission{Member: "z", Score: 1})
		submit("b", 9, leaderboard.Submission{Member: "a", Score: 5}, leaderboard.Submission{Member: "b", Score: 5})
		submit("b", 2, leaderboard.Submission{Member: "c", Score: 5}, leaderboard.Submission{Member: "a", Score: 4})
		submit("b", 1, leaderboard.Submission{Member: "a", Score: 6}, leaderboard.Submission{Member: "d", Score: 6})
		// They were made now: their content is moved by as many hours as their keys say.
		dbtest.MustExec(t, dbtest.Connect(t, dsn), "UPDATE submissions SET recorded_at = recorded_at - INTERVAL SUBSTRING(actor, 4) HOUR")
		if got, want := activityText(t, s, q), "0 0 0 4; 2 2 1 4; 2 1 1 3"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		q.Hours = 5 // before these are others
		if got, want := activityText(t, s, q), "0 0 0 4; 2 2 1 4; 2 1 1 3; 0 0 0 2; 0 0 0 2"; got != want {
			t.Errorf("five hours: %s, want %s", got, want)
		}
		q.Hours, q.Records = 3, 3
		if got, want := activityText(t, s, q), "0 0 0 4; 2 2 1 4; more"; got != want {
			t.Errorf("three records: %s, want %s", got, want)
		}
		q.Records = 4 // all of these hours
		if got, want := activityText(t, s, q), "0 0 0 4; 2 2 1 4; 2 1 1 3"; got != want {
			t.Errorf("four records: %s, want %s", got, want)
		}
		if _, err := s.Writer.Remove(t.Context(), leaderboard.RemoveRequest{Board: "b", Member: "d"}); err != nil {
			t.Fatal(err)
		}
		if got, want := activityText(t, s, q), "0 0 0 3; 2 2 1 -; 2 1 1 -"; got != want {
			t.Errorf("after a removal: %s, want %s", got, want)
		}
		// A hidden member is not new; its entry is not counted, and is not the change that hid it.
		if _, err := s.Hidden.Hide(t.Context(), leaderboard.HideRequest{Board: "b", Member: "shadow", Reason: "test"}); err != nil {
			t.Fatal(err)
		}
		q.Hours, q.Records = 1, 100
		submit("b", 0, leaderboard.Submission{Member: "shadow", Score: 5})
		submit("b", 0, leaderboard.Submission{Member: "seen", Score: 5}, leaderboard.Submission{Member: "shadow", Score: 6})
		if got, want := activityText(t, s, q), "3 3 1 4"; got != want {
			t.Errorf("with a hidden member: %s, want %s", got, want)
		}
	})
}

// TestRace: the recorded scores of members at moments in the period.
func TestRace(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		s := serve(t, through, nil)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Record: leaderboard.RecordAll})
		q := RaceQuery{PeriodID: ref.ID, Members: []string{"a", "b", "nobody"}}
		if r, err := kept(s).Race(t.Context(), q); err != nil || len(r.Moments) != 0 {
			t.Fatalf("before the first submission: %+v, %v", r, err)
		}
		for _, step := range []struct {
			key    string
			member string
			score  int64
		}{{"120", "a", 10}, {"65", "b", 20}, {"35", "a", 30}, {"5", "a", 25}} {
			ctx := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: step.key})
			if _, err := s.Writer.Submit(ctx, dbtest.One("b", "", step.member, step.score)); err != nil {
				t.Fatal(err)
			}
		}
		dbtest.MustExec(t, dbtest.Connect(t, dsn), "UPDATE submissions SET recorded_at = recorded_at - INTERVAL actor MINUTE") // of two hours: a moment each ten minutes
		var asked atomic.Int64
		p.FaultBy(func(text string) dbtest.Fault {
			if strings.Contains(text, "SELECT") && !strings.Contains(text, "SELECT @@") { // which a connection that is dialled asks
				asked.Add(1)
			}
			return dbtest.FaultPass
		})
		r, err := kept(s).Race(t.Context(), q)
		p.Heal()
		if n := asked.Load(); n != 3 { // the period, the first record and the clock, the scores
			t.Errorf("a race takes %d statements, want 3", n)
		}
		if err != nil || len(r.Moments) != leaderboard.RaceMoments || len(r.Scores) != 3 {
			t.Fatalf("%+v, %v", r, err)
		}
		for i, want := range []string{"10 10 10 10 10 10 10 10 30 30 30 25", "- - - - - 20 20 20 20 20 20 20", "- - - - - - - - - - - -"} {
			var got []string
			for _, score := range r.Scores[i] {
				if score == nil {
					got = append(got, "-")
				} else {
					got = append(got, fmt.Sprint(*score))
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s had %v, want %s", q.Members[i], got, want)
			}
		}
		testRaceOfPeriod(t, s, dsn)
		if step := r.Moments[1] - r.Moments[0]; step < 599_000_000 || step > 660_000_000 || r.Moments[11] <= r.Moments[10] {
			t.Errorf("moments %v", r.Moments)
		}
	})
}

// TestRaceIsGated: anyone may ask for a race, and no copy answers it, so it is asked when there is room.
func TestRaceIsGated(t *testing.T) {
	t.Parallel()
	shut := errors.New("shut")
	s := NewStore(nil, nil, func(context.Context, func(context.Context) error) error { return shut })
	if _, err := s.Race(t.Context(), RaceQuery{Members: []string{"m"}}); !errors.Is(err, shut) {
		t.Error(err)
	}
}

// testRaceOfPeriod: records from before a period are not in its race.
func testRaceOfPeriod(t *testing.T, s *store.Store, dsn string) {
	t.Helper()
	board, _, err := s.Boards.PutBoard(t.Context(), "days", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}, Record: leaderboard.RecordAll})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Writer.Submit(leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "day"}), dbtest.One("days", "", "a", 1)); err != nil {
		t.Fatal(err)
	}
	day, err := s.Boards.FirstPeriod(t.Context(), board.ID, leaderboard.WindowDay)
	if err != nil {
		t.Fatal(err)
	}
	q := RaceQuery{PeriodID: day.ID, Members: []string{"a"}}
	if r, err := kept(s).Race(t.Context(), q); err != nil || len(r.Moments) == 0 || *r.Scores[0][leaderboard.RaceMoments-1] != 1 {
		t.Errorf("today: %+v, %v", r, err)
	}
	dbtest.MustExec(t, dbtest.Connect(t, dsn), "UPDATE submissions SET recorded_at = recorded_at - INTERVAL 1 DAY WHERE actor = 'day'")
	if r, err := kept(s).Race(t.Context(), q); err != nil || len(r.Moments) != 0 {
		t.Errorf("of yesterday: %+v, %v", r, err)
	}
}
