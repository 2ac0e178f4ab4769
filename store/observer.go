package store

import "time"

// Observer receives events for metrics. Its method must not block.
type Observer interface {
	// BatchEnded is called once per batch, with how long the first of its requests had waited when it was begun, and the error
	// that all of them got, if any.
	BatchEnded(requests, rows int, waited, took time.Duration, err error)
}

// unobserved is for nobody.
type unobserved struct{}

// BatchEnded implements Observer.
func (unobserved) BatchEnded(int, int, time.Duration, time.Duration, error) {}
