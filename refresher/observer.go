package refresher

import "leaderboard/leaderboard"

// Observer receives events for metrics. Its methods must not block.
type Observer interface {
	// RunEnded is called at the end of each run.
	RunEnded(run leaderboard.Run)
	// TickPassedOver is called when a tick of a cron expression comes before the refresh of the former has ended.
	TickPassedOver()
}

// unobserved is for nobody.
type unobserved struct{}

// RunEnded implements Observer.
func (unobserved) RunEnded(leaderboard.Run) {}

// TickPassedOver implements Observer.
func (unobserved) TickPassedOver() {}
