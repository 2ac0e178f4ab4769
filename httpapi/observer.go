package httpapi

import (
	"time"

	"leaderboard/internal/trace"
)

// Observer hears what happens, for metrics. Its methods must not block.
type Observer interface {
	// RequestAnswered is called for every answered request.
	RequestAnswered(Answered)
	// StandingsShown is called after each submission that asks for standings.
	StandingsShown(StandingCounts)
	// ConnectionRefused is called for every connection beyond the limits of a Listener.
	ConnectionRefused()
}

// Answered is a request that was answered.
type Answered struct {
	Route     string // the path as in the document, "" when no route matched
	Method    string // one of the standard ones, or "OTHER"
	Status    int
	Took      time.Duration
	RequestID string // taken from the client or made, as the answer has it
	Span      trace.Span
}

// StandingCounts is what became of the standings of a request.
type StandingCounts struct {
	Told int // results with a standing
	None int // of members that are not ranked, or have another entry since, or are so deep that the dense rank is not known
	Late int // what was not there in time
}

// unobserved is for nobody.
type unobserved struct{}

// RequestAnswered implements Observer.
func (unobserved) RequestAnswered(Answered) {}

// StandingsShown implements Observer.
func (unobserved) StandingsShown(StandingCounts) {}

// ConnectionRefused implements Observer.
func (unobserved) ConnectionRefused() {}
