package cache

import (
	"time"

	"leaderboard"
)

// sightings remember for each period the state that it was last seen in, and when. An answer says what is true at its
// state, so for as long as a period is seen in that state the answer is as good as new, however long it has been kept:
// boards that rest, and periods that are over, are answered from memory.
type sightings struct {
	fresh time.Duration // how long a sighting says anything
	kept  *lru[int64, sighting]
}

type sighting struct {
	leaderboard.Revision
	at time.Time
}

const (
	sightedPeriods = 16_384
	sightingBytes  = 200
)

func newSightings(fresh time.Duration) *sightings {
	return &sightings{fresh, newLRU[int64, sighting](sightedPeriods, sightedPeriods*sightingBytes)}
}

// note takes down that an answer came from this state. A layer that is behind what another one has just said is no news.
func (s *sightings) note(period int64, state leaderboard.State, now time.Time) {
	next := sighting{state.Revision, now}
	s.kept.update(period, sightingBytes, func(last sighting, ok bool) sighting {
		if ok && last.Seq > next.Seq && now.Sub(last.at) <= s.fresh {
			return last
		}
		return next
	})
}

// last is when the period was last seen in this state, the zero time when it was seen in another one since, or never.
func (s *sightings) last(period int64, state leaderboard.State) time.Time {
	last, ok := s.kept.get(period)
	if !ok || last.Revision != state.Revision {
		return time.Time{}
	}
	return last.at
}
