package leaderboard

// MemberRecord is one thing that is stored of a member. One of its fields is set, or the last two.
type MemberRecord struct {
	Hidden *HiddenMember
	Play   *Play
	Entry  *MemberEntry

	// List names the list that a feature tells of, or profile, Record is what it shows there; "": it is one of the above.
	List   string
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
