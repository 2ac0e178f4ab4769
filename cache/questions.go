package cache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"leaderboard/cache/resident"
	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
)

// question is a query about one or several periods.
type question interface {
	refs() []leaderboard.PeriodRef
	minSeq(i int) int64 // of the answer about the i-th of them
	// appendKey appends everything that decides the answer, except the periods and how new it must be.
	appendKey(b []byte) []byte
	// query puts the question to a source, which answers questions of all kinds.
	query(ctx context.Context, of source) (leaderboard.Answered, error)
	weight() int64 // of reading the periods from memory, see resident.Periods
	path() path
}

// copyQuestion is a question that a copy of the top in Redis may answer.
type copyQuestion interface {
	question
	mayBeIn(*topn.Copies) bool // without asking Redis
	queryCopy(ctx context.Context, of copySource) (a leaderboard.Answered, short bool, err error)
}

// copySource is the part of Redis that answers questions: pages, and questions about one member. short reports that the
// copy is due for renewal, also with an error.
type copySource interface {
	Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (page *leaderboard.Page, short bool, err error)
	Member(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (s *leaderboard.Standings, short bool, err error)
}

// path says in which layers an answer is looked for, and whether another question may get it too.
type path int

const (
	pathMemoryFirst path = iota // periods in memory come first
	pathKeptFirst               // many readers ask for the same answer: answers that are kept come first
	pathUnshared                // no other request needs the same answer: Redis is not asked, and the answer is neither kept nor shared
	pathDatabase                // only the database may answer
)

// source answers all questions: the periods in memory, or the database.
type source interface {
	leaderboard.Rankings
	leaderboard.CombinedRankings
	leaderboard.Pasts
}

// appendPeriods appends what distinguishes periods, and their order and fields, which may change while a board has no
// entries and are in an encoded answer.
func appendPeriods(b []byte, refs []leaderboard.PeriodRef) []byte {
	for i := range refs {
		b = binary.AppendVarint(b, refs[i].ID)
		b = binary.BigEndian.AppendUint64(b, uint64(refs[i].Incarnation))
		if !refs[i].HasRow() {
			b = appendInts(b, int64(refs[i].AsOf)) // only this distinguishes periods without a row
		}
	}
	for i := range refs {
		if rules := refs[i].Rules; rules != nil && (i == 0 || rules != refs[i-1].Rules) {
			b = appendText(b, string(rules.Order), string(rules.Tiebreak.Order), rules.Tiebreak.Layout())
		}
	}
	return b
}

func appendText(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

func appendInts(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// ranksOf returns the same value for modes whose answers have the same ranks.
func ranksOf(m leaderboard.Mode) string {
	if m.WithDense() {
		return string(m)
	}
	return string(leaderboard.ModeStrict)
}

// onePeriod is the one period of a question.
type onePeriod [1]leaderboard.PeriodRef

func (q *onePeriod) refs() []leaderboard.PeriodRef { return q[:] }
func (*onePeriod) weight() int64                   { return resident.WeightDeep }
func (*onePeriod) path() path                      { return pathMemoryFirst }

type pageQuestion struct {
	onePeriod
	leaderboard.PageQuery
}

func (q *pageQuestion) minSeq(int) int64 { return q.MinSeq }

func (q *pageQuestion) appendKey(b []byte) []byte {
	b = appendText(append(b, 'p'), ranksOf(q.Mode), q.After, q.Around)
	return appendInts(b, int64(q.Limit), q.Offset, int64(q.Before))
}

func (q *pageQuestion) query(ctx context.Context, of source) (leaderboard.Answered, error) {
	return answered(of.Page(ctx, q.onePeriod[0], q.PageQuery))
}

func (q *pageQuestion) mayBeIn(c *topn.Copies) bool { return c.Reaches(q.onePeriod[0], q.PageQuery) }

func (q *pageQuestion) queryCopy(ctx context.Context, of copySource) (leaderboard.Answered, bool, error) {
	page, short, err := of.Page(ctx, q.onePeriod[0], q.PageQuery)
	a, err := answered(page, err)
	return a, short, err
}

// forMany reports whether the page begins with the best entry.
func (q *pageQuestion) forMany() bool { return q.Around == "" && q.After == "" && q.Offset <= 0 }

func (q *pageQuestion) path() path {
	switch {
	case q.Metadata:
		return pathDatabase
	case q.forMany():
		return pathKeptFirst
	}
	return pathMemoryFirst
}

func (q *pageQuestion) weight() int64 {
	if q.forMany() {
		return resident.WeightPage
	}
	return resident.WeightDeep
}

type membersQuestion struct {
	onePeriod
	leaderboard.MembersQuery
}

func (q *membersQuestion) minSeq(int) int64 { return q.MinSeq }

func (q *membersQuestion) appendKey(b []byte) []byte {
	b = appendText(append(b, 'm'), ranksOf(q.Mode), q.Self)
	b = appendInts(b, int64(q.Limit), int64(q.Offset))
	if len(q.Members) == 1 {
		return appendText(b, q.Members[0])
	}
	all := sha256.Sum256(appendText(nil, q.Members...)) // a list of thousands is read in many slices, each with a key
	return append(b, all[:]...)
}

func (q *membersQuestion) path() path { return pathUnless(q.Metadata) }

// mayBeIn reports whether the question is about one member. Lists are left to memory and the database: many members of a
// list are not in the top N.
func (q *membersQuestion) mayBeIn(*topn.Copies) bool { return len(q.Members) == 1 && !q.Subset() }

func (q *membersQuestion) queryCopy(ctx context.Context, of copySource) (leaderboard.Answered, bool, error) {
	s, short, err := of.Member(ctx, q.onePeriod[0], q.MembersQuery)
	a, err := answered(s, err)
	return a, short, err
}

func (q *membersQuestion) query(ctx context.Context, of source) (leaderboard.Answered, error) {
	return answered(of.Members(ctx, q.onePeriod[0], q.MembersQuery))
}

type scoreQuestion struct {
	onePeriod
	leaderboard.ScoreQuery
}

func (q *scoreQuestion) minSeq(int) int64 { return q.MinSeq }

func (q *scoreQuestion) appendKey(b []byte) []byte {
	return appendInts(append(b, 's'), q.Score, q.Tiebreak)
}

func (q *scoreQuestion) query(ctx context.Context, of source) (leaderboard.Answered, error) {
	return answered(of.ScoreRank(ctx, q.onePeriod[0], q.ScoreQuery))
}

type distributionQuestion struct {
	onePeriod
	leaderboard.DistributionQuery
}

func (q *distributionQuestion) minSeq(int) int64 { return q.MinSeq }

func (q *distributionQuestion) appendKey(b []byte) []byte {
	return appendInts(append(b, 'd'), int64(q.Buckets))
}

func (q *distributionQuestion) query(ctx context.Context, of source) (leaderboard.Answered, error) {
	return answered(of.Distribution(ctx, q.onePeriod[0], q.DistributionQuery))
}

// movesQuestion is about one write, so its answer is of no use to another.
type movesQuestion struct {
	onePeriod
	leaderboard.MovesQuery
}

func (q *movesQuestion) minSeq(int) int64          { return q.MinSeq }
func (q *movesQuestion) appendKey(b []byte) []byte { return b }
func (*movesQuestion) path() path                  { return pathUnshared }

func (q *movesQuestion) query(ctx context.Context, of source) (leaderboard.Answered, error) {
	return answered(of.Moves(ctx, q.onePeriod[0], q.MovesQuery))
}

// manyPeriods are the periods of a question. How new each must be is in its reference.
type manyPeriods struct{ periods []leaderboard.PeriodRef }

func (q *manyPeriods) refs() []leaderboard.PeriodRef { return q.periods }
func (q *manyPeriods) minSeq(i int) int64            { return q.periods[i].LastSeq }
func (*manyPeriods) weight() int64                   { return resident.WeightDeep }

type combinedPageQuestion struct {
	manyPeriods
	leaderboard.CombinedQuery
}

func (q *combinedPageQuestion) appendKey(b []byte) []byte {
	b = appendText(append(b, 'P'), q.After, q.AfterBoard, q.Around)
	return appendInts(b, int64(q.Limit), q.Offset, int64(q.Before))
}

func (q *combinedPageQuestion) query(ctx context.Context, of source) (leaderboard.Answered, error) {
	return answered(of.CombinedPage(ctx, q.periods, q.CombinedQuery))
}

func (q *combinedPageQuestion) path() path { return pathUnless(q.Uncached) }

type combinedMemberQuestion struct {
	manyPeriods
	leaderboard.CombinedMemberQuery
}

func (q *combinedMemberQuestion) appendKey(b []byte) []byte {
	return appendText(append(b, 'M'), q.Member)
}

func (q *combinedMemberQuestion) query(ctx context.Context, of source) (leaderboard.Answered, error) {
	return answered(of.CombinedMember(ctx, q.periods, q.CombinedMemberQuery))
}

func (q *combinedMemberQuestion) path() path { return pathUnless(q.Uncached) }

func pathUnless(uncached bool) path {
	if uncached {
		return pathDatabase
	}
	return pathMemoryFirst
}

// pastQuestion is about a member in several periods. It does not count as reading them from memory: whether that counts
// depends on the period.
type pastQuestion struct {
	manyPeriods
	member string
}

func (q *pastQuestion) appendKey(b []byte) []byte { return appendText(append(b, 'H'), q.member) }

func (q *pastQuestion) query(ctx context.Context, of source) (leaderboard.Answered, error) {
	found, err := of.Past(ctx, q.periods, q.member)
	if err != nil {
		return nil, err
	}
	return past(found), nil
}

func (*pastQuestion) weight() int64 { return 0 }
func (*pastQuestion) path() path    { return pathMemoryFirst }

// past is a query for a member's entries in several periods, as leaderboard.Answered.
type past []leaderboard.PastEntry

// At implements leaderboard.Answered.
func (p past) At(i int) *leaderboard.State { return &p[i].State }

// From implements leaderboard.Answered.
func (p past) From(source leaderboard.Source, stale bool) leaderboard.Answered {
	out := slices.Clone(p)
	for i := range out {
		out[i].Source, out[i].Stale = source, stale
	}
	return out
}

// Len implements leaderboard.Answered.
func (p past) Len() int { return len(p) }

// answered returns an answer as a leaderboard.Answered, nil for a nil answer.
func answered[V interface {
	comparable
	leaderboard.Answered
}](v V, err error) (leaderboard.Answered, error) {
	var none V
	if v == none {
		return nil, err
	}
	return v, err
}

// pastOf returns the answer about one member as one about its past.
func pastOf(s *leaderboard.Standings) leaderboard.PastEntry {
	out := leaderboard.PastEntry{State: s.State}
	if len(s.Entries) > 0 {
		ranked := s.Entries[0].Ranked
		ranked.Dense = 0 // not every layer knows it
		out.Ranked = &ranked
	}
	return out
}
