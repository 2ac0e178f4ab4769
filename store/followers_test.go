package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"leaderboard"
)

// TestFollowers: the log is kept for a follower from where it is, in later periods from their beginning, for a day at most; a
// follower that is not heard of ends.
func TestFollowers(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), connect(t, dsn)
		ref := makeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest})
		other := makeBoard(t, s, "other", leaderboard.Rules{Policy: leaderboard.PolicyLatest})
		for _, board := range []string{"b", "other"} {
			for n := range int64(6) {
				if _, err := s.Submit(t.Context(), one(board, fmt.Sprint(board, n), "m", n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		board, err := s.Board(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		first, err := s.FirstPeriod(t.Context(), board.ID, leaderboard.WindowAllTime)
		if err != nil {
			t.Fatal(err)
		}
		put := func(name string, seq int64, startsAt leaderboard.Micros, created bool) leaderboard.Follower {
			t.Helper()
			f, made, err := s.PutFollower(t.Context(), board, leaderboard.Follower{Name: name, Window: leaderboard.WindowAllTime, StartsAt: startsAt, Seq: seq, Cursor: "c"})
			if err != nil || made != created {
				t.Fatalf("put %s: %v, created %v", name, err, made)
			}
			return f
		}
		kept := func(want string) {
			t.Helper()
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(count(t, db, "changes WHERE period_id = ? AND last_seq > 0", ref.ID), " ", count(t, db, "changes WHERE period_id = ?", other.ID), " ", count(t, db, "followers"))
			if got != want {
				t.Errorf("commits of the board, of the other one, followers: %s; want %s", got, want)
			}
		}
		f := put("a", 4, first.StartsAt, true)
		if f.Waiting != 2 || f.OldestWaiting == 0 || f.Cursor != "c" || f.Seen == 0 {
			t.Errorf("it is %+v", f)
		}
		put("late", 2, first.StartsAt, true)
		kept("6 6 2") // all are young
		mustExec(t, db, "UPDATE changes SET committed_at = committed_at - INTERVAL 2 HOUR")
		kept("4 0 2")
		if f := put("late", 6, first.StartsAt, false); f.Waiting != 0 || f.OldestWaiting != 0 {
			t.Errorf("it has all: %+v", f)
		}
		kept("2 0 2")
		put("before", 7, first.StartsAt-1, true) // in an earlier period: it has nothing of this one
		put("a", 6, first.StartsAt, false)
		kept("2 0 3")
		mustExec(t, db, "UPDATE changes SET committed_at = committed_at - INTERVAL 23 HOUR")
		kept("0 0 3")

		if _, err := s.Submit(t.Context(), one("b", "again", "m", 1)); err != nil {
			t.Fatal(err)
		}
		mustExec(t, db, "UPDATE changes SET committed_at = committed_at - INTERVAL 2 HOUR")
		mustExec(t, db, "UPDATE followers SET seen_at = seen_at - INTERVAL 25 HOUR WHERE name <> 'a'")
		kept("1 0 1")
		mustExec(t, db, "UPDATE followers SET seen_at = seen_at - INTERVAL 25 HOUR")
		kept("0 0 0")
	})
}

// TestFollowersOfABoard: a board has so many followers at most, and they are listed by name; one that is deleted is not there any
// more, nor are those of a deleted board.
func TestFollowersOfABoard(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), connect(t, dsn)
		makeBoard(t, s, "b", leaderboard.Rules{})
		board, err := s.Board(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		put := func(name string, created bool) {
			t.Helper()
			if _, made, err := s.PutFollower(t.Context(), board, leaderboard.Follower{Name: name, Window: leaderboard.WindowAllTime, Cursor: "c"}); err != nil || made != created {
				t.Fatalf("put %s: %v, created %v", name, err, made)
			}
		}
		for i := range leaderboard.MaxFollowers {
			put(fmt.Sprint("f", i), true)
		}
		put("f0", false)
		var rule *leaderboard.RuleError
		if _, _, err := s.PutFollower(t.Context(), board, leaderboard.Follower{Name: "more", Window: leaderboard.WindowAllTime, Cursor: "c"}); !errors.As(err, &rule) || rule.Code != leaderboard.CodeTooManyFollowers {
			t.Errorf("one too many: %v", err)
		}
		if err := s.DeleteFollower(t.Context(), board, "f1"); err != nil {
			t.Error(err)
		}
		if err := s.DeleteFollower(t.Context(), board, "f1"); !errors.Is(err, leaderboard.ErrFollowerNotFound) {
			t.Errorf("a second deletion: %v", err)
		}
		if _, err := s.Follower(t.Context(), board.ID, "f1"); !errors.Is(err, leaderboard.ErrFollowerNotFound) {
			t.Errorf("one that was deleted: %v", err)
		}
		list, err := s.Followers(t.Context(), board.ID)
		if err != nil || len(list) != leaderboard.MaxFollowers-1 || list[0].Name != "f0" || list[1].Name != "f10" {
			t.Errorf("%d followers, %v", len(list), err)
		}
		if err := s.DeleteBoard(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, "followers"); n != 0 {
			t.Errorf("%d followers of a deleted board", n)
		}
		if _, _, err := s.PutFollower(t.Context(), board, leaderboard.Follower{Name: "a", Window: leaderboard.WindowAllTime, Cursor: "c"}); !errors.Is(err, leaderboard.ErrBoardNotFound) {
			t.Errorf("of a deleted board: %v", err)
		}
	})
}

// TestFollowersAtOnce: of programs that take one name at once one makes the follower, and no board gets too many.
func TestFollowersAtOnce(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		makeBoard(t, s, "b", leaderboard.Rules{})
		board, err := s.Board(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		type result struct {
			created bool
			err     error
		}
		results := make(chan result)
		const callers = 2 * (leaderboard.MaxFollowers + 5)
		for i := range callers {
			go func() {
				_, created, err := s.PutFollower(t.Context(), board, leaderboard.Follower{
					Name: fmt.Sprint("f", i/2), Window: leaderboard.WindowAllTime, StartsAt: leaderboard.MicrosOf(time.Unix(0, 0)), Cursor: "c",
				})
				results <- result{created, err}
			}()
		}
		created := 0
		for range callers {
			r := <-results
			var rule *leaderboard.RuleError
			if r.err != nil && !errors.As(r.err, &rule) {
				t.Error(r.err)
			}
			if r.created && r.err == nil {
				created++
			}
		}
		if list, err := s.Followers(t.Context(), board.ID); err != nil || len(list) != leaderboard.MaxFollowers || created != len(list) {
			t.Errorf("%d followers, %d were created; %v", len(list), created, err)
		}
	})
}
