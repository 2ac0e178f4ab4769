package cache

import "leaderboard/leaderboard"

// observed is an Observer that calls the functions that are set.
type observed struct {
	unobserved
	answer  func(source leaderboard.Source, stale bool)
	refused func()
	breaker func(server string, open bool)
}

// AnswerGiven implements Observer.
func (o observed) AnswerGiven(source leaderboard.Source, stale bool) {
	if o.answer != nil {
		o.answer(source, stale)
	}
}

// FallbackRefused implements Observer.
func (o observed) FallbackRefused() {
	if o.refused != nil {
		o.refused()
	}
}

// BreakerTurned implements Observer.
func (o observed) BreakerTurned(server string, open bool) {
	if o.breaker != nil {
		o.breaker(server, open)
	}
}
