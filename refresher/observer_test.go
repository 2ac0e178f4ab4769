package refresher

import "leaderboard/leaderboard"

// observed is an Observer that calls the functions that are set.
type observed struct {
	run  func(leaderboard.Run)
	late func()
}

// RunEnded implements Observer.
func (o observed) RunEnded(run leaderboard.Run) {
	if o.run != nil {
		o.run(run)
	}
}

// TickPassedOver implements Observer.
func (o observed) TickPassedOver() {
	if o.late != nil {
		o.late()
	}
}
