package index

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// keyed draws an entry from few scores, moments and members, so that all kinds of ties are common.
func keyed() *rapid.Generator[leaderboard.Entry] {
	return rapid.Custom(func(t *rapid.T) leaderboard.Entry {
		return leaderboard.Entry{
			Member: rapid.SampledFrom([]string{"a", "aa", "b", "\x00", "a\x00", "\xf4\x8f\xbf\xbf"}).Draw(t, "member"),
			Score:  rapid.SampledFrom([]int64{-1 << 63, -1, 0, 1, 1<<63 - 1}).Draw(t, "score"), Tiebreak: rapid.Int64Range(0, 1).Draw(t, "tiebreak"),
			CreatedTime: leaderboard.Micros(rapid.Int64Range(0, 2).Draw(t, "created")),
		}
	})
}

// TestHistoryCarries: a number carried along any path equals the count at its end.
func TestHistoryCarries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := rank.State{Revision: leaderboard.Revision{Seq: rapid.Int64Range(0, 5).Draw(t, "start"), AsOf: 100}}
		h := history{start: at}
		states := [][]rank.Key{nil}
		revisions := []rank.State{at}
		for range rapid.IntRange(0, 6).Draw(t, "commits") {
			keys, c := slices.Clone(states[len(states)-1]), &leaderboard.Commit{FirstSeq: at.Seq + 1, PrevCommittedAt: at.AsOf}
			for range rapid.IntRange(1, 4).Draw(t, "changes") {
				e := keyed().Draw(t, "entry")
				k := rank.Codec{}.Key(e)
				ch := leaderboard.Change{Member: e.Member, New: &e}
				if i := slices.Index(keys, k); i >= 0 {
					keys, ch.Old, ch.New = slices.Delete(keys, i, i+1), &e, nil
				} else {
					keys = append(keys, k)
				}
				c.Changes = append(c.Changes, ch)
			}
			c.LastSeq, c.CommittedAt, c.EntryCount = at.Seq+int64(len(c.Changes)), at.AsOf+10, int64(len(keys))
			s := step{commit: c}
			h.push(s)
			at = s.to()
			states, revisions = append(states, keys), append(revisions, at)
		}
		from, to := rapid.IntRange(0, len(revisions)-1).Draw(t, "from"), rapid.IntRange(0, len(revisions)-1).Draw(t, "to")
		p, err := h.path(revisions[from], revisions[to])
		if err != nil {
			t.Fatal(err)
		}
		probes := []rank.Key{"", "\xff"}
		for range 5 {
			k := rank.Codec{}.Key(keyed().Draw(t, "probe"))
			probes = append(probes, k, k.Prefix(), k[:rank.ScoreLen])
		}
		for i, shift := range p.deltas(probes) {
			if want := ahead(states[to], probes[i]) - ahead(states[from], probes[i]); shift != want {
				t.Fatalf("%x shifts by %d from state %d to %d, want %d", probes[i], shift, from, to, want)
			}
		}
	})
}

func ahead(keys []rank.Key, k rank.Key) (n int64) {
	for _, other := range keys {
		if other < k {
			n++
		}
	}
	return n
}

// TestHistoryForgets: old steps go, and their states are distinguished from states of another incarnation.
func TestHistoryForgets(t *testing.T) {
	t.Parallel()
	h := history{start: rank.State{Revision: leaderboard.Revision{Seq: 10, AsOf: 10}}}
	commit := func(first, last int64) step {
		c := &leaderboard.Commit{FirstSeq: first, LastSeq: last, PrevCommittedAt: leaderboard.Micros(first - 1), CommittedAt: leaderboard.Micros(last)}
		for range last - first + 1 {
			c.Changes = append(c.Changes, leaderboard.Change{})
		}
		return step{commit: c}
	}
	h.push(commit(11, 10+maxHistory/2))
	h.push(commit(11+maxHistory/2, 10+maxHistory))
	at := func(seq int64) rank.State {
		return rank.State{Revision: leaderboard.Revision{Seq: seq, AsOf: leaderboard.Micros(seq)}}
	}
	diverged := at(10 + maxHistory)
	diverged.AsOf++
	check := func(m rank.State, want error) {
		t.Helper()
		if _, err := h.position(m); !errors.Is(err, want) {
			t.Errorf("state %d: %v, want %v", m.Seq, err, want)
		}
	}
	check(at(10), nil)
	check(at(10+maxHistory), nil)
	check(at(9), ErrTooOld)
	check(at(11), rank.ErrDiverged) // inside a commit
	check(diverged, rank.ErrDiverged)
	check(at(11+maxHistory), ErrBehind)
	h.push(commit(11+maxHistory, 11+maxHistory))
	check(at(10), ErrTooOld)
	check(at(10+maxHistory/2), nil)
	check(at(11+maxHistory), nil)
	h.push(commit(12+maxHistory, 12+4*maxHistory)) // a commit larger than the whole history
	check(at(11+maxHistory), nil)
	if len(h.steps) != 1 || fmt.Sprint(h.start) != fmt.Sprint(at(11+maxHistory)) {
		t.Errorf("%d steps from %v on", len(h.steps), h.start)
	}
}

