package commit

import (
	"bytes"
	"database/sql"
	"reflect"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// written returns the statements that a batch with these requests reads and writes on a fresh board.
func written(t *testing.T, reqs ...request) (reads, writeText string) {
	t.Helper()
	p, n := freshPeriod(leaderboard.PolicySum, 5000), &Needs{}
	for _, r := range reqs {
		r.collect(func(string) *Needs { return n })
	}
	n.tidy()
	var read, write mysql.Text
	(&reading{Needs: n, boardID: 2, periods: []int64{1}}).appendTo(&read, &Board{})
	w := writes{owner: noBoard}
	w.keys = (&batch{requests: reqs}).apply(oneBoard(p), map[string]keyRow{})
	w.periods = []*Period{p}
	w.appendTo(&write)
	return read.String(), write.String()
}

// TestTermsCostNoStatement: an atomic request with a condition reads and writes by as many statements as a plain one, and a
// plain request's receipt has not changed.
func TestTermsCostNoStatement(t *testing.T) {
	t.Parallel()
	plain := leaderboard.SubmitRequest{Board: "b", Key: "k", Entries: []leaderboard.Submission{{Member: "a", Score: 1}}}
	given := leaderboard.SubmitRequest{Board: "b", Key: "k", Atomic: true, Entries: []leaderboard.Submission{{Member: "a", Score: 1, If: &leaderboard.Condition{Score: new(int64(10))}}}}
	r1, w1 := written(t, newSubmission(&plain))
	r2, w2 := written(t, newSubmission(&given))
	if r1 != r2 || strings.Count(w1, ";") != strings.Count(w2, ";") || strings.Count(w1, ";") != 4 {
		t.Errorf("plain: %s %s\nwith a condition: %s %s", r1, w1, r2, w2)
	}
	s := newSubmission(&plain)
	if err := s.apply(oneBoard(freshPeriod(leaderboard.PolicySum, 5000))); err != nil || s.stored()[0] != receiptFormat {
		t.Errorf("receipt %x, %v", s.stored(), err)
	}
}

// everybody is a reason to set the entries of all members aside.
type everybody struct{}

func (everybody) Read(*mysql.Text)      {}
func (everybody) Scan(*sql.Rows) error  { return nil }
func (everybody) SetsAside(string) bool { return true }

// TestAbortedLeavesNothing: the changes of an atomic request before one of its entries failed are undone, for visible and
// hidden entries, so that the batch writes none of them; its receipt decodes to itself.
func TestAbortedLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{false, true} {
		p := freshPeriod(leaderboard.PolicySum, 5000)
		if hidden {
			p.board = &Board{asides: []Aside{everybody{}}}
			p.aside.found("a", p.entries["a"])
			delete(p.entries, "a")
		}
		was := *p
		s := newSubmission(&leaderboard.SubmitRequest{Board: "b", Key: "k", Atomic: true, Entries: []leaderboard.Submission{
			{Member: "a", Score: 5}, {Member: "n", Score: 5}, {Member: "a", Score: 1, If: &leaderboard.Condition{Score: new(int64(10))}},
		}})
		l := oneBoard(p)
		if err := s.apply(l); err != nil {
			t.Fatal(err)
		}
		if p.lastSeq != was.lastSeq || p.count != was.count || p.lastCreated != was.lastCreated || len(p.changes) > 0 || len(p.aside.touched) > 0 ||
			p.entry("a").Score != 10 || p.entry("n") != nil {
			t.Errorf("hidden %t: %+v, was %+v", hidden, p, was)
		}
		var statuses []leaderboard.Status
		for _, r := range s.results {
			statuses = append(statuses, r.Status)
		}
		if want := []leaderboard.Status{leaderboard.StatusAborted, leaderboard.StatusAborted, leaderboard.StatusUnmet}; !reflect.DeepEqual(statuses, want) {
			t.Errorf("statuses %v, want %v", statuses, want)
		}
		stored, want := s.stored(), s.receipt()
		if stored[0] != receiptTerms {
			t.Errorf("format %d", stored[0])
		}
		want.Replayed = true
		if err := s.replay(l, stored); err != nil || !reflect.DeepEqual(s.receipt(), want) || !bytes.Equal(s.stored(), stored) {
			t.Errorf("replayed as %+v, %v; want %+v", s.receipt(), err, want)
		}
		for cut := range stored {
			if err := s.decode(stored[:cut]); err == nil {
				t.Fatalf("the first %d of %d bytes are a receipt", cut, len(stored))
			}
		}
	}
}

// TestHashOfTerms: requests that differ in a condition, an edit or atomic have different hashes.
func TestHashOfTerms(t *testing.T) {
	t.Parallel()
	one, field := new(int64(1)), map[string]int64{"l": 1}
	seen := map[[32]byte]string{}
	add := func(name string, atomic bool, entries ...leaderboard.Submission) {
		h := (&submission{entries: entries, atomic: atomic}).hashOf()
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have one hash", name, other)
		}
		seen[h] = name
	}
	for name, e := range map[string]leaderboard.Submission{
		"plain": {}, "score": {If: &leaderboard.Condition{Score: one}}, "tiebreak": {If: &leaderboard.Condition{Tiebreak: one}},
		"field": {If: &leaderboard.Condition{Fields: field}}, "set": {Edit: &leaderboard.Edit{Set: field}}, "add": {Edit: &leaderboard.Edit{Add: field}},
		"set alone": {Edit: &leaderboard.Edit{Set: field, NoScore: true}}, "op": {Edit: &leaderboard.Edit{Op: leaderboard.PolicySum}},
		"time": {Edit: &leaderboard.Edit{KeepTime: true}}, "fields": {Fields: field},
	} {
		add(name, false, e)
		add(name+", atomic", true, e)
		add(name+", second", false, leaderboard.Submission{}, e)
		add(name+", first", true, e, leaderboard.Submission{})
	}
}
