package cache

import (
	"time"

	"leaderboard"
)

// lastSeen remembers for each period the revision that it was last seen at, and when. An answer says what is true at
// its state, so for as long as a period is seen in that state the answer is as good as new, however long it has been
// kept: boards that rest, and periods that are over, are answered from memory.
type lastSeen struct {
	fresh time.Duration // how long one says anything
	kept  *lru[int64, seenAt]
}

// seenAt is a revision, and when the period was at it.
type seenAt struct {
	leaderboard.Revision
	at time.Time
}

const (
	seenPeriods = 16_384
	seenBytes   = 200
)

func newLastSeen(fresh time.Duration) *lastSeen {
	return &lastSeen{fresh, newLRU[int64, seenAt](seenPeriods, seenPeriods*seenBytes)}
}

// note takes down that an answer came from this state. A layer that is behind what another one has just said is no
// news.
func (s *lastSeen) note(period int64, state leaderboard.State, now time.Time) {
	next := seenAt{state.Revision, now}
	s.kept.update(period, seenBytes, func(last seenAt, ok bool) seenAt {
		if ok && last.Seq > next.Seq && now.Sub(last.at) <= s.fresh {
			return last
		}
		return next
	})
}

// last returns when the period was last seen in this state, the zero time when it was seen in another one since, or never.
func (s *lastSeen) last(period int64, state leaderboard.State) time.Time {
	last, ok := s.kept.get(period)
	if !ok || last.Revision != state.Revision {
		return time.Time{}
	}
	return last.at
}
