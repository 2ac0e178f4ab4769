package cache

import (
	"testing"

	"leaderboard"
)

// An answer is kept with its encoded form, so rules that show it otherwise must not find it.
func TestKeysKnowTheRules(t *testing.T) {
	t.Parallel()
	seen := map[pageKey]int{}
	for i, rules := range []leaderboard.Rules{
		{},
		{Order: leaderboard.Asc},
		{Tiebreak: leaderboard.Tiebreak{Order: leaderboard.Asc}},
		{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 20}}}},
		{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 21}}}},
		{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "lives", Bits: 21}}}},
	} {
		rules = rules.WithDefaults()
		k := pageKeyOf(leaderboard.PeriodRef{ID: 1, Rules: &rules}, leaderboard.PageQuery{Limit: 5})
		if other, ok := seen[k]; ok {
			t.Errorf("rules %d and %d share answers", other, i)
		}
		seen[k] = i
	}
}
