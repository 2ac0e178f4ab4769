package leaderboard

// DataList is a list of what is stored of a member.
type DataList struct {
	Name string
	One  bool // it has one record at most, which is shown without a list around it
}

// MemberRecord is one thing that is stored of a member: a HiddenMember, a MemberEntry, or what a feature shows.
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
