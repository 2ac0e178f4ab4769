package derived

import (
	"slices"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// Step is the outcome of one step of following.
type Step struct {
	State   api.DerivationState // the state that the step found
	Long    bool                // nothing was done: the step is a long one, and only a short one was allowed
	Clock   leaderboard.Micros  // database clock: commits to the sources before it are reflected
	Behind  int64               // changes of the sources that the step found
	Members int64               // members looked at
	Rows    int64               // entries that differed
	FromSeq int64               // states of the board's period before and after the step
	ToSeq   int64
}

// withSources returns state, or DerivationStateIncomplete when the board follows its sources and one of them has nothing
// to count until a board is changed.
func withSources(state api.DerivationState, sources []api.Source) api.DerivationState {
	lacking := []api.SourceCondition{api.SourceConditionNoBoard, api.SourceConditionNoWindow, api.SourceConditionNoPeriod, api.SourceConditionDerived}
	lacks := slices.ContainsFunc(sources, func(s api.Source) bool { return slices.Contains(lacking, s.Condition) })
	if state == api.DerivationStateFollowing && lacks {
		return api.DerivationStateIncomplete
	}
	return state
}
