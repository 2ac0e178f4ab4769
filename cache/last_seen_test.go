package cache

import (
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
	"leaderboard/cache/cachetest"
)

// TestAnswersStayFreshWhileThePeriodRests: while a period rests, one query in a while is enough for everything that
// is kept of it; when it changes, nothing kept passes for current any more.
func TestAnswersStayFreshWhileThePeriodRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := cachetest.NewWorld(7, cachetest.Rules(func(*leaderboard.Rules) {}))
		w.Fill(10)
		s := &database{World: w}
		r := NewReader(nil, s, ReaderOptions{LocalTTL: 100 * time.Millisecond})
		q := leaderboard.PageQuery{Limit: 3}
		asked := func(want int64) {
			t.Helper()
			synctest.Wait()
			if n := s.asked.Load(); n != want {
				t.Errorf("MySQL was asked %d times, want %d", n, want)
			}
		}
		member(t, r, w.Ref, "m1")
		page(t, r, w.Ref, q)
		for i := range int64(100) { // ten seconds, far beyond grace
			time.Sleep(99 * time.Millisecond)
			member(t, r, w.Ref, "m2", "m"+string(rune('3'+i%7)), string(rune('a'+i%26))+string(rune('a'+i/26))) // another query each time
			asked(3 + i)
			if got := member(t, r, w.Ref, "m1"); got.Source != leaderboard.SourceLocal || got.Stale {
				t.Fatalf("a look-up in a period at rest: %+v", got)
			}
			want(t, page(t, r, w.Ref, q), 10, leaderboard.SourceLocal, false)
		}
		w.Commit(cachetest.Put("new", 100))
		time.Sleep(99 * time.Millisecond)
		if got := member(t, r, w.Ref, "new"); got.Seq != 11 || got.Source != leaderboard.SourceMySQL {
			t.Errorf("a look-up after a change: %+v", got)
		}
		time.Sleep(99 * time.Millisecond) // the others are older than fresh now
		asked(103)
		page(t, r, w.Ref, q)
		asked(104)
		want(t, page(t, r, w.Ref, q), 11, leaderboard.SourceLocal, false)
	})
}

// TestLastSeenEndsAFailure: a failure is forgotten once another answer has shown that nothing has changed.
func TestLastSeenEndsAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := testAnswerCache(), &source{seq: 1}
		k.seen, k.period = newLastSeen(k.rules.fresh), func(string) int64 { return 1 }
		ask(t, k, s, 0)
		s.set(1, leaderboard.ErrUnavailable, 0)
		time.Sleep(2 * time.Second)
		want(t, ask(t, k, s, 0), 1, leaderboard.SourceLocal, true)
		time.Sleep(50 * time.Millisecond)
		k.seen.note(1, leaderboard.State{Revision: leaderboard.Revision{Seq: 1}}, time.Now())
		time.Sleep(200 * time.Millisecond)
		want(t, ask(t, k, s, 0), 1, leaderboard.SourceLocal, false)
		synctest.Wait()
	})
}

func TestLastSeen(t *testing.T) {
	t.Parallel()
	s := newLastSeen(time.Second)
	start := time.Unix(1, 0)
	state := func(seq int64, asOf leaderboard.Micros) leaderboard.State {
		return leaderboard.State{Revision: leaderboard.Revision{Seq: seq, AsOf: asOf}}
	}
	check := func(when string, of leaderboard.State, want time.Duration) {
		t.Helper()
		got := s.last(1, of)
		if want < 0 && !got.IsZero() || want >= 0 && !got.Equal(start.Add(want)) {
			t.Errorf("%s: last seen at %s, want %s", when, got.Sub(start), want)
		}
	}
	check("never", state(5, 50), -1)
	s.note(1, state(5, 50), start)
	s.note(2, state(9, 90), start.Add(time.Millisecond))
	check("once", state(5, 50), 0)
	check("another seq at the same time", state(6, 50), -1)
	check("another history at the same seq", state(5, 51), -1)
	s.note(1, state(6, 60), start.Add(time.Millisecond))
	s.note(1, state(5, 50), start.Add(2*time.Millisecond)) // from a copy that is behind
	check("passed", state(5, 50), -1)
	check("present", state(6, 60), time.Millisecond)
	s.note(1, state(6, 60), start.Add(3*time.Millisecond))
	check("again", state(6, 60), 3*time.Millisecond)
	s.note(1, state(4, 40), start.Add(2*time.Second)) // nobody has seen more for long: it was set back to a backup
	check("set back", state(4, 40), 2*time.Second)
	check("gone", state(6, 60), -1)
}
