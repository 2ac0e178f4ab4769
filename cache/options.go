package cache

import (
	"cmp"
	"context"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/cache/resident"
	"leaderboard/leaderboard"
)

// The bounds of the questions to MySQL.
const (
	// FallbackConcurrent is the greatest number of batches of questions that it answers at the same time, in addition
	// to two that count by scanning.
	FallbackConcurrent = 4
	// ReadWait is how long a question may wait to be sent; a question that would wait longer is refused.
	ReadWait = time.Second
)

// ReaderOptions adjust a Reader; the zero value is fit for production.
type ReaderOptions struct {
	// StaleLimit is how old an answer may be that is served, marked stale, while no layer behind it answers; 10 min.
	StaleLimit time.Duration
	// StaleWait is how long a question with such an answer waits for a better one; 250 ms.
	StaleWait    time.Duration
	LocalEntries int // answers kept, 65,536
	LocalBytes   int // and their approximate size, 32 MiB

	RedisDeadline      time.Duration // the time that one query may wait for Redis in all, a build included; 150 ms
	FallbackConcurrent int           // batches of questions in MySQL at once; 0: the constant
	ReadWait           time.Duration // how long a question waits to be sent there, 0: the constant; ErrOverloaded when it takes, or would take, longer
	CallTimeout        time.Duration // for one query through all layers, 6 s

	// Feed judges how old answers are. nil, for tests of the layers: FreshFor decides.
	Feed *feed.Feed
	// FreshFor is how long an answer is fresh without a Feed, 100 ms; up to ten times as old it is served while it is
	// renewed.
	FreshFor time.Duration
	// Resident are the periods in memory; nil: none.
	Resident *resident.Periods
	// Demand requests a build of a copy that is missing, and returns how to wait for it. It must not block. nil: copies are not
	// built.
	Demand func(leaderboard.PeriodRef) (wait func(context.Context) error)
	// Old is called for a copy that the feed has found too old. It must not block; may be nil.
	Old func(leaderboard.PeriodRef)
	Now func() time.Time // time.Now when nil

	Observer Observer // may be nil
}

func (o ReaderOptions) withDefaults() ReaderOptions {
	o.FreshFor = cmp.Or(o.FreshFor, 100*time.Millisecond)
	o.StaleLimit = cmp.Or(o.StaleLimit, 10*time.Minute)
	o.StaleWait = cmp.Or(o.StaleWait, 250*time.Millisecond)
	o.LocalEntries = cmp.Or(o.LocalEntries, 65_536)
	o.LocalBytes = cmp.Or(o.LocalBytes, 32<<20)
	o.RedisDeadline = cmp.Or(o.RedisDeadline, 150*time.Millisecond)
	o.FallbackConcurrent = cmp.Or(o.FallbackConcurrent, FallbackConcurrent)
	o.ReadWait = cmp.Or(o.ReadWait, ReadWait)
	o.CallTimeout = cmp.Or(o.CallTimeout, 6*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Old == nil {
		o.Old = func(leaderboard.PeriodRef) {}
	}
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	return o
}
