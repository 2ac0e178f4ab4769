package players

// observed is an Observer that calls a function.
type observed func(good bool)

// TokenVerified implements Observer.
func (o observed) TokenVerified(good bool) { o(good) }
