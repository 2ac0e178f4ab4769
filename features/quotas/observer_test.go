package quotas

// observed is an Observer that calls a function.
type observed func(err error)

// LeaseAsked implements Observer.
func (o observed) LeaseAsked(err error) { o(err) }
