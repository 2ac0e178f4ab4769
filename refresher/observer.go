package refresher

import (
	"time"

	"leaderboard/leaderboard"
)

// Observer receives events for metrics. Its methods must not block.
type Observer interface {
	// RunEnded is called at the end of each run.
	RunEnded(run leaderboard.Run)
	// StepEnded is called after each step of a derived board.
	StepEnded(step leaderboard.DeriveStep, took time.Duration, err error)
	// TickPassedOver is called when a tick of a cron expression comes before the refresh of the former has ended.
	TickPassedOver()
}

// unobserved is for nobody.
type unobserved struct{}

// RunEnded implements Observer.
func (unobserved) RunEnded(leaderboard.Run) {}

// StepEnded implements Observer.
func (unobserved) StepEnded(leaderboard.DeriveStep, time.Duration, error) {}

// TickPassedOver implements Observer.
func (unobserved) TickPassedOver() {}
