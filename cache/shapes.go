package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"leaderboard"
	"leaderboard/cache/watch"
	"leaderboard/rank"
)

// Sizes of kept answers in bytes, roughly, with the JSON that their memo will hold.
const (
	answerBytes = 600
	entryBytes  = 220
	bucketBytes = 80
)

// shape is what the layers must know of an answer, whatever it is about.
type shape[V any] struct {
	state func(V) leaderboard.State
	at    func(V, leaderboard.State) V // the same answer, said to be of another state
	bytes func(V) int
}

// stale returns an answer marked stale.
func (s shape[V]) stale(v V) V {
	state := s.state(v)
	state.Stale = true
	return s.at(v, state)
}

// local and stale are the states that answers kept in the process report.
func local(s leaderboard.State) leaderboard.State {
	s.Source, s.Stale = leaderboard.SourceLocal, false
	return s
}

func stale(s leaderboard.State) leaderboard.State {
	s.Source, s.Stale = leaderboard.SourceLocal, true
	return s
}

// opsOf has answers about periods judged by the watch, by age when there is none.
func opsOf[K periodic, V any](s shape[V], o *ReaderOptions) answerOps[K, V] {
	ops := answerOps[K, V]{
		judge: byAge[K, V](o.FreshFor, 10*o.FreshFor),
		seq:   func(v V) int64 { return s.state(v).Seq },
		local: func(v V) V { return s.at(v, local(s.state(v))) },
		stale: func(v V) V { return s.at(v, stale(s.state(v))) },
		bytes: s.bytes,
	}
	if w := o.Watch; w != nil {
		ops.judge = func(key K, v V, _ time.Duration) freshness {
			if w.Judge(key.period(), s.state(v).Revision) == watch.VerdictFresh {
				return freshnessFresh
			}
			return freshnessOld
		}
	}
	return ops
}

func pageShape() shape[*leaderboard.Page] {
	return shape[*leaderboard.Page]{
		state: func(p *leaderboard.Page) leaderboard.State { return p.State },
		at: func(p *leaderboard.Page, s leaderboard.State) *leaderboard.Page {
			return &leaderboard.Page{State: s, Entries: p.Entries, Next: p.Next}
		},
		bytes: func(p *leaderboard.Page) int { return answerBytes + entryBytes*len(p.Entries) },
	}
}

func standingsShape() shape[*leaderboard.Standings] {
	return shape[*leaderboard.Standings]{
		state: func(s *leaderboard.Standings) leaderboard.State { return s.State },
		at: func(s *leaderboard.Standings, at leaderboard.State) *leaderboard.Standings {
			return &leaderboard.Standings{State: at, Entries: s.Entries, Self: s.Self, Ranked: s.Ranked, NotRanked: s.NotRanked}
		},
		bytes: func(s *leaderboard.Standings) int { return answerBytes + entryBytes*(len(s.Entries)+len(s.NotRanked)) },
	}
}

func scoreShape() shape[*leaderboard.ScoreRank] {
	return shape[*leaderboard.ScoreRank]{
		state: func(s *leaderboard.ScoreRank) leaderboard.State { return s.State },
		at: func(s *leaderboard.ScoreRank, at leaderboard.State) *leaderboard.ScoreRank {
			return &leaderboard.ScoreRank{State: at, Ranks: s.Ranks}
		},
		bytes: func(*leaderboard.ScoreRank) int { return answerBytes },
	}
}

func distributionShape() shape[*leaderboard.Distribution] {
	return shape[*leaderboard.Distribution]{
		state: func(d *leaderboard.Distribution) leaderboard.State { return d.State },
		at: func(d *leaderboard.Distribution, s leaderboard.State) *leaderboard.Distribution {
			return &leaderboard.Distribution{State: s, Buckets: d.Buckets}
		},
		bytes: func(d *leaderboard.Distribution) int { return answerBytes + bucketBytes*len(d.Buckets) },
	}
}

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
