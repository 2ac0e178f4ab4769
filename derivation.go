package leaderboard

// DerivationState says how a derived board stands to its sources.
type DerivationState string

const (
	// DerivationStateFollowing: the entries are those of one state of the sources, which change behind it.
	DerivationStateFollowing DerivationState = "following"
	// DerivationStateRolling: time has turned, the entries are still those of the sources before.
	DerivationStateRolling DerivationState = "rolling"
	// DerivationStateComputing: the entries are being computed anew; until that is done they may be of several states.
	DerivationStateComputing DerivationState = "computing"
)

// Derivation is what the entries of a derived board reflect.
type Derivation struct {
	Board   string
	Seq     int64 // of the board's period
	AsOf    Micros
	State   DerivationState
	Lag     int64 // changes of the sources that are not reflected yet
	Sources []SourceState
}

// SourceState is one source of a derived board.
type SourceState struct {
	Board   string
	Window  Window
	Period  string // "" when there is none, for want of the board or of a season
	Weight  int64
	Seq     int64 // the state that the entries reflect, 0 before they reflect any
	LastSeq int64 // the state that the source is in
}

// DeriveStep is what one step of following did.
type DeriveStep struct {
	State   DerivationState // what the step found
	Clock   Micros          // database clock: what was committed to the sources before it is reflected
	Behind  int64           // changes of the sources that the step found
	Members int64           // members looked at
	Rows    int64           // entries that differed
	FromSeq int64           // states of the board's period before and behind the step
	ToSeq   int64
}
