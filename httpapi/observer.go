package httpapi

import (
	"time"

	"leaderboard/internal/trace"
)

// Observer hears events for metrics. Its methods must not block.
type Observer interface {
	// RequestAnswered is called for every answered request.
	RequestAnswered(RequestInfo)
	// StandingsShown is called after each submission that asks for standings.
	StandingsShown(StandingCounts)
	// ConnectionRefused is called for every connection beyond the limits of a Listener.
	ConnectionRefused()
}

// RequestInfo is a request that was answered.
type RequestInfo struct {
	Route     string // the path as in the document, "" when no route matched
	Method    string // one of the standard ones, or "OTHER"
	Status    int
	Took      time.Duration
	RequestID string // from the client or made, as in the answer
	Span      trace.Span
}

// StandingCounts counts the results of a request by their standings.
type StandingCounts struct {
	Told int // results with a standing
	None int // of members that are not ranked, or whose entry was replaced since, or whose dense rank is too deep to be known
	Late int // without a standing in time
}

// unobserved is an Observer that ignores everything.
type unobserved struct{}

// RequestAnswered implements Observer.
func (unobserved) RequestAnswered(RequestInfo) {}

// StandingsShown implements Observer.
func (unobserved) StandingsShown(StandingCounts) {}

// ConnectionRefused implements Observer.
func (unobserved) ConnectionRefused() {}
