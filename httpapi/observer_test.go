package httpapi

// observed is an Observer that calls its functions, if they are set.
type observed struct {
	request   func(RequestInfo)
	standings func(StandingCounts)
	refused   func()
}

// RequestAnswered implements Observer.
func (o observed) RequestAnswered(a RequestInfo) {
	if o.request != nil {
		o.request(a)
	}
}

// StandingsShown implements Observer.
func (o observed) StandingsShown(n StandingCounts) {
	if o.standings != nil {
		o.standings(n)
	}
}

// ConnectionRefused implements Observer.
func (o observed) ConnectionRefused() {
	if o.refused != nil {
		o.refused()
	}
}
