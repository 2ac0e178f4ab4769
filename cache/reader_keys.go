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
		id      int64
		history int64
		codec   rank.Codec // while a board has no entries its order may change

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

// periodic is a key about one period.
type periodic interface {
	comparable
	period() int64
}

func (k periodKey) period() int64 { return k.id }

func periodKeyOf(p leaderboard.PeriodRef) periodKey {
	return periodKey{p.ID, p.History, rank.CodecOf(p.Rules), p.Rules.Tiebreak.Layout()}
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
