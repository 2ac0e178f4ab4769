package cache

import "leaderboard/leaderboard"

// Observer receives events for metrics. Its methods must not block.
type Observer interface {
	// AnswerGiven is called for each answer.
	AnswerGiven(source leaderboard.Source, stale bool)
	// MemoryAnswered is called as well for an answer from a period in memory.
	MemoryAnswered()
	// FallbackRefused is called for each read that is refused because too many wait for the database.
	FallbackRefused()
	// BreakerTurned is called when a server of Redis is left alone, and when it no longer is: host:port in a cluster, otherwise "".
	BreakerTurned(server string, open bool)
}

// unobserved is for nobody.
type unobserved struct{}

// AnswerGiven implements Observer.
func (unobserved) AnswerGiven(leaderboard.Source, bool) {}

// MemoryAnswered implements Observer.
func (unobserved) MemoryAnswered() {}

// FallbackRefused implements Observer.
func (unobserved) FallbackRefused() {}

// BreakerTurned implements Observer.
func (unobserved) BreakerTurned(string, bool) {}
