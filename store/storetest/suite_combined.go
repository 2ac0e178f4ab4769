package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// RunCombined runs the suite of combined rankings on an implementation.
func RunCombined(t *testing.T, s Subject, combined leaderboard.CombinedRankings) {
	for name, test := range map[string]func(*testing.T, Subject, leaderboard.CombinedRankings){
		"example": testCombinedExample, "cursor": testCombinedCursor, "fifty": testCombinedFifty, "rules": testCombinedRules, "periods without a row": testCombinedWithoutRow,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, s, combined) })
	}
}

// several makes boards named after the test, in the order of their names.
func several(t *testing.T, s Subject, rules leaderboard.Rules, entries ...[]leaderboard.Submission) []leaderboard.PeriodRef {
	t.Helper()
	var refs []leaderboard.PeriodRef
	for i := range entries {
		b := newBoardNamed(t, s, fmt.Sprintf("%s-%c", boardName(t)[:min(50, len(boardName(t)))], 'a'+i), rules)
		b.submit(entries[i]...)
		refs = append(refs, b.ref)
	}
	return refs
}

func combinedLines(entries []leaderboard.CombinedRanked, mode leaderboard.Mode) string {
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s %s/%s %d", rankText(mode, e.Ranks), e.Board[len(e.Board)-1:], e.Member, e.Score))
	}
	return strings.Join(out, ", ")
}

// testCombinedWithoutRow: a period without a row takes part without entries.
func testCombinedWithoutRow(t *testing.T, s Subject, combined leaderboard.CombinedRankings) {
	refs := several(t, s, leaderboard.Rules{}, nil, []leaderboard.Submission{at("ada", 90, 5), at("bob", 80, 1)}, nil)
	refs[0], refs[2] = withoutRow(refs[0], 7), withoutRow(refs[2], 8)
	for _, offset := range []int64{0, 1, 2000} {
		page, err := combined.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Offset: offset, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"1 b/ada 90", "2 b/bob 80"}[min(offset, 2):]
		if got := combinedLines(page.Entries, leaderboard.ModeStrict); got != strings.Join(want, ", ") {
			t.Errorf("from %d: %s, want %v", offset, got, want)
		}
		for i, asOf := range map[int]leaderboard.Micros{0: 7, 2: 8} {
			if st := page.States[i]; st.Revision != (leaderboard.Revision{AsOf: asOf}) || st.Total != 0 || st.Stale {
				t.Errorf("from %d: state %d is %+v", offset, i, st)
			}
		}
	}
	found, err := combined.CombinedMember(t.Context(), refs, leaderboard.CombinedMemberQuery{Mode: leaderboard.ModeStrict, Member: "bob"})
	if err != nil || combinedLines(found.Entries, leaderboard.ModeStrict) != "2 b/bob 80" || len(found.States) != 3 || found.States[2].AsOf != 8 {
		t.Errorf("a member: %+v, %v", found, err)
	}
	page, err := combined.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Around: "ada", Limit: 5})
	if err != nil || combinedLines(page.Entries, leaderboard.ModeStrict) != "1 b/ada 90, 2 b/bob 80" {
		t.Errorf("around: %+v, %v", page, err)
	}
}

