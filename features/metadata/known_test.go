package metadata

import (
	"fmt"
	"testing"

	"leaderboard/leaderboard"
)

// at is a revision of the period of these tests.
func at(seq int64) leaderboard.Revision {
	return leaderboard.Revision{Incarnation: 1, Seq: seq, AsOf: leaderboard.Micros(100 * seq)}
}

// commitOf is the commit that leads to a revision and changes members.
func commitOf(seq int64, members ...string) []leaderboard.Commit {
	c := leaderboard.Commit{PeriodID: 1, Incarnation: 1, FirstSeq: seq, LastSeq: seq, PrevCommittedAt: at(seq - 1).AsOf, CommittedAt: at(seq).AsOf}
	for _, m := range members {
		c.Changes = append(c.Changes, leaderboard.Change{Seq: seq, Member: m})
	}
	return []leaderboard.Commit{c}
}

func always(int64) bool { return true }

// asking is the known metadata, with questions about one entry.
type asking struct {
	*known
	t     *testing.T
	entry leaderboard.Entry
}

func newAsking(t *testing.T) asking {
	a := asking{newKnown(), t, leaderboard.Entry{Member: "a", Score: 7, CreatedTime: 3}}
	a.keep(1<<20, always)
	return a
}

func (a asking) query(at leaderboard.Revision) *leaderboard.MetadataQuery {
	return &leaderboard.MetadataQuery{Period: &leaderboard.PeriodRef{ID: 1, Rules: &leaderboard.Rules{}}, At: at, Entries: []leaderboard.Entry{a.entry}}
}

// learns stores the findings of a statement that saw one revision, for an answer at another.
func (a asking) learns(asked, saw leaderboard.Revision, body string) leaderboard.EntryMetadata {
	out := []leaderboard.EntryMetadata{{Body: body}}
	a.learn(a.query(asked), saw, []int{0}, out, nil)
	return out[0]
}

// wants checks the known metadata of the entry at a revision; "?": unknown.
func (a asking) wants(want string, at leaderboard.Revision) {
	a.t.Helper()
	out := make([]leaderboard.EntryMetadata, 1)
	got := "?"
	if len(a.find(a.query(at), out)) == 0 {
		got = out[0].Body
	}
	if got != want {
		a.t.Errorf("at %+v %q is known, want %q", at, got, want)
	}
}

// TestKnown: found metadata is shown only at the revisions between the entry's own change and the last known commit, even
// when an equal entry comes back (promise A8).
func TestKnown(t *testing.T) {
	a := newAsking(t)
	a.wants("?", at(5))
	if !a.learns(at(5), at(5), "1").Lasts {
		t.Error("what was seen at the revision of the answer does not last")
	}
	a.wants("1", at(5))
	a.wants("?", at(4))
	a.wants("?", leaderboard.Revision{})
	a.folding(1, commitOf(6, "b"))
	a.wants("1", at(6))
	a.wants("?", at(7))
	a.folding(1, commitOf(7, "a"))
	a.wants("?", at(6))
	a.folding(1, commitOf(8, "a")) // the entry is equal again
	a.wants("?", at(8))

	if a.learns(at(6), at(7), "1").Lasts {
		t.Error("what was seen after a change lasts")
	}
	a.wants("?", at(8))
	a.learns(at(8), at(8), "2")
	a.wants("2", at(8))
	a.wants("?", at(6))

	a.learns(at(8), at(10), "3") // ahead of the known commits
	a.wants("?", at(8))
	a.folding(1, commitOf(9, "a"))
	a.wants("?", at(9))
	a.folding(1, commitOf(10, "a"))
	a.wants("3", at(10))
	a.entry.Score++
	a.wants("?", at(10))
}

// TestKnownIncarnations: nothing is shown after commits that were not heard of, nor in answers of another incarnation (promise A8).
func TestKnownIncarnations(t *testing.T) {
	a := newAsking(t)
	a.learns(at(5), at(5), "1")
	a.folding(1, commitOf(7, "b"))
	a.wants("?", at(7))
	a.learns(at(7), at(7), "2")
	a.folding(1, commitOf(7, "a")) // again
	a.wants("2", at(7))

	other := at(7)
	other.AsOf++
	a.wants("?", other)
	branch := commitOf(8, "b")
	branch[0].PrevCommittedAt++
	a.folding(1, branch)
	a.wants("?", at(7))
	a.wants("?", at(8))

	other = at(2)
	other.Incarnation = 2
	a.learns(other, other, "3")
	a.wants("3", other)
	a.wants("?", at(8))
}

// TestKnownOfMembersWhoAreGone: after a missed commit, when the period leaves memory, and while it is not in memory,
// nothing is kept: it may belong to an erased member, or to a lost incarnation.
func TestKnownOfMembersWhoAreGone(t *testing.T) {
	a := newAsking(t)
	kept := func(want bool) {
		t.Helper()
		if n := a.keep(1<<20, always); (n > 0) != want {
			t.Errorf("%d bytes are kept", n)
		}
	}
	a.learns(at(5), at(5), "1")
	kept(true)
	a.folding(1, commitOf(7, "b"))
	kept(false)

	a.learns(at(7), at(7), "1")
	kept(true)
	a.folding(1, nil)
	a.wants("?", at(7))
	kept(false)
	other := at(6) // of a replica with a clock that is behind
	other.AsOf = at(7).AsOf - 1
	a.learns(other, other, "2")
	a.wants("2", other)

	a.keep(1<<20, func(int64) bool { return false })
	a.learns(at(9), at(9), "3")
	if a.rangeOf(1) != nil {
		t.Error("it listens to a period that is not in memory")
	}
}

// TestKnownBounds: the bytes and the changes that are kept are bounded, and nothing is kept of a period that is not in memory.
func TestKnownBounds(t *testing.T) {
	const within = 64 << 10
	a := newAsking(t)
	if n := a.keep(within, always); n != 0 {
		t.Errorf("%d bytes of nothing", n)
	}
	for i := range int64(2 * maxChanged) {
		a.entry.Member = fmt.Sprint("m", i)
		a.learns(at(5), at(5), `{"n":1}`)
	}
	a.wants(`{"n":1}`, at(5))
	if n := a.keep(within, always); n < within/2 || n > within {
		t.Errorf("%d bytes are kept, want %d at most", n, within)
	}
	for i := range int64(3 * maxChanged) {
		a.folding(1, commitOf(6+i, fmt.Sprint("x", i)))
	}
	a.wants(`{"n":1}`, at(6))
	a.wants(`{"n":1}`, at(5+3*maxChanged))
	if n := len(a.rangeOf(1).changed); n > maxChanged {
		t.Errorf("%d changes are kept", n)
	}
	before := a.keep(within, always)
	a.folding(1, commitOf(6+3*maxChanged, a.entry.Member)) // it is erased
	if after := a.keep(within, always); after >= before {
		t.Errorf("%d bytes after %d: what a member had is kept", after, before)
	}
	if n := a.keep(within/4, always); n > within/4 {
		t.Errorf("%d bytes are kept, want %d at most", n, within/4)
	}
	if n := a.keep(within, func(int64) bool { return false }); n != 0 || a.rangeOf(1) != nil {
		t.Errorf("%d bytes are kept of a period that has left", n)
	}
	a.keep(0, always)
	a.learns(at(5), at(5), "1")
	if n := a.keep(0, always); n != 0 || a.rangeOf(1) != nil {
		t.Errorf("%d bytes are kept without memory", n)
	}
}