// TestCutOfMergedBucket: a cut is left out if no bucket begins at its start any longer.
func TestCutOfMergedBucket(t *testing.T) {
	t.Parallel()
	b := rank.NewBuilder(1)
	at := rank.State{Revision: leaderboard.Revision{Seq: 1, AsOf: 1}, Total: 6}
	key := func(score int64) rank.Key { return rank.Codec{}.Prefix(score, 0) }
	for _, to := range []rank.Key{key(30), key(10), ""} {
		if err := b.Append(at, to, 2); err != nil {
			t.Fatal(err)
		}
	}
	index, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	tr := newTracker(leaderboard.PeriodRef{}, index, 0)
	cut := func(from, at rank.Key) error {
		return tr.cut([]cutting{{span: rank.Span{From: from}, from: from, at: at, left: 1, state: tr.At()}})
	}
	if err := cut(key(20), key(15)); err != nil || index.Len() != 3 {
		t.Errorf("%d buckets, %v", index.Len(), err)
	}
	if err := cut(key(30), key(15)); err != nil || index.Len() != 4 || index.Find(key(12)).Count != 1 {
		t.Errorf("%d buckets, %v", index.Len(), err)
	}
}

// TestUnreadRemembersNothing: an index that nobody reads keeps no history; from the moment a reader asks, it does.
func TestUnreadRemembersNothing(t *testing.T) {
	t.Parallel()
	x := &Indexes{cfg: Config{Target: 4, Memory: 1 << 30, OnIndexes: func(int64) {}}, slots: map[int64]*slot{}}
	ref := leaderboard.PeriodRef{ID: 1}
	tr, err := x.young(ref, rank.State{})
	if err != nil {
		t.Fatal(err)
	}
	x.install(tr)
	commit := func(n int) {
		t.Helper()
		at := tr.At()
		seq := at.Seq + int64(n)
		c := &leaderboard.Commit{FirstSeq: at.Seq + 1, LastSeq: seq, PrevCommittedAt: at.AsOf, CommittedAt: leaderboard.Micros(seq), EntryCount: seq}
		for i := range n {
			e := &leaderboard.Entry{Member: fmt.Sprint(seq, i), Score: int64(i)}
			c.Changes = append(c.Changes, leaderboard.Change{Seq: at.Seq + int64(i) + 1, Member: e.Member, New: e})
		}
		if err := tr.fold(step{commit: c}); err != nil {
			t.Fatal(err)
		}
	}
	commit(100)
	if n := len(tr.past.steps); n > 0 {
		t.Errorf("%d commits are remembered that nobody needs", n)
	}
	at := x.Ready(ref).At()
	commit(50)
	commit(50)
	if _, err := tr.Rebase([]rank.Key{""}, at, tr.At()); err != nil {
		t.Errorf("a reader does not get on from the state that it found: %v", err)
	}
	for range 10 {
		commit(maxHistory / 8)
	}
	if n := len(tr.past.steps); n > 0 {
		t.Errorf("%d commits are remembered long after the last reader", n)
	}
	if b := tr.bytes(); b > 4096 {
		t.Errorf("an index of one bucket takes %d bytes", b)
	}
}
