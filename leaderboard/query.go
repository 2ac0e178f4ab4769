package leaderboard

import (
	"context"
)

// Source names the layer that an answer came from.
type Source string

// The layers, fastest first.
const (
	SourceLocal Source = "local" // a copy in this process
	SourceRedis Source = "redis"
	SourceMySQL Source = "mysql"
)

// Bounds of a query.
const (
	MaxLimit      = 1000           // entries of a page, members of a list
	MaxFriends    = 5000           // of one member
	MaxMembers    = MaxFriends + 1 // of one question: a member and its friends
	DefaultLimit  = 10
	MaxAroundSide = 500
	DefaultAround = 5
	MaxBuckets    = 1000
)

// State is the revision of a period that an answer is exact at, and where the answer came from (promise B6).
type State struct {
	Revision
	Total  int64 // entries of the period
	Source Source
	Stale  bool // MySQL is away, so there may be something newer; the answer is true at Seq
}

// StateWithoutRow returns the one state of a period without a row.
func StateWithoutRow(p *PeriodRef) State {
	return State{Revision: Revision{AsOf: p.AsOf}, Source: SourceLocal}
}

// Ranked is an entry with its ranks. Strict and Tied are always known. Dense is known in mode dense (or the query
// fails), in mode all where mode dense would know it, and 0 in other modes.
type Ranked struct {
	Ranks
	Entry
	Metadata string // when the query asks for it: a JSON object, "" for none
}

// Query is the common part of all reading queries.
type Query struct {
	Mode   Mode  // of the ranks
	MinSeq int64 // answer from a state at least this new; 0: from any fresh one
	// Metadata: entries come with their metadata, from the database, read at one state. It is for pages and members.
	Metadata bool
}

// PageQuery asks for a run of consecutive entries. It starts, in this order of precedence, around a member, after a
// cursor, at an offset.
type PageQuery struct {
	Query
	Limit  int    // 0 to MaxLimit; around a member: at most 2×MaxAroundSide+1
	Offset int64  // from the best entry
	After  string // sort key (rank.Key); the page starts at the first entry ordered after it
	Around string // member; the page has Before entries ahead of it when there are that many, and is filled up to
	Before int    // Limit at both ends of the period; ErrNotRanked when the member has no entry
}

// Page is a run of entries, best first. Callers share it: it must not be changed.
type Page struct {
	State
	Entries []Ranked
	Next    string // sort key to continue after, "" when the page reaches the end of the period

	Encoded *Encoded // nil unless many callers are given the page
}

// MembersQuery asks for given members, at most MaxMembers, all distinct. It can ask for a part of them: a rank on the
// board costs more than an entry, and is computed only for the entries that the answer shows.
type MembersQuery struct {
	Query
	Members []string
	Limit   int    // maximum number of standings in the answer, 0 for all
	Offset  int    // among them, from the best of the queried members
	Self    string // one of Members whose standing is always in the answer, "" for none
}

// Subset reports whether the answer may leave out members that have an entry, or add the member itself.
func (q *MembersQuery) Subset() bool { return q.Limit > 0 || q.Offset > 0 || q.Self != "" }

// Standing is one member's place on the board, and its Position among the queried members, known in all modes.
type Standing struct {
	Ranked
	Position Ranks
}

// Standings are the places of the members that have an entry, best first, within the bounds of the query, and the
// members without one in the order of the query.
type Standings struct {
	State
	Entries   []Standing
	Self      *Standing // nil if not requested, or not ranked
	Ranked    int       // queried members that have an entry
	NotRanked []string
}

// All returns the entries, followed by the entry of Self, if any.
func (s *Standings) All() []*Ranked {
	out := make([]*Ranked, 0, len(s.Entries)+1)
	for i := range s.Entries {
		out = append(out, &s.Entries[i].Ranked)
	}
	if s.Self != nil {
		out = append(out, &s.Self.Ranked)
	}
	return out
}

// ScoreQuery asks for the rank that a new entry with this score and tiebreak would have.
type ScoreQuery struct {
	MinSeq   int64
	Score    int64
	Tiebreak int64
}

// ScoreRank is the rank that a new entry would have now. Strict counts every entry that is as good, because a new entry
// arrives last. Dense is 0 where it would take a count.
type ScoreRank struct {
	State
	Ranks
}

// DistributionQuery asks for a histogram of the scores.
type DistributionQuery struct {
	MinSeq  int64
	Buckets int // 1 to MaxBuckets; there may be fewer
}

// Bucket counts the entries with From <= score <= To.
type Bucket struct {
	From, To int64
	Count    int64
}

// Distribution is a histogram of the scores in ascending order of score, without gaps; empty for an empty period.
type Distribution struct {
	State
	Buckets []Bucket
}

// Rankings answers the reading queries of one period. The store (MySQL, the database), the in-memory model and the
// cached reader implement it and pass the same conformance suite. Every answer is exact at the seq it reports. All
// methods may be called concurrently; they block until answered or ctx ends. Errors: ErrPeriodNotFound, ErrNotRanked,
// ErrSeqAhead (the database has not reached MinSeq), ErrOverloaded, ErrUnavailable.
type Rankings interface {
	Page(ctx context.Context, p PeriodRef, q PageQuery) (*Page, error)
	Members(ctx context.Context, p PeriodRef, q MembersQuery) (*Standings, error)
	ScoreRank(ctx context.Context, p PeriodRef, q ScoreQuery) (*ScoreRank, error)
	Distribution(ctx context.Context, p PeriodRef, q DistributionQuery) (*Distribution, error)
	Moves(ctx context.Context, p PeriodRef, q MovesQuery) (*Moves, error)
}

// Question is a question about one period that can be asked together with others. Exactly one of its queries is set.
type Question struct {
	Page    *PageQuery
	Members *MembersQuery
	Score   *ScoreQuery
	Moves   *MovesQuery
}

// Answer is the answer to a Question: the answer to its query, or an error.
type Answer struct {
	Page    *Page
	Members *Standings
	Score   *ScoreRank
	Moves   *Moves
	Err     error
}

// MetadataQuery asks for the metadata of entries of one period.
type MetadataQuery struct {
	Period  *PeriodRef
	At      Revision // that the entries were read at; zero: it is not known
	Entries []Entry
}

// EntryMetadata is the stored metadata of an entry.
type EntryMetadata struct {
	Body string // a JSON object without spaces; "": none
	// Moved: the stored metadata belongs to another entry of the member, so the requested entry was replaced, or is not
	// stored yet. Read both at one state then, see Query.Metadata.
	Moved bool
	// Lasts: at MetadataQuery.At the entry certainly had this, whatever is written later.
	Lasts bool
}

// MetadataMoved reports whether the stored metadata of a requested entry belongs to another entry.
func MetadataMoved(found [][]EntryMetadata) bool {
	for _, of := range found {
		for i := range of {
			if of[i].Moved {
				return true
			}
		}
	}
	return false
}

// BatchRankings answers several questions about one period at once, all at one state, for little more than the price of
// one question. Query returns an answer to each question; a failure, such as for a member who is not ranked, affects only
// its question. An error affects all.
type BatchRankings interface {
	Rankings
	Query(ctx context.Context, p PeriodRef, questions []Question) ([]Answer, error)
}
