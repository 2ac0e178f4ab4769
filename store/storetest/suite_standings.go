package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"leaderboard/leaderboard"
)

// standings asks where a member stands on boards, as rank, tied rank, score and total, "-" without an entry.
func standings(t *testing.T, s Subject, boards []*board, member string, more ...leaderboard.PeriodRef) (out []string) {
	t.Helper()
	var refs []leaderboard.PeriodRef
	for _, b := range boards {
		ref := b.ref
		ref.LastSeq = b.last
		refs = append(refs, ref)
	}
	refs = append(refs, more...)
	got, err := s.past(t.Context(), refs, member)
	if err != nil || len(got) != len(refs) {
		t.Fatalf("standings of %s: %+v, %v", member, got, err)
	}
	for i := range got {
		if i < len(boards) && (got[i].Seq != boards[i].last || got[i].Incarnation != refs[i].Incarnation || got[i].Stale) {
			t.Errorf("standing of %s on %s is at %+v, want seq %d", member, refs[i].Board, got[i].State, boards[i].last)
		}
		text := "-"
		if r := got[i].Ranked; r != nil {
			text = fmt.Sprintf("%d/%d %s %d:%d of %d", r.Strict, r.Tied, r.Member, r.Score, r.Tiebreak, got[i].Total)
		}
		out = append(out, text)
	}
	return out
}

// testStandings: one question about boards that have nothing in common, each answered by its own rules.
func testStandings(t *testing.T, s Subject) {
	name := boardName(t)[:min(50, len(boardName(t)))]
	high := newBoardNamed(t, s, name+"-high", leaderboard.Rules{})
	low := newBoardNamed(t, s, name+"-low", leaderboard.Rules{Order: leaderboard.OrderAsc})
	fields := newBoardNamed(t, s, name+"-fields", leaderboard.Rules{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{
		{Name: "level", Bits: 4, Order: leaderboard.OrderDesc}, {Name: "deaths", Bits: 4, Order: leaderboard.OrderAsc},
	}}})
	boards := []*board{high, low, fields}
	for _, b := range boards[:2] {
		b.submit(at("a", 10, 5), at("b", 20, 1), at("c", 10, 3), at("d", -7, 4))
	}
	fields.submit(leaderboard.Submission{Member: "a", Score: 1, Fields: map[string]int64{"level": 3, "deaths": 2}},
		leaderboard.Submission{Member: "b", Score: 1, Fields: map[string]int64{"level": 3, "deaths": 1}})
	want := func(what, member string, want ...string) {
		t.Helper()
		if got := standings(t, s, boards, member, withoutRow(high.ref, 7)); !slices.Equal(got, append(want, "-")) {
			t.Errorf("%s: standings of %s are %q, want %q", what, member, got, want)
		}
	}
	want("at first", "a", "3/2 a 10:0 of 4", "3/2 a 10:0 of 4", fmt.Sprintf("2/2 a 1:%d of 2", tiebreakOf(t, s, fields, "a")))
	want("at first", "d", "4/4 d -7:0 of 4", "1/1 d -7:0 of 4", "-")
	want("at first", "nobody", "-", "-", "-")
	high.hide("b")
	low.submit(score("e", -8))
	want("another is hidden", "a", "2/1 a 10:0 of 3", "4/3 a 10:0 of 5", fmt.Sprintf("2/2 a 1:%d of 2", tiebreakOf(t, s, fields, "a")))
	want("hidden on one board", "b", "-", "5/5 b 20:0 of 5", fmt.Sprintf("1/1 b 1:%d of 2", tiebreakOf(t, s, fields, "b")))

	ahead, gone := high.ref, low.ref
	ahead.LastSeq, gone.ID = high.last+1, low.ref.ID+1_000_000
	empty := withoutRow(high.ref, 7)
	empty.LastSeq = 1
	for what, c := range map[string]struct {
		refs []leaderboard.PeriodRef
		err  error
	}{
		"one is ahead":             {[]leaderboard.PeriodRef{fields.ref, ahead}, leaderboard.ErrSeqAhead},
		"one without row is ahead": {[]leaderboard.PeriodRef{fields.ref, empty}, leaderboard.ErrSeqAhead},
		"one is gone":              {[]leaderboard.PeriodRef{fields.ref, gone, high.ref}, leaderboard.ErrPeriodNotFound},
	} {
		if got, err := s.past(t.Context(), c.refs, "a"); !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// tiebreakOf returns the tiebreak that a member has on a board.
func tiebreakOf(t *testing.T, s Subject, b *board, member string) int64 {
	t.Helper()
	got, err := s.Rankings.Members(t.Context(), b.ref, leaderboard.MembersQuery{
		Query: leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: b.last}, Members: []string{member},
	})
	if err != nil || len(got.Entries) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	return got.Entries[0].Tiebreak
}

// testManyStandings: more boards than one statement counts on.
func testManyStandings(t *testing.T, s Subject) {
	name := boardName(t)[:min(50, len(boardName(t)))]
	var boards []*board
	var want []string
	for i := range 70 {
		b := newBoardNamed(t, s, fmt.Sprintf("%s-%d", name, i), leaderboard.Rules{})
		b.submit(at("m", 50, 9), at("better", 60, 1))
		for k := range i % 4 {
			b.submit(at(fmt.Sprintf("tied%d", k), 50, leaderboard.Micros(k)))
		}
		boards = append(boards, b)
		want = append(want, fmt.Sprintf("%d/2 m 50:0 of %d", 2+i%4, 2+i%4))
	}
	if got := standings(t, s, boards, "m"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
