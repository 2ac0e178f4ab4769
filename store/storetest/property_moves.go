package storetest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"leaderboard"
)

// moved is the moves of results.
func moved(results []leaderboard.Result) (text string) {
	for _, r := range results {
		for _, e := range []*leaderboard.Entry{r.Old, r.New} {
			if e == nil {
				text += "none "
			} else {
				text += fmt.Sprint(*e, " ")
			}
		}
	}
	return text
}

func anyEntryOf(t *rapid.T, member, label string) *leaderboard.Entry {
	return &leaderboard.Entry{
		Member: member, Score: anyScore().Draw(t, label+" score"), Tiebreak: rapid.Int64Range(0, 1).Draw(t, label+" tiebreak"),
		CreatedTime: leaderboard.Micros(rapid.Int64Range(1, 3).Draw(t, label+" time")),
	}
}

// compareMoves asks both sides about moves, in every mode, and returns the questions.
func (h *history) compareMoves(t *rapid.T, members []string) (questions []leaderboard.Question) {
	moves := []leaderboard.Move{{Member: members[len(members)-1]}}
	for _, m := range members {
		move := leaderboard.Move{Member: m, New: anyEntryOf(t, m, "new")}
		if rapid.Bool().Draw(t, "has old") {
			move.Old = anyEntryOf(t, m, "old")
			move.Friends = slices.DeleteFunc(slices.Clone(members), func(f string) bool { return f == m })
		}
		moves = append(moves, move)
	}
	for _, mode := range Modes() {
		ask := leaderboard.MovesQuery{Query: leaderboard.Query{Mode: mode, MinSeq: h.last}, Moves: moves}
		got, err := h.Rankings.Moves(h.ctx, h.ref, ask)
		want, _ := h.model.Moves(h.ctx, h.modelRef, ask)
		same(t, ask, err, got, want, func(m *leaderboard.Moves) (leaderboard.State, any) { return m.State, movesText(m, leaderboard.ModeAll) })
		questions = append(questions, leaderboard.Question{Moves: &ask})
	}
	return questions
}
