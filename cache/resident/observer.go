package resident

import "time"

// Observer receives events for metrics. Its methods must not block.
type Observer interface {
	// PeriodLoaded is called after each attempt to load a period.
	PeriodLoaded(entries int64, took time.Duration, err error)
	// PeriodLeft is called when a period leaves the memory.
	PeriodLeft()
	// PeriodsHeld is called once a round with how many periods are in memory, and how many bytes they take.
	PeriodsHeld(periods int, bytes int64)
}

// unobserved is for nobody.
type unobserved struct{}

// PeriodLoaded implements Observer.
func (unobserved) PeriodLoaded(int64, time.Duration, error) {}

// PeriodLeft implements Observer.
func (unobserved) PeriodLeft() {}

// PeriodsHeld implements Observer.
func (unobserved) PeriodsHeld(int, int64) {}
