package leaderboard

// DataList is one list in a member's stored data.
type DataList struct {
	Name string
	One  bool // it has at most one record, which is shown without a list around it
}

// MemberRecord is one stored thing about a member: a HiddenMember, a MemberEntry, or a record that a feature shows.
type MemberRecord struct {
	List   string // the name of its list
	Record any
}

// MemberEntry is an entry with the period that it is in.
type MemberEntry struct {
	Entry
	Period PeriodRef
	Hidden bool // it is in no answer of the period
	// Metadata is a JSON object; "": none.
	Metadata string
}

// Erasure is the progress of the removal of a member from everywhere.
type Erasure struct {
	Member    string
	Done      bool   // all that is left ages out: the change log, the receipts of idempotency keys
	Entries   int64  // removed so far, in all periods of all boards
	StartedAt Micros // database clock
}
