package leaderboard

// Window is how a board cuts time into periods.
type Window string

// AllTime has one period without an end.
const AllTime Window = "all_time"

// PeriodState says whether a period still changes.
type PeriodState string

// Open periods take submissions, closed ones never change again.
const (
	PeriodOpen   PeriodState = "open"
	PeriodClosed PeriodState = "closed"
)

// Names of periods that mean another one.
const (
	CurrentPeriod  = "current"
	PreviousPeriod = "previous"
)

// Period is one board × window × start. A member has at most one entry in it.
type Period struct {
	ID         int64
	BoardID    int64
	Window     Window
	StartsAt   Micros
	EndsAt     Micros // exclusive; Forever when it has no end
	State      PeriodState
	LastSeq    int64  // changes committed so far
	EntryCount int64  // entries at LastSeq
	Committed  Micros // database time of the commit that led to LastSeq; of the creation when LastSeq is 0
}

// Name is the period's name in the API: "all_time" for the period of that window.
func (p *Period) Name() string { return string(p.Window) }

// PeriodRef is all that a reader or a copy needs to know to work on one period. It is a value of its board's rules at
// one version; whoever keeps one for long must look it up again.
type PeriodRef struct {
	ID      int64
	BoardID int64
	Board   string // name
	Window  Window
	Name    string
	Rules   *Rules // never written to
}
