package leaderboard

import "slices"

// DerivationState says how a derived board stands to its sources.
type DerivationState string

const (
	// DerivationStateFollowing: the entries are those of one state of the sources, and follow their changes.
	DerivationStateFollowing DerivationState = "following"
	// DerivationStateIncomplete: following, and one of the sources has nothing to count; its Condition says why.
	DerivationStateIncomplete DerivationState = "incomplete"
	// DerivationStateRolling: there was a rollover, and the entries are still those of the sources before it.
	DerivationStateRolling DerivationState = "rolling"
	// DerivationStateComputing: the entries are being computed from scratch; meanwhile they may be of several states.
	DerivationStateComputing DerivationState = "computing"
)

// Derivation is what the entries of a derived board reflect.
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
	Period  string // "" when there is none, for want of the board or of a season
	Weight  int64
	Seq     int64 // the state that the entries reflect, 0 before they reflect any
	LastSeq int64 // the state that the source is in

	Condition SourceCondition
}

// With is s, or DerivationStateIncomplete when the board follows these sources and one of them lacks something.
func (s DerivationState) With(sources []SourceState) DerivationState {
	lacks := slices.ContainsFunc(sources, func(s SourceState) bool { return s.Condition.Lacks() })
	if s == DerivationStateFollowing && lacks {
		return DerivationStateIncomplete
	}
	return s
}

// DerivedBoard is what must be known of a derived board to follow its sources. It is shared, and never changes.
type DerivedBoard struct {
	ID      int64
	Version int64 // of its rules
	Name    string
	Sources []string // names of boards, as the rule lists them
}

// DeriveStep is what one step of following did.
type DeriveStep struct {
	State   DerivationState // what the step found
	Long    bool            // nothing was done, because it takes long and a short step was asked for
	Clock   Micros          // database clock: what was committed to the sources before it is reflected
	Behind  int64           // changes of the sources that the step found
	Members int64           // members looked at
	Rows    int64           // entries that differed
	FromSeq int64           // states of the board's period before and after the step
	ToSeq   int64
}
