package leaderboard

// Revision names a state of a period: its incarnation, the number of its last change, and the database time of the
// commit that led to it. A database that was restored from a backup gives ids again: two periods with one id differ in
// Incarnation, two branches of one incarnation that reach the same Seq differ in AsOf.
type Revision struct {
	Incarnation int64 // random, drawn when the period is created, never 0
	Seq         int64
	AsOf        Micros
}

// Covers reports whether the revision is another one or later: of the same incarnation, and neither number is less.
func (r Revision) Covers(other Revision) bool {
	return r.Incarnation == other.Incarnation && r.Seq >= other.Seq && r.AsOf >= other.AsOf
}

// KeysPeriod is the id under which the feed watches the table of API keys as if it were a period: the Seq of its
// revision is the number of changes and AsOf the time of the last change; before the first change the revision is zero.
// No period has this id.
const KeysPeriod int64 = 0

// BoardsPeriod is the same of the boards: its revision changes when a board is made or deleted, or its rules change.
const BoardsPeriod int64 = -1

// TokensPeriod is the id under which the feed watches the tables of players' tokens: issuers, signing keys and bars.
const TokensPeriod int64 = -3

// ClockPeriod is the id under which the feed gets the database clock, in AsOf, with every statement.
const ClockPeriod int64 = -2

// boardPeriods is the id of board 0 among the periods. It is below the ids of the tables.
const boardPeriods int64 = -1 << 62

// BoardPeriod returns the id under which a board is watched among the periods: its revision is Board.Revision. A deleted board
// has no revision.
func BoardPeriod(boardID int64) int64 { return boardPeriods + boardID }

// BoardOf returns the board that an id stands for; ok is false when it stands for a period, or a table.
func BoardOf(id int64) (boardID int64, ok bool) {
	return id - boardPeriods, id < boardPeriods/2
}

// Revision returns the revision that the feed has of the board while its rules are these.
func (b *Board) Revision() Revision { return Revision{Seq: b.Version, AsOf: b.UpdatedTime} }

// NewIncarnation returns the incarnation of a new period, of random bits.
func NewIncarnation(random func() uint64) int64 {
	for {
		if n := int64(random()); n != 0 {
			return n
		}
	}
}

// Change is one step of a period: an entry appeared (Old nil), was replaced, or was removed (New nil).
type Change struct {
	Seq    int64
	Member string
	Old    *Entry
	New    *Entry
}

// Commit is one row of the change log: the changes of one period by one transaction, from seq FirstSeq to LastSeq
// without a gap. It leads from the revision From to the revision To.
type Commit struct {
	PeriodID        int64
	Incarnation     int64
	FirstSeq        int64
	LastSeq         int64
	PrevCommittedAt Micros
	CommittedAt     Micros // see CommitTime
	EntryCount      int64  // entries of the period at LastSeq
	Changes         []Change
}

// From returns the revision that the commit starts from.
func (c *Commit) From() Revision { return Revision{c.Incarnation, c.FirstSeq - 1, c.PrevCommittedAt} }

// To returns the revision that the commit leads to.
func (c *Commit) To() Revision { return Revision{c.Incarnation, c.LastSeq, c.CommittedAt} }

// PeriodRevision is a revision of one period of many.
type PeriodRevision struct {
	PeriodID int64
	Revision
}

// LogPart is the part of the change log of one period after a revision.
type LogPart struct {
	At      Revision // of the period when the log was read; commits end before it when they are many
	Closed  bool     // the period was over by then: only a correction changes it
	Commits []Commit // the first one starts from the requested revision; none when that is At
	Err     error    // why the log does not lead on; there are no commits then
}

// CommitTime returns the time of the commit that makes these changes: the database clock, but later than the revision
// before, so that the two differ, and not before any entry of the commit. The entries in one batch have times a
// microsecond apart, so the last times are ahead of the clock.
func CommitTime(clock, before Micros, changes []Change) Micros {
	at := max(clock, before+1)
	for i := range changes {
		if e := changes[i].New; e != nil {
			at = max(at, e.CreatedTime)
		}
	}
	return at
}
