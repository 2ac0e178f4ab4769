package storetest

import (
	"fmt"
	"slices"
	"testing"

	"leaderboard/leaderboard"
)

// movesText is moves as a test writes them: ranks before and after, who was passed, and whether the entry was replaced since.
func movesText(m *leaderboard.Moves, mode leaderboard.Mode) (out []string) {
	for _, one := range m.Moved {
		if one == nil {
			out = append(out, "none")
			continue
		}
		before := "none"
		if one.Previous != nil {
			before = rankText(mode, *one.Previous)
		}
		text := fmt.Sprint(before, " to ", rankText(mode, one.Ranks), " ", one.Passed)
		if one.Replaced {
			text += " replaced"
		}
		out = append(out, text)
	}
	return out
}

// testMoves: both ranks of a move are the ranks of its keys among the other entries.
func testMoves(t *testing.T, s Subject) {
	b := newBoard(t, s, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	b.submit(at("a", 50, 1), at("b", 40, 2), at("c", 40, 3), at("d", 30, 4), at("e", 20, 5), at("f", 20, 6))
	entry := func(member string, score int64, created leaderboard.Micros) *leaderboard.Entry {
		return &leaderboard.Entry{Member: member, Score: score, CreatedTime: created}
	}
	all := []string{"a", "b", "c", "d", "e", "f", "nobody"}
	but := func(member string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(m string) bool { return m == member })
	}
	moves := []leaderboard.Move{
		{Member: "a", Old: entry("a", 45, 1), New: entry("a", 50, 1), Friends: but("a")},   // the first stays the first
		{Member: "a", Old: entry("a", 10, 1), New: entry("a", 50, 1), Friends: but("a")},   // from the last place
		{Member: "d", Old: entry("d", 60, 1), New: entry("d", 30, 4), Friends: but("d")},   // down
		{Member: "e", New: entry("e", 20, 5), Friends: but("e")},                           // a first entry
		{Member: "e", Old: entry("e", 20, 5), New: entry("e", 20, 5), Friends: but("e")},   // nothing
		{Member: "f", Old: entry("f", 15, 1), New: entry("f", 20, 6), Friends: []string{}}, // tied with another
		{Member: "c", Old: entry("c", 30, 9), New: entry("c", 35, 9), Friends: but("c")},   // it has moved on since
		{Member: "d", Old: entry("d", 10, 1), New: entry("d", 25, 1), Friends: but("d")},   // and was alone with its score
		{Member: "c", New: entry("c", 40, 9), Friends: but("c")},                           // it has moved on to another time
		{Member: "b"}, // without its old entry
		{Member: "nobody", Old: entry("nobody", 1, 1), New: entry("nobody", 99, 1), Friends: all[:6]},
		{Member: "nobody"},
	}
	for mode, want := range map[leaderboard.Mode][]string{
		leaderboard.ModeStrict: {
			"1 to 1 []", "6 to 1 [b c d e f]", "1 to 4 []", "none to 5 []", "5 to 5 []", "6 to 6 []", "4 to 3 [d] replaced", "6 to 4 [e f] replaced", "none to 3 [] replaced", "none to 2 []", "none", "none",
		},
		leaderboard.ModeTied: {
			"1 to 1 []", "6 to 1 [b c d e f]", "1 to 4 []", "none to 5 []", "5 to 5 []", "6 to 5 []", "3 to 3 [d] replaced", "6 to 4 [e f] replaced", "none to 2 [] replaced", "none to 2 []", "none", "none",
		},
		leaderboard.ModeDense: {
			"1 to 1 []", "4 to 1 [b c d e f]", "1 to 3 []", "none to 4 []", "4 to 4 []", "5 to 4 []", "3 to 3 [d] replaced", "4 to 3 [e f] replaced", "none to 2 [] replaced", "none to 2 []", "none", "none",
		},
	} {
		got, err := s.Rankings.Moves(t.Context(), b.ref, leaderboard.MovesQuery{Query: b.query(mode), Moves: moves})
		if err != nil {
			t.Fatal(err)
		}
		if text := movesText(got, mode); !slices.Equal(text, want) {
			t.Errorf("%s:\n%q, want\n%q", mode, text, want)
		}
		b.checkState(got.State)
	}
	got, err := s.Rankings.Moves(t.Context(), b.ref, leaderboard.MovesQuery{Query: b.query(leaderboard.ModeTied)})
	if err != nil || len(got.Moved) != 0 {
		t.Errorf("no moves: %+v, %v", got, err)
	}
}
