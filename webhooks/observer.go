package webhooks

import "time"

// Observer hears what happens, for metrics. Its method must not block.
type Observer interface {
	// AttemptNoted is called after each attempt that was noted, with whether it delivered the event and whether it was the last.
	AttemptNoted(delivered, last bool, took time.Duration)
}

// unobserved is for nobody.
type unobserved struct{}

// AttemptNoted implements Observer.
func (unobserved) AttemptNoted(bool, bool, time.Duration) {}