func testCombinedExample(t *testing.T, s Subject, combined leaderboard.CombinedRankings) {
	refs := several(
		t, s, leaderboard.Rules{},
		[]leaderboard.Submission{at("ada", 90, 5), at("bob", 80, 1), at("eve", 70, 3)},
		[]leaderboard.Submission{at("ada", 80, 2), at("cid", 90, 4)},
		[]leaderboard.Submission{at("eve", 70, 3), at("bob", 80, 1)},
		nil,
	)
	for mode, want := range map[leaderboard.Mode]string{
		leaderboard.ModeStrict: "1 b/cid 90, 2 a/ada 90, 3 a/bob 80, 4 c/bob 80, 5 b/ada 80, 6 a/eve 70, 7 c/eve 70",
		leaderboard.ModeTied:   "1 b/cid 90, 1 a/ada 90, 3 a/bob 80, 3 c/bob 80, 3 b/ada 80, 6 a/eve 70, 6 c/eve 70",
		leaderboard.ModeAll:    "1/1/0 b/cid 90, 2/1/0 a/ada 90, 3/3/0 a/bob 80, 4/3/0 c/bob 80, 5/3/0 b/ada 80, 6/6/0 a/eve 70, 7/6/0 c/eve 70",
	} {
		lines := strings.Split(want, ", ")
		for offset := range len(lines) + 2 {
			page, err := combined.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: mode, Offset: int64(offset), Limit: 3})
			if err != nil {
				t.Fatal(err)
			}
			part := lines[min(offset, len(lines)):min(offset+3, len(lines))]
			if got := combinedLines(page.Entries, mode); got != strings.Join(part, ", ") || leaderboard.Total(page.States) != 7 || len(page.States) != 4 {
				t.Errorf("%s from %d: %s, want %v, of %+v", mode, offset, got, part, page.States)
			}
		}
		page, err := combined.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: mode, Around: "eve", Before: 2, Limit: 4})
		if err != nil {
			t.Fatal(err)
		}
		if got := combinedLines(page.Entries, mode); got != strings.Join(lines[3:7], ", ") {
			t.Errorf("%s around eve: %s", mode, got)
		}
		standings, err := combined.CombinedMember(t.Context(), refs, leaderboard.CombinedMemberQuery{Mode: mode, Member: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range standings.Entries {
			if want := map[string]int64{"a": 1, "b": 3}[e.Board[len(e.Board)-1:]]; e.Tied != want {
				t.Errorf("tied rank is %d, want %d", e.Tied, want)
			}
		}
		if got := combinedLines(standings.Entries, mode); got != lines[1]+", "+lines[4] {
			t.Errorf("%s of ada: %s", mode, got)
		}
	}
	if standings, err := combined.CombinedMember(t.Context(), refs, leaderboard.CombinedMemberQuery{Mode: leaderboard.ModeStrict, Member: "nobody"}); err != nil || len(standings.Entries) != 0 {
		t.Errorf("nobody: %+v, %v", standings, err)
	}
	_, err := combined.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Around: "nobody", Limit: 3})
	if !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("around nobody: %v", err)
	}
}

// testCombinedCursor walks through boards that have the same entries, three times over.
func testCombinedCursor(t *testing.T, s Subject, combined leaderboard.CombinedRankings) {
	var entries []leaderboard.Submission
	for i := range 20 {
		entries = append(entries, at(fmt.Sprintf("m%02d", i), int64(i/4), leaderboard.Micros(i/2)))
	}
	refs := several(t, s, leaderboard.Rules{Order: leaderboard.OrderAsc}, entries, entries, entries[:10])
	for _, mode := range []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeAll} {
		all, err := combined.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: mode, Limit: 100})
		if err != nil || len(all.Entries) != 50 || all.Next != "" {
			t.Fatalf("%+v, %v", all, err)
		}
		var walked []leaderboard.CombinedRanked
		q := leaderboard.CombinedQuery{Mode: mode, Limit: 3}
		for range 50 {
			page, err := combined.CombinedPage(t.Context(), refs, q)
			if err != nil {
				t.Fatal(err)
			}
			walked = append(walked, page.Entries...)
			if q.After, q.AfterBoard = page.Next, page.NextBoard; page.Next == "" {
				break
			}
		}
		if !slices.Equal(walked, all.Entries) {
			t.Errorf("%s pages add up to %s\nwant %s", mode, combinedLines(walked, mode), combinedLines(all.Entries, mode))
		}
	}
}

