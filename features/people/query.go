package people

import "leaderboard/internal/names"

// Bounds of searches.
const (
	MaxSearched      = 500    // open periods that a search by id reads
	MaxNamesRead     = 10_000 // entries of a period in which a search reads all names
	MaxShownSearched = 5000   // names, and as many ids, that a search in a larger period looks at
)

// MemberQuery asks for members by the beginning of their id or of their display name.
type MemberQuery struct {
	Prefix      string // "": all of them
	ByName      bool   // in the order of names.Fold, then of ids; only members with a name
	AfterName   string // folded by names.Fold; the search continues after it
	AfterMember string
	Limit       int
}

// FoundMembers are members in order.
type FoundMembers struct {
	Members []FoundMember
	// Partial reports that there were too many open periods to search all of them, so members without a profile may be
	// missing.
	Partial bool
}

// FoundMember is a member with its profile, if any.
type FoundMember struct {
	Member  string
	Profile *Profile
}

// ShownQuery asks for the members with a visible entry in a period by a shown name: the display name of a member, or else
// its id. In a period of at most MaxNamesRead entries it finds the names with a word that begins so, without regard to case
// and accents; in a larger period the names that begin so, display names in any case and ids in the exact case.
type ShownQuery struct {
	Period int64  // its id; a period without a row has no entries
	Prefix string // the beginning of the name, or of a word of it
	Whole  bool   // Prefix is the whole name
	After  names.Name
	Limit  int
}

// ShownMembers are members in the order of their shown names.
type ShownMembers struct {
	Members []names.Name
	// Partial reports that the search ended at MaxShownSearched: too many members whose names begin so have no entry in the period.
	Partial bool
}
