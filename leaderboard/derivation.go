package leaderboard

import "slices"

// DerivationState says how far a derived board is with its sources.
type DerivationState string

const (
	// DerivationStateFollowing: the entries reflect one state of the sources and follow their changes.
	DerivationStateFollowing DerivationState = "following"
	// DerivationStateIncomplete: following, but a source has nothing to count; its Condition says why.
	DerivationStateIncomplete DerivationState = "incomplete"
	// DerivationStateRolling: a rollover has begun, and the entries still reflect the sources before it.
	DerivationStateRolling DerivationState = "rolling"
	// DerivationStateComputing: the entries are being computed from scratch; meanwhile they may belong to several
	// states.
	DerivationStateComputing DerivationState = "computing"
)

// Derivation is the state of the sources that a derived board reflects.
type Derivation struct {
	Board    string
	Revision // of the board's period
	State    DerivationState
	Lag      int64 // changes of the sources that are not reflected yet
	Sources  []SourceState
}

// SourceState is one source of a derived board.
type SourceState struct {
	Board   string
	Window  Window
	Period  string // "" when the board or the season does not exist
	Weight  int64
	Seq     int64 // the state that the entries reflect, 0 before they reflect any
	LastSeq int64 // the state that the source is in

	Condition SourceCondition
}

// With returns s, or DerivationStateIncomplete when the board follows these sources and one of them lacks something.
func (s DerivationState) With(sources []SourceState) DerivationState {
	lacks := slices.ContainsFunc(sources, func(s SourceState) bool { return s.Condition.Lacks() })
	if s == DerivationStateFollowing && lacks {
		return DerivationStateIncomplete
	}
	return s
}

// DeriveStep is the outcome of one step of following.
type DeriveStep struct {
	State   DerivationState // the state that the step found
	Long    bool            // nothing was done: the step is a long one, and only a short one was allowed
	Clock   Micros          // database clock: commits to the sources before it are reflected
	Behind  int64           // changes of the sources that the step found
	Members int64           // members looked at
	Rows    int64           // entries that differed
	FromSeq int64           // states of the board's period before and after the step
	ToSeq   int64
}
