package leaderboard

// Change is one step of a period: an entry appeared (Old nil), moved, or was removed (New nil).
type Change struct {
	Seq    int64
	Member string
	Old    *Entry
	New    *Entry
}

// Commit is one row of the change log: the changes of one period that one transaction made, with seq
// FirstSeq to LastSeq and no gap. CommittedAt names the state it leads to, PrevCommittedAt the state it started from:
// two histories that reach the same seq (a database restored from a backup) differ in it.
type Commit struct {
	PeriodID        int64
	FirstSeq        int64
	LastSeq         int64
	PrevCommittedAt Micros
	CommittedAt     Micros // see CommitTime
	EntryCount      int64  // entries of the period at LastSeq
	Changes         []Change
}

// FromSeq is the seq of the state that the commit starts from.
func (c *Commit) FromSeq() int64 { return c.FirstSeq - 1 }

// CommitTime is when the state that changes lead to is said to be committed: by the database clock, but later than the
// state before, which it has to be told from, and not before any entry in it. The times assigned to the entries of one
// batch are a microsecond apart, so the last of them are ahead of the clock.
func CommitTime(clock, before Micros, changes []Change) Micros {
	at := max(clock, before+1)
	for i := range changes {
		if e := changes[i].New; e != nil {
			at = max(at, e.CreatedTime)
		}
	}
	return at
}
