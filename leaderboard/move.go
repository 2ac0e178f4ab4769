package leaderboard

// MaxPassed is how many members a Moved names at most.
const MaxPassed = 10

// Move is the change of a member's entry by a submission, for a query of the ranks before and after.
type Move struct {
	Member  string
	Old     *Entry   // nil: it had none
	New     *Entry   // nil: not known, as of a request that is repeated; then it is the entry that the member has, without Old
	Friends []string // other members, all distinct; the answer lists the passed ones among them
}

// MovesQuery asks for the ranks before and after each of up to MaxLimit moves. A member may have several.
type MovesQuery struct {
	Query
	Moves []Move
}

// Moved is the answer to a move in one state of the period. The member's own entry in that state, which may have
// changed since, is not counted: so a first who improves was first before. Dense ranks are present under the same
// condition as in Ranked.
type Moved struct {
	Ranks           // of the new entry
	Previous *Ranks // of the old one, nil without one
	Passed   []string
	Replaced bool // the member has another entry there than the new one
}

// Moves are the answers to moves, in their order, all in one state. An answer is nil when the member has no entry in
// it: the member is hidden, or the entry was removed since.
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
