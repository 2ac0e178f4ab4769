package quotas

// Observer hears what happens, for metrics. Its method must not block.
type Observer interface {
	// LeaseAsked is called with the outcome of each lease.
	LeaseAsked(err error)
}

// unobserved is for nobody.
type unobserved struct{}

// LeaseAsked implements Observer.
func (unobserved) LeaseAsked(error) {}
