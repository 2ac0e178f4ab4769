package leaderboard

// MaxPassed is how many members a Moved names at most.
const MaxPassed = 10

// Move is what a submission has made of the entry of a member, of which the ranks before and after are asked for.
type Move struct {
	Member  string
	Old     *Entry   // nil: it had none
	New     *Entry   // nil: not known, as of a request that is repeated; then it is the entry that the member has, without Old
	Friends []string // members, all distinct and none the member itself, among whom those that were passed are looked for
}

// MovesQuery asks what moves come to, at most MaxLimit of them. A member may have several.
type MovesQuery struct {
	Query
	Moves []Move
}

// Moved is what a move comes to in one state of the period. The member's own entry there, which may have moved on, is not
// counted: so the first who gets better was first before. Dense ranks are known as those of a Ranked.
type Moved struct {
	Ranks           // of the new entry
	Previous *Ranks // of the old one, nil without one
	Passed   []string
	Replaced bool // the member has another entry there than the new one
}

// Moves is what moves come to, in their order, all in one state. One is nil when the member has no entry in it: the
// member is hidden, or the entry was removed since.
type Moves struct {
	State
	Moved []*Moved
}

// At implements Answered.
func (m *Moves) At(int) *State { return &m.State }

// From implements Answered.
func (m *Moves) From(source Source, stale bool) Answered {
	c := *m
	c.State = c.from(source, stale)
	return &c
}

// Len implements Answered.
func (m *Moves) Len() int { return len(m.Moved) }
