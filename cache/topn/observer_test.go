package topn

import (
	"time"

	"leaderboard/leaderboard"
)

// observed is an Observer that calls the functions that are set.
type observed struct {
	built  func(p leaderboard.PeriodRef, o leaderboard.CopyOutcome, took time.Duration, err error)
	failed func()
}

// CopyBuilt implements Observer.
func (o observed) CopyBuilt(p leaderboard.PeriodRef, out leaderboard.CopyOutcome, took time.Duration, err error) {
	if o.built != nil {
		o.built(p, out, took, err)
	}
}

// ApplyFailed implements Observer.
func (o observed) ApplyFailed() {
	if o.failed != nil {
		o.failed()
	}
}
