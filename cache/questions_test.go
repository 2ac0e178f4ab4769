package cache

import (
	"fmt"
	"testing"

	"leaderboard/leaderboard"
)

// TestKeysKnowTheRules: an answer is kept with its encoded form, so rules that show it otherwise must not find it.
func TestKeysKnowTheRules(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i, rules := range []leaderboard.Rules{
		{},
		{Order: leaderboard.OrderAsc},
		{Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderAsc}},
		{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 20}}}},
		{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 21}}}},
		{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "lives", Bits: 21}}}},
	} {
		rules = rules.WithDefaults()
		k := newPending(pageQuestion{onePeriod{leaderboard.PeriodRef{ID: 1, Rules: &rules}}, leaderboard.PageQuery{Limit: 5}}).key()
		if other, ok := seen[k]; ok {
			t.Errorf("rules %d and %d share answers", other, i)
		}
		seen[k] = i
	}
}

// TestKeysOfLongListsAreShort: the key of a long list is kept once for each slice that was read, so it must be short, and
// different for different lists.
func TestKeysOfLongListsAreShort(t *testing.T) {
	t.Parallel()
	rules := leaderboard.Rules{}.WithDefaults()
	ref := leaderboard.PeriodRef{ID: 1, Rules: &rules}
	list := make([]string, leaderboard.MaxMembers)
	for i := range list {
		list[i] = fmt.Sprintf("%064d", i)
	}
	one := newPending(membersQuestion{onePeriod{ref}, leaderboard.MembersQuery{Members: list}}).key()
	other := newPending(membersQuestion{onePeriod{ref}, leaderboard.MembersQuery{Members: list[1:]}}).key()
	if one == other {
		t.Error("two lists share answers")
	}
	if len(one) > 2*leaderboard.MaxMember {
		t.Errorf("the key of %d members takes %d bytes", len(list), len(one))
	}
}
