package cache

import (
	"crypto/sha256"
	"encoding/binary"

	"leaderboard"
	"leaderboard/rank"
)

// The keys under which answers are kept: everything that decides an answer, apart from how new it has to be.
type (
	periodKey struct {
		id    int64
		codec rank.Codec // while a board has no entries its order may change

		fields string // and so may the fields that an encoded answer shows
	}
	pageKey struct {
		periodKey
		query leaderboard.PageQuery
	}
	membersKey struct {
		periodKey
		mode    leaderboard.Mode
		members string // the one, or a digest of all: a list of thousands is asked for in many slices, each with a key
		limit   int
		offset  int
		self    string
	}
	scoreKey struct {
		periodKey
		score, tiebreak int64
	}
	distributionKey struct {
		periodKey
		buckets int
	}
)

func periodKeyOf(p leaderboard.PeriodRef) periodKey {
	return periodKey{p.ID, rank.CodecOf(p.Rules), p.Rules.Tiebreak.Layout()}
}

func pageKeyOf(p leaderboard.PeriodRef, q leaderboard.PageQuery) pageKey {
	q.MinSeq, q.Mode = 0, ranksKey(q.Mode)
	return pageKey{periodKeyOf(p), q}
}

func membersKeyOf(p leaderboard.PeriodRef, q leaderboard.MembersQuery) membersKey {
	k := membersKey{periodKey: periodKeyOf(p), mode: ranksKey(q.Mode), limit: q.Limit, offset: q.Offset, self: q.Self}
	if len(q.Members) == 1 {
		k.members = q.Members[0] // UTF-8, so it never begins like a list
		return k
	}
	var b []byte
	for _, m := range q.Members {
		b = binary.AppendUvarint(b, uint64(len(m)))
		b = append(b, m...)
	}
	sum := sha256.Sum256(b)
	k.members = "\xff" + string(sum[:])
	return k
}

// ranksKey returns the same for modes whose answers have the same ranks.
func ranksKey(m leaderboard.Mode) leaderboard.Mode {
	if m.WithDense() {
		return m
	}
	return leaderboard.ModeStrict
}

func scoreKeyOf(p leaderboard.PeriodRef, q leaderboard.ScoreQuery) scoreKey {
	return scoreKey{periodKeyOf(p), q.Score, q.Tiebreak}
}

func distributionKeyOf(p leaderboard.PeriodRef, q leaderboard.DistributionQuery) distributionKey {
	return distributionKey{periodKeyOf(p), q.Buckets}
}

// Sizes of kept answers in bytes, roughly, with the JSON that their memo will hold.
const (
	answerBytes = 600
	entryBytes  = 220
	bucketBytes = 80
)

// local and stale are the states that copies in the process report. One that came marked is given unmarked once it has been
// found fresh.
func local(s leaderboard.State) leaderboard.State {
	s.Source, s.Stale = leaderboard.SourceLocal, false
	return s
}

func stale(s leaderboard.State) leaderboard.State {
	s.Source, s.Stale = leaderboard.SourceLocal, true
	return s
}

func pageOps() answerOps[*leaderboard.Page] {
	with := func(mark func(leaderboard.State) leaderboard.State) func(*leaderboard.Page) *leaderboard.Page {
		return func(p *leaderboard.Page) *leaderboard.Page {
			return &leaderboard.Page{State: mark(p.State), Entries: p.Entries, Next: p.Next}
		}
	}
	return answerOps[*leaderboard.Page]{
		seq: func(p *leaderboard.Page) int64 { return p.Seq }, state: func(p *leaderboard.Page) leaderboard.State { return p.State },
		local: with(local), stale: with(stale),
		bytes: func(p *leaderboard.Page) int { return answerBytes + entryBytes*len(p.Entries) },
	}
}

func standingsOps() answerOps[*leaderboard.Standings] {
	with := func(mark func(leaderboard.State) leaderboard.State) func(*leaderboard.Standings) *leaderboard.Standings {
		return func(s *leaderboard.Standings) *leaderboard.Standings {
			return &leaderboard.Standings{
				State: mark(s.State), Entries: s.Entries, Self: s.Self, Ranked: s.Ranked, NotRanked: s.NotRanked,
			}
		}
	}
	return answerOps[*leaderboard.Standings]{
		seq: func(s *leaderboard.Standings) int64 { return s.Seq }, state: func(s *leaderboard.Standings) leaderboard.State { return s.State },
		local: with(local), stale: with(stale),
		bytes: func(s *leaderboard.Standings) int {
			return answerBytes + entryBytes*(len(s.Entries)+len(s.NotRanked))
		},
	}
}

func scoreOps() answerOps[*leaderboard.ScoreRank] {
	with := func(mark func(leaderboard.State) leaderboard.State) func(*leaderboard.ScoreRank) *leaderboard.ScoreRank {
		return func(s *leaderboard.ScoreRank) *leaderboard.ScoreRank {
			return &leaderboard.ScoreRank{State: mark(s.State), Ranks: s.Ranks}
		}
	}
	return answerOps[*leaderboard.ScoreRank]{
		seq: func(s *leaderboard.ScoreRank) int64 { return s.Seq }, state: func(s *leaderboard.ScoreRank) leaderboard.State { return s.State },
		local: with(local), stale: with(stale),
		bytes: func(*leaderboard.ScoreRank) int { return answerBytes },
	}
}

func distributionOps() answerOps[*leaderboard.Distribution] {
	with := func(mark func(leaderboard.State) leaderboard.State) func(*leaderboard.Distribution) *leaderboard.Distribution {
		return func(d *leaderboard.Distribution) *leaderboard.Distribution {
			return &leaderboard.Distribution{State: mark(d.State), Buckets: d.Buckets}
		}
	}
	return answerOps[*leaderboard.Distribution]{
		seq: func(d *leaderboard.Distribution) int64 { return d.Seq }, state: func(d *leaderboard.Distribution) leaderboard.State { return d.State },
		local: with(local), stale: with(stale),
		bytes: func(d *leaderboard.Distribution) int { return answerBytes + bucketBytes*len(d.Buckets) },
	}
}
