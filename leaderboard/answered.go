package leaderboard

import "sync/atomic"

// Answered is the answer to a question about one or several periods: a *Page, *Standings, *ScoreRank, *Distribution,
// *Moves, *CombinedPage or *CombinedStandings. It is exact at the states that it names.
type Answered interface {
	// At returns the state of the period that was asked about as the i-th, from 0.
	At(i int) *State
	// From returns a copy of the answer that names another source and may be marked stale. The entries are shared.
	From(source Source, stale bool) Answered
	// Len returns how many entries the answer has, or buckets.
	Len() int
}

// Encoded keeps the encoded forms of an answer with the answer, for the next caller who is given it. The encoder decides what
// the forms are. The same answer from another source has the same forms.
type Encoded struct{ forms atomic.Value }

// Forms returns the forms that were kept, or nil.
func (e *Encoded) Forms() any { return e.forms.Load() }

// Keep keeps the forms unless others are kept already. It returns the kept forms.
func (e *Encoded) Keep(forms any) any {
	if e.forms.CompareAndSwap(nil, forms) {
		return forms
	}
	return e.forms.Load()
}

func (s State) from(source Source, stale bool) State {
	s.Source, s.Stale = source, stale
	return s
}

// StatesFrom returns copies of the states that name another source and may be marked stale.
func StatesFrom(states []State, source Source, stale bool) []State {
	out := make([]State, len(states))
	for i := range states {
		out[i] = states[i].from(source, stale)
	}
	return out
}

// At implements Answered.
func (p *Page) At(int) *State { return &p.State }

// From implements Answered.
func (p *Page) From(source Source, stale bool) Answered {
	c := *p
	c.State = c.from(source, stale)
	return &c
}

// Len implements Answered.
func (p *Page) Len() int { return len(p.Entries) }

// At implements Answered.
func (s *Standings) At(int) *State { return &s.State }

// From implements Answered.
func (s *Standings) From(source Source, stale bool) Answered {
	c := *s
	c.State = c.from(source, stale)
	return &c
}

// Len implements Answered.
func (s *Standings) Len() int { return len(s.Entries) + len(s.NotRanked) }

// At implements Answered.
func (s *ScoreRank) At(int) *State { return &s.State }

// From implements Answered.
func (s *ScoreRank) From(source Source, stale bool) Answered {
	c := *s
	c.State = c.from(source, stale)
	return &c
}

// Len implements Answered.
func (*ScoreRank) Len() int { return 0 }

// At implements Answered.
func (d *Distribution) At(int) *State { return &d.State }

// From implements Answered.
func (d *Distribution) From(source Source, stale bool) Answered {
	c := *d
	c.State = c.from(source, stale)
	return &c
}

// Len implements Answered.
func (d *Distribution) Len() int { return len(d.Buckets) }

// At implements Answered.
func (p *CombinedPage) At(i int) *State { return &p.States[i] }

// From implements Answered.
func (p *CombinedPage) From(source Source, stale bool) Answered {
	c := *p
	c.States = StatesFrom(p.States, source, stale)
	return &c
}

// Len implements Answered.
func (p *CombinedPage) Len() int { return len(p.Entries) }

// At implements Answered.
func (s *CombinedStandings) At(i int) *State { return &s.States[i] }

// From implements Answered.
func (s *CombinedStandings) From(source Source, stale bool) Answered {
	c := *s
	c.States = StatesFrom(s.States, source, stale)
	return &c
}

// Len implements Answered.
func (s *CombinedStandings) Len() int { return len(s.Entries) }