// testCombinedFifty ranks the greatest number of boards, with one member on all of them, first to last.
func testCombinedFifty(t *testing.T, s Subject, combined leaderboard.CombinedRankings) {
	var refs []leaderboard.PeriodRef
	for i := range leaderboard.MaxCombined {
		b := newBoardNamed(t, s, fmt.Sprintf("%s-%02d", boardName(t)[:min(50, len(boardName(t)))], i), leaderboard.Rules{})
		b.submit(at("everywhere", int64(-i), 1), at(fmt.Sprint("only ", i), int64(-i), 1))
		refs = append(refs, b.ref)
	}
	standings, err := combined.CombinedMember(t.Context(), refs, leaderboard.CombinedMemberQuery{Mode: leaderboard.ModeStrict, Member: "everywhere"})
	if err != nil || len(standings.Entries) != len(refs) {
		t.Fatalf("%d entries, %v", len(standings.Entries), err)
	}
	for i, e := range standings.Entries {
		if want := int64(2*i + 1); e.Strict != want || e.Tied != want || e.Board != refs[i].Board {
			t.Errorf("entry %d is number %d and %d, on %s", i, e.Strict, e.Tied, e.Board)
		}
	}
	for _, offset := range []int64{0, 95, 2000} {
		page, err := combined.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: leaderboard.ModeTied, Offset: offset, Limit: 10})
		if want := min(10, max(0, 100-int(offset))); err != nil || len(page.Entries) != want || leaderboard.Total(page.States) != 100 {
			t.Fatalf("%d entries from %d on, %v", len(page.Entries), offset, err)
		}
		for i, e := range page.Entries {
			if want := (offset + int64(i)) / 2 * 2; e.Tied != want+1 || e.Score != -want/2 {
				t.Errorf("entry %d is number %d with %d", offset+int64(i), e.Tied, e.Score)
			}
		}
	}
}

func testCombinedRules(t *testing.T, s Subject, combined leaderboard.CombinedRankings) {
	refs := several(t, s, leaderboard.Rules{}, nil, nil)
	other := newBoardNamed(t, s, boardName(t)[:min(50, len(boardName(t)))]+"-z", leaderboard.Rules{Order: leaderboard.OrderAsc}).ref
	backwards := []leaderboard.PeriodRef{refs[1], refs[0]}
	for name, c := range map[string]struct {
		refs []leaderboard.PeriodRef
		mode leaderboard.Mode
		code string
	}{
		"none":     {nil, leaderboard.ModeStrict, leaderboard.CodeTooManyBoards},
		"51":       {slices.Repeat(refs[:1], 51), leaderboard.ModeStrict, leaderboard.CodeTooManyBoards},
		"twice":    {slices.Repeat(refs[:1], 2), leaderboard.ModeStrict, leaderboard.CodeInvalidBoard},
		"unsorted": {backwards, leaderboard.ModeStrict, leaderboard.CodeInvalidBoard},
		"orders":   {append(refs[:1:1], other), leaderboard.ModeStrict, leaderboard.CodeBoardsDiffer},
		"dense":    {refs, leaderboard.ModeDense, leaderboard.CodeModeNotAvailable},
	} {
		var broken *leaderboard.RuleError
		_, err := combined.CombinedPage(t.Context(), c.refs, leaderboard.CombinedQuery{Mode: c.mode, Limit: 3})
		if !errors.As(err, &broken) || broken.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if _, err := combined.CombinedMember(t.Context(), c.refs, leaderboard.CombinedMemberQuery{Mode: c.mode, Member: "m"}); !errors.As(err, &broken) || broken.Code != c.code {
			t.Errorf("%s, a member: %v, want %s", name, err, c.code)
		}
	}
	if page, err := combined.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: leaderboard.ModeTied, Limit: 3}); err != nil || len(page.Entries) != 0 {
		t.Errorf("empty boards: %+v, %v", page, err)
	}
	if err := s.Database.DeleteBoard(t.Context(), refs[0].Board); err != nil {
		t.Fatal(err)
	}
	q := leaderboard.CombinedQuery{Mode: leaderboard.ModeTied, Limit: 3, Offset: 5000}
	if _, err := combined.CombinedPage(t.Context(), refs, q); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("a board is gone: %v", err)
	}
}
