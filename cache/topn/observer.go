package topn

import (
	"time"

	"leaderboard/leaderboard"
)

// Observer receives events for metrics. Its methods must not block.
type Observer interface {
	// CopyBuilt is called after each full build of a copy.
	CopyBuilt(p leaderboard.PeriodRef, o leaderboard.CopyOutcome, took time.Duration, err error)
	// ApplyFailed is called when Redis or MySQL fails and a copy cannot be brought up to date.
	ApplyFailed()
}

// unobserved is for nobody.
type unobserved struct{}

// CopyBuilt implements Observer.
func (unobserved) CopyBuilt(leaderboard.PeriodRef, leaderboard.CopyOutcome, time.Duration, error) {}

// ApplyFailed implements Observer.
func (unobserved) ApplyFailed() {}
