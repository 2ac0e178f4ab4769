package leaderboard

import "context"

// MaxStandings is how many boards a question about the standings of a member is about at most.
const MaxStandings = 200

// PastEntry is the entry of a member in one period, exact at the state that it names.
type PastEntry struct {
	State
	Ranked *Ranked // nil: the member has no entry; the dense rank is never known
}

// Pasts returns the entries of a member in many periods at once, much faster than one by one. The periods may belong to one
// board or to several, and must be distinct, if they have a row; the answers are in their order. Each answer is exact at
// its own state, whose seq is at least the period's LastSeq. The store, the in-memory model and the cached reader implement
// it. Errors: the errors of Rankings except ErrNotRanked; ErrPeriodNotFound when one of the periods is gone.
type Pasts interface {
	Past(ctx context.Context, periods []PeriodRef, member string) ([]PastEntry, error)
}
