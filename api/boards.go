package api

import (
	"time"

	"leaderboard/leaderboard"
)

// Board is a board with all its rules.
type Board struct {
	Name string `json:"name"`
	leaderboard.Rules
	CreatedTime time.Time `json:"created_time"`
	UpdatedTime time.Time `json:"updated_time"`
	Stale       bool      `json:"stale,omitzero"` // MySQL does not answer: these are the last known rules
	ETag        string    `json:"-"`              // of this state of the rules, for PatchBoard; not in lists
}

// Boards is a part of the list of boards.
type Boards struct {
	Boards     []Board `json:"boards"`
	NextCursor string  `json:"next_cursor,omitzero"` // "": no more
	Stale      bool    `json:"stale,omitzero"`       // MySQL does not answer: these are the boards and rules that were known last
}

// Period is one period of a board.
type Period struct {
	Window   leaderboard.Window      `json:"window"`
	Period   string                  `json:"period"`    // the name in requests
	StartsAt *time.Time              `json:"starts_at"` // nil of all_time
	EndsAt   *time.Time              `json:"ends_at"`   // exclusive; nil when it has no end
	State    leaderboard.PeriodState `json:"state"`
	Seq      int64                   `json:"seq"`
	Total    int64                   `json:"total"` // entries
	AsOf     time.Time               `json:"as_of"`
}

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

// SourceCondition is a condition that a source must meet to count.
type SourceCondition string

const (
	// SourceConditionPresent: its entries count.
	SourceConditionPresent SourceCondition = "present"
	// SourceConditionEmpty: the period has no entries yet, or has not begun.
	SourceConditionEmpty SourceCondition = "empty"
	// SourceConditionNoBoard: there is no board with this name.
	SourceConditionNoBoard SourceCondition = "no_board"
	// SourceConditionNoWindow: the board does not have the window.
	SourceConditionNoWindow SourceCondition = "no_window"
	// SourceConditionNoPeriod: the window cannot have a period with this name.
	SourceConditionNoPeriod SourceCondition = "no_period"
	// SourceConditionDerived: the board is derived itself, so it cannot be a source.
	SourceConditionDerived SourceCondition = "derived"
	// SourceConditionLeft: it is no longer a source, and counts until the next step.
	SourceConditionLeft SourceCondition = "left"
)

// Derivation is the state of a derived board and its sources.
type Derivation struct {
	Board   string          `json:"board"`
	Seq     int64           `json:"seq"`
	AsOf    time.Time       `json:"as_of"`
	State   DerivationState `json:"state"`
	Lag     int64           `json:"lag"` // changes of the sources that it does not reflect yet
	Sources []Source        `json:"sources"`
}

// Source is a source of a derived board.
type Source struct {
	Board   string             `json:"board"`
	Window  leaderboard.Window `json:"window"`
	Period  string             `json:"period"`
	Weight  int64              `json:"weight"`
	Seq     int64              `json:"seq"`      // the state that the entries reflect
	LastSeq int64              `json:"last_seq"` // the state that the source is in

	Condition SourceCondition `json:"state"` // why it has no entries to count
}
