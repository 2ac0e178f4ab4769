package feed

import (
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// commit makes the n-th commit of a period, with a number of changes.
func commit(period, n int64, changes int) leaderboard.Commit {
	first := (n-1)*int64(changes) + 1
	return leaderboard.Commit{
		PeriodID: period, Incarnation: 7, FirstSeq: first, LastSeq: first + int64(changes) - 1,
		PrevCommittedAt: leaderboard.Micros(n - 1), CommittedAt: leaderboard.Micros(n), Changes: make([]leaderboard.Change, changes),
	}
}

func seqs(commits []leaderboard.Commit) (out []int64) {
	for i := range commits {
		out = append(out, commits[i].LastSeq)
	}
	return out
}

// TestTail: commits are found after the revision that they start from, in whichever order they came, up to the first
// gap; commits of another branch or period are not found.
func TestTail(t *testing.T) {
	t.Parallel()
	tail := NewTail(0)
	for _, n := range []int64{2, 1, 3, 5, 1} {
		tail.Add(commit(1, n, 2))
	}
	tail.Add(commit(2, 4, 2))
	at := func(n int64) leaderboard.Revision { c := commit(1, n, 2); return c.To() }
	restored := at(1)
	restored.AsOf++
	for name, c := range map[string]struct {
		period  int64
		from    leaderboard.Revision
		changes int
		want    []int64
	}{
		"from the beginning":   {1, at(0), 100, []int64{2, 4, 6}},
		"from the middle":      {1, at(1), 100, []int64{4, 6}},
		"at the gap":           {1, at(3), 100, nil},
		"after the gap":        {1, at(4), 100, []int64{10}},
		"so many changes":      {1, at(0), 3, []int64{2, 4}},
		"none":                 {1, at(0), 0, nil},
		"of another branch":    {1, restored, 100, nil},
		"of another period":    {2, at(0), 100, nil},
		"of another period, 2": {2, at(3), 100, []int64{8}},
	} {
		got := seqs(tail.After(c.period, c.from, c.changes))
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1]) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestTailFollowsTheDatabase: a commit that the database has lost is replaced by the commit in its place, is not
// returned for long, and never once it is known to be lost.
func TestTailFollowsTheDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tail := NewTail(0)
		lost := commit(1, 5, 1)
		tail.Add(lost)
		time.Sleep(time.Second)
		real := commit(1, 5, 1)
		real.CommittedAt += 1000
		tail.Add(real)
		if got := tail.After(1, real.From(), 100); len(got) != 1 || got[0].To() != real.To() {
			t.Errorf("after a failover: %+v", got)
		}
		time.Sleep(tailAge - time.Second/2) // of the lost one; the other one stays
		tail.Add(commit(2, 1, 1))
		if got := tail.After(1, real.From(), 100); len(got) != 1 || got[0].To() != real.To() {
			t.Errorf("when the lost one is forgotten: %+v", got)
		}
		time.Sleep(time.Hour)
		if got := tail.After(1, real.From(), 100); got != nil {
			t.Errorf("after an hour: %+v", got)
		}
		tail.Add(lost)
		tail.Forget(1)
		if got := tail.After(1, lost.From(), 100); got != nil {
			t.Errorf("though it was forgotten: %+v", got)
		}
	})
}

// TestTailIsBounded: its memory is bounded, and it keeps nothing for long; the newest commits stay.
func TestTailIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tail := NewTail(10_000)
		for n := range int64(1000) {
			tail.Add(commit(1, n+1, 2))
			if tail.Bytes() > 10_000 {
				t.Fatalf("%d bytes", tail.Bytes())
			}
		}
		before := commit(1, 999, 2)
		if got := seqs(tail.After(1, before.To(), 100)); len(got) != 1 || got[0] != 2000 || tail.Bytes() < 9000 {
			t.Errorf("%v, %d bytes", got, tail.Bytes())
		}
		time.Sleep(2 * tailAge)
		tail.Add(commit(2, 1, 2))
		if tail.Bytes() != 2*changeBytes || len(tail.next) != 1 {
			t.Errorf("%d bytes, %d commits after a while", tail.Bytes(), len(tail.next))
		}
		tail.Add(commit(2, 2, 1000)) // larger than the whole tail
		if tail.Bytes() != 0 || tail.oldest != nil || tail.newest != nil {
			t.Errorf("%d bytes", tail.Bytes())
		}
		tail.Add(commit(2, 3, 1))
		if tail.Bytes() != changeBytes {
			t.Errorf("%d bytes", tail.Bytes())
		}
	})
}
