package leaderboard

// PeriodState says whether a period still changes.
type PeriodState string

// Open periods take submissions, closed ones never change again.
const (
	PeriodStateOpen   PeriodState = "open"
	PeriodStateClosed PeriodState = "closed"
)

// Period is one board × window × start. A member has at most one entry in it.
type Period struct {
	ID         int64
	History    int64 // see Revision
	BoardID    int64
	Window     Window
	Label      string // the name that it was given when it was made, "" for that of its window
	StartsAt   Micros
	EndsAt     Micros // exclusive; Forever when it has no end
	State      PeriodState
	LastSeq    int64  // changes committed so far
	EntryCount int64  // entries at LastSeq
	Committed  Micros // database time of the commit that led to LastSeq; of the creation when LastSeq is 0
}

// Name returns the period's name in the API, as in "2026-11-20" or "all_time".
func (p *Period) Name() string {
	if p.Label == "" {
		return string(p.Window)
	}
	return p.Label
}

// Revision returns that of the period's last commit.
func (p *Period) Revision() Revision { return Revision{p.History, p.LastSeq, p.Committed} }

// Ref returns what a reader of the period needs to know. The rules of the board are shared.
func (p *Period) Ref(b *Board) PeriodRef {
	ref := PeriodRef{
		ID: p.ID, History: p.History, BoardID: b.ID, Board: b.Name, Window: p.Window, Name: p.Name(), Rules: &b.Rules, Closed: p.State == PeriodStateClosed,
	}
	if ref.Closed {
		ref.LastSeq = p.LastSeq
	}
	if ref.Quiet() {
		ref.AsOf = p.Committed
	}
	return ref
}

// Listing is a board with its current periods at one moment of the database clock.
type Listing struct {
	Board   Board
	Clock   Micros
	Periods []Period // in the order of the board's windows; a window may have none
}

// PeriodRef is all that a reader or a copy needs to know to work on one period. It is a value of its board's rules at
// one version; whoever keeps one for long must look it up again.
type PeriodRef struct {
	ID      int64
	History int64 // who finds another one with the id says ErrPeriodNotFound: the database was restored
	BoardID int64
	Board   string // name
	Window  Window
	Name    string
	Rules   *Rules // never written to
	Closed  bool   // it has reached its last state, but for corrections on purpose
	LastSeq int64  // of a closed one
	AsOf    Micros // of one that is Quiet
	Stale   bool   // the board could not be looked up of late, so all of this may have changed
}

// Quiet says that the period is over and nobody played in it. Nothing is known of it but this: it has no ID, and only
// whoever asks for quiet periods is told of them.
func (p *PeriodRef) Quiet() bool { return p.ID == 0 }
