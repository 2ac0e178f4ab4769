package store_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// closed is a test's view of the end of a period.
type closed struct {
	ID   string
	Data struct {
		Board, Window, Period, Mode string
		Seq, Total                  int64
		Top                         []struct {
			Member      string
			Rank, Score int64
			Fields      map[string]int64
		}
	}
}

func closedOf(t testing.TB, e *leaderboard.Event) (c closed) {
	t.Helper()
	body, err := e.Body()
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil || c.ID != e.ID {
		t.Fatalf("%s: %v", body, err)
	}
	return c
}

// TestPeriodClosedIsToldOnce: the end of a period is reported once, no matter what closes it: a submission, a reader, the
// housekeeping, or all of them in two processes at once; with the best entries at the end, with ties numbered by the
// board's rule.
func TestPeriodClosedIsToldOnce(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		configure := dbtest.ClockBy(&offset)
		s, other := open(t, dsn, configure), open(t, dsn, configure)
		e := dbtest.Listen(t, dsn, "game", leaderboard.EventKindPeriodClosed)
		rules := leaderboard.Rules{
			Order: leaderboard.OrderAsc, Mode: leaderboard.ModeTied, Windows: []leaderboard.Window{leaderboard.WindowHour, leaderboard.WindowAllTime},
			Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 8}}},
		}
		if _, _, err := s.Boards.PutBoard(t.Context(), "b", rules); err != nil {
			t.Fatal(err)
		}
		closers := map[string]func(){
			"submission": func() { _, _ = s.Writer.Submit(t.Context(), withLevel("x", 1)) },
			"reader":     func() { _, _ = s.Boards.Current(t.Context(), "b") },
			"sweep":      func() { _ = other.Housekeeping.Sweep(t.Context()) },
			"all": func() {
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() { _, _ = s.Writer.Submit(t.Context(), withLevel("x", 1)) })
					all.Go(func() { _, _ = other.Writer.Submit(t.Context(), withLevel("y", 1)) })
					all.Go(func() { _, _ = other.Boards.Current(t.Context(), "b") })
					all.Go(func() { _ = s.Housekeeping.Sweep(t.Context()) })
				}
				all.Wait()
			},
		}
		for _, how := range []string{"submission", "reader", "sweep", "all"} {
			for i, member := range []string{"c", "a", "b", "late"} {
				if r, err := s.Writer.Submit(t.Context(), withLevel(member, []int64{7, 5, 7, 9}[i])); err != nil || r.Results[0].Status != leaderboard.StatusApplied {
					t.Fatal(r, err)
				}
			}
			e.Heard(t)
			offset.Add(int64(time.Hour + time.Minute)) // behind what sweeping leaves to others
			closers[how]()
			events := e.Heard(t)
			if len(events) != 1 {
				t.Fatalf("by %s: %d events", how, len(events))
			}
			c := closedOf(t, &events[0])
			var top []string
			for _, m := range c.Data.Top {
				top = append(top, fmt.Sprint(m.Rank, " ", m.Member, " ", m.Score, " ", m.Fields["level"]))
			}
			want := []string{"1 a 5 3", "2 c 7 3", "2 b 7 3", "4 late 9 3"}
			for _, m := range []string{"x", "y"} { // the cause of the earlier end
				if i := strings.Index(strings.Join(top, ";"), " "+m+" 1 3"); i >= 0 {
					want = nil
				}
			}
			if want != nil && !reflect.DeepEqual(top, want) || c.Data.Board != "b" || c.Data.Window != "hour" || c.Data.Mode != "tied" || int(c.Data.Total) != len(top) {
				t.Errorf("by %s: %+v", how, c)
			}
			if again := e.Heard(t); len(again) > 0 {
				t.Errorf("by %s: told again: %+v", how, again)
			}
			offset.Add(int64(time.Hour)) // an hour that nothing was submitted into
			_, _ = s.Boards.Current(t.Context(), "b")
			e.Heard(t)
		}
	})
}

func withLevel(member string, score int64) leaderboard.SubmitRequest {
	r := dbtest.One("b", "", member, score)
	r.Entries[0].Fields = map[string]int64{"level": 3}
	return r
}

// TestClosedAndOpenedAgain: a period that a leaping clock closed is not reported as closed once it is open again, and is
// reported when it ends, under the same id.
func TestClosedAndOpenedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s := open(t, dsn, dbtest.ClockBy(&offset))
		e := dbtest.Listen(t, dsn, "game", leaderboard.EventKindPeriodClosed)
		if _, _, err := s.Boards.PutBoard(t.Context(), "b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}}); err != nil {
			t.Fatal(err)
		}
		at := func(d time.Duration, member string) {
			offset.Store(int64(d))
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", member, 5)); err != nil {
				t.Fatal(err)
			}
		}
		at(0, "a")
		at(25*time.Hour, "b")
		early := e.Heard(t)
		at(0, "c")
		if again := e.Heard(t); len(early) != 1 || len(again) != 0 {
			t.Fatalf("%d events of the leap, %d after it", len(early), len(again))
		}
		at(25*time.Hour, "d")
		late := e.Heard(t)
		if len(late) != 1 || late[0].ID != early[0].ID || len(late[0].Members) != 2 || len(early[0].Members) != 1 {
			t.Errorf("early %+v, late %+v", early, late)
		}
	})
}

// TestSubmissionsAskNothingOfEvents: a commit that enters no event sends the same statements, with endpoints or without, with the rule notify or without.
func TestSubmissionsAskNothingOfEvents(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		s := open(t, through, nil)
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		dbtest.MakeBoard(t, s, "notify", leaderboard.Rules{Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedFriends}})
		statements := func(board string) int {
			_, _ = s.Writer.Submit(t.Context(), dbtest.One(board, "", "m", 1)) // which learns of the board
			packets := p.Committed(t, func() error {
				_, err := s.Writer.Submit(t.Context(), dbtest.One(board, "k", "m", 2))
				return err
			})
			if dbtest.About(packets, "outbox")+dbtest.About(packets, "endpoints") > 0 {
				t.Errorf("asks about events: %q", packets)
			}
			return len(packets)
		}
		n := statements("b")
		if n < 2 || n > 4 {
			t.Errorf("%d packets, want lock, write and COMMIT", n)
		}
		if with := statements("notify"); with != n {
			t.Errorf("%d packets with the rule notify, %d without", with, n)
		}
	})
}

// TestClosingAsksNothingOfEvents: without endpoints a commit that closes a period sends no statement more for that.
func TestClosingAsksNothingOfEvents(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		var offset atomic.Int64
		s := open(t, through, dbtest.ClockBy(&offset))
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}})
		closing := func() (statements []string) {
			_, _ = s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)) // which learns of the board
			offset.Add(int64(25 * time.Hour))
			packets := p.Committed(t, func() error {
				_, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 2))
				return err
			})
			for _, text := range packets {
				if strings.Contains(text, "outbox") || strings.HasPrefix(text, "SELECT") && strings.Contains(text, "endpoints") {
					statements = append(statements, text)
				}
			}
			return statements
		}
		if asked := closing(); len(asked) > 0 {
			t.Errorf("without endpoints: %q", asked)
		}
		dbtest.Listen(t, dsn, "other", leaderboard.EventKindMemberErased)
		if asked := closing(); len(asked) != 2 {
			t.Errorf("with one that does not get it: %q", asked)
		}
	})
}
