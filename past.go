package leaderboard

import "context"

// Bounds of a question about a member's past.
const (
	MaxPast     = 100 // periods that it looks at
	DefaultPast = 30
)

// PastEntry is what a member has in one period, and the state of the period that this is exact at.
type PastEntry struct {
	State
	Ranked *Ranked // nil: the member has no entry; the dense rank is never known
}

// Pasts answers what a member has in many periods at once, for far less than the price of asking about each. The periods
// are those of one board, none twice, and none of them Quiet; the answers are in their order. The store, the in-memory
// model and the cached reader implement it. Errors: those of Rankings, but for ErrNotRanked; ErrPeriodNotFound when one of
// the periods is gone.
type Pasts interface {
	Past(ctx context.Context, periods []PeriodRef, member string) ([]PastEntry, error)
}
