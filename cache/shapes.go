package cache

import (
	"time"

	"leaderboard"
	"leaderboard/cache/watch"
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
