package derived

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// movedOf lists the derived boards and reports whether a step of one of them may find something to do, as a round does.
func movedOf(ctx context.Context, s *server, board string) (bool, error) {
	for after := int64(0); ; {
		const few = 3 // so that a list has several parts
		boards, err := s.Derived.list(ctx, after, few)
		if err != nil {
			return false, err
		}
		for _, b := range boards {
			if after = b.id; b.name == board {
				moved, err := s.Derived.moved(ctx, []int64{b.id})
				return err != nil || moved[0], err
			}
		}
		if len(boards) < few {
			return true, nil
		}
	}
}

// asked is a store in which every step is preceded by the question whether it has something to do.
type asked struct {
	sums
	Store *server
}

// FollowSources takes a step and fails when it did something although nothing had moved. Another one finds nothing to
// do, so nothing has moved then.
func (a asked) FollowSources(ctx context.Context, board string, long bool) (Step, error) {
	moved, err := movedOf(ctx, a.Store, board)
	if err != nil {
		return Step{}, err
	}
	step, err := a.Store.Derived.FollowSources(ctx, board, long)
	if err != nil {
		return step, err
	}
	if !moved && (step.State != api.DerivationStateFollowing || step.Behind != 0 || step.Rows != 0) {
		return step, fmt.Errorf("nothing has moved, and the step is %+v", step)
	}
	if _, err := movedOf(ctx, a.Store, board); err != nil {
		return step, err
	}
	again, err := a.Store.Derived.FollowSources(ctx, board, long)
	if err == nil && again.Rows != 0 {
		err = fmt.Errorf("after %+v there was another step: %+v", step, again)
	}
	if err != nil {
		return step, err
	}
	if moved, err = movedOf(ctx, a.Store, board); moved && err == nil {
		err = errors.New("a board that has just been where its sources are has moved")
	}
	return step, err
}

// TestMovedDerived: the question about all boards sees each change of something that a step reads, and no other change.
func TestMovedDerived(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, subject := clocked(t, dsn)
		db := dbtest.Connect(t, dsn)
		noon := leaderboard.MicrosOf(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
		subject.setNow(noon)
		put := func(name string, rules leaderboard.Rules) {
			t.Helper()
			if _, _, err := s.Boards.PutBoard(t.Context(), name, rules); err != nil {
				t.Fatal(err)
			}
		}
		submit := func(board string) {
			t.Helper()
			if _, err := s.Writer.Submit(t.Context(), dbtest.One(board, "", "m", time.Now().UnixMicro())); err != nil {
				t.Fatal(err)
			}
		}
		days := leaderboard.Rules{Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowDay}}
		weight := int64(1)
		rule := func() leaderboard.Rules {
			return leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{
				{Board: "runs", Window: leaderboard.WindowDay, Weight: &weight}, {Board: "later", Window: leaderboard.WindowDay},
			}}}
		}
		put("runs", days)
		put("other", days)
		for i := range 5 {
			put(fmt.Sprint("sum", i), leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "other"}}}})
		}
		put("sum", rule())
		for _, c := range []struct {
			what   string
			change func()
			moves  bool
		}{
			{"the board is new", func() {}, true},
			{"nothing", func() {}, false},
			{"the first entry of the day", func() { submit("runs") }, true},
			{"an entry of another board", func() { submit("other") }, false},
			{"an entry", func() { submit("runs") }, true},
			{"an hour passes", func() { subject.setNow(noon + leaderboard.Micros(time.Hour.Microseconds())) }, false},
			{"a source that was missing", func() { put("later", days) }, true},
			{"its first entry", func() { submit("later") }, true},
			{"the day turns", func() { subject.setNow(noon + leaderboard.Micros(24*time.Hour.Microseconds())) }, true},
			{"the first entry of the next day", func() { submit("runs") }, true},
			{"the clock goes back", func() { subject.setNow(noon) }, true},
			{"rules of a source", func() {
				put("runs", leaderboard.Rules{Policy: leaderboard.PolicySum, Windows: []leaderboard.Window{leaderboard.WindowDay}})
			}, true},
			{"the rule", func() { weight = 3; put("sum", rule()) }, true},
			{"a recomputation", func() {
				if _, err := s.Derived.Recompute(t.Context(), "sum"); err != nil {
					t.Fatal(err)
				}
			}, true},
			{"a source is deleted", func() {
				if err := s.Boards.DeleteBoard(t.Context(), "later"); err != nil {
					t.Fatal(err)
				}
			}, true},
			{"a source has its name again", func() { put("later", days) }, true},
			{"a step, and a backup of before it", func() {
				submit("runs")
				if step, err := s.Derived.FollowSources(t.Context(), "sum", true); err != nil || step.Rows != 1 {
					t.Fatalf("%+v, %v", step, err)
				}
				dbtest.MustExec(t, db, "UPDATE derived_boards d JOIN boards b ON b.id = d.board_id SET d.step = d.step - 1 WHERE b.name = 'sum'")
				dbtest.MustExec(t, db, "UPDATE periods p JOIN boards b ON b.id = p.board_id SET p.last_seq = p.last_seq - 1 WHERE b.name = 'runs'")
			}, true},
		} {
			c.change()
			if moved, err := movedOf(t.Context(), s, "sum"); err != nil || moved != c.moves {
				t.Errorf("%s: moved is %t, %v", c.what, moved, err)
			}
			if _, err := (asked{Store: s}).FollowSources(t.Context(), "sum", true); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		looksOnce(t, s, db)
	})
}

// looksOnce takes the tables away: the question that fails is the last one, or each would take until its deadline when the database
// is away.
func looksOnce(t *testing.T, s *server, db *sql.DB) {
	t.Helper()
	var idle []int64
	boards, err := s.Derived.list(t.Context(), 0, 100)
	for _, b := range boards {
		idle = append(idle, b.id)
	}
	dbtest.MustExec(t, db, "RENAME TABLE boards TO no_boards, periods TO no_periods")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Derived.moved(t.Context(), idle); err == nil || strings.Count(err.Error(), "Error 1146") != 1 {
		t.Errorf("without tables: %v, want what one statement failed with", err)
	}
}
