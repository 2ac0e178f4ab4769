package resident

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

// Source is the database.
type Source interface {
	// Snapshot reads all entries of a period in one state: begin gets it, rows gets the sort keys in order.
	Snapshot(ctx context.Context, p leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error
	// CommitsSince reads the change logs of many periods after the revisions that they are at, at most so many changes of
	// each.
	CommitsSince(ctx context.Context, from []leaderboard.PeriodRevision, changes int) (map[int64]leaderboard.LogPart, error)
}

// errNoRoom means that a period turned out to be larger than the memory that is free, or too large for how much it is read.
var errNoRoom = errors.New("resident: no room")

// loadTimeout bounds the loading of one period.
const loadTimeout = 2 * time.Minute

// load reads the period into memory, where it may take up to room bytes. reads counts the reads of periods in memory, that it shares the
// processor with.
func (c *candidate) load(ctx context.Context, from Source, room int64, reads *atomic.Int64) (err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("resident: panic: %v", p)
		}
	}()
	under := &loading{began: time.Now(), done: make(chan struct{})}
	c.loading.Store(under)
	defer func() { c.loading.Store(nil); close(under.done) }()
	ref := *c.ref.Load()
	var l *Loader
	pause := newPauses(reads.Load())
	err = from.Snapshot(ctx, ref, math.MaxInt, func(s leaderboard.State) error {
		c.bytes = s.Total * entryBytes
		c.pays.Store(int64(math.Ceil(c.needed())))
		if c.bytes > room || !c.worth() {
			return errNoRoom
		}
		l = NewLoader(ref.Rules, rank.State{Revision: s.Revision, Total: s.Total})
		return nil
	}, func(keys []rank.Key) error {
		if err := l.Add(keys); err != nil {
			return err
		}
		pause.between(ctx, reads.Load())
		if took := l.Bytes(); took > room {
			c.bytes = 2 * took
			return errNoRoom
		}
		return nil
	})
	if err != nil {
		return err
	}
	period, err := l.Period()
	if err == nil {
		c.bytes = period.Bytes()
		c.period.Store(period)
	}
	return err
}

const (
	// busyReads is from how many reads a second of periods in memory on a load pauses for them.
	busyReads = 500
	// askMeanwhile is how many questions a second about the period itself go on to the database while it is loaded.
	askMeanwhile = 200
)

// loading is a load under way.
type loading struct {
	began  time.Time
	passed atomic.Int64  // questions that went on
	done   chan struct{} // closed at the end
}

// mayPass reports whether a question about the period goes on at once: not when so many have that they hold up the load, which
// answers them all.
func (l *loading) mayPass(now time.Time) bool {
	if float64(l.passed.Load()) >= askMeanwhile*max(0.1, now.Sub(l.began).Seconds()) {
		return false
	}
	l.passed.Add(1)
	return true
}

// pauses make a load rest for as long as it has worked, when it shares the processor with many readers of other periods.
type pauses struct {
	reads int64
	since time.Time
}

func newPauses(reads int64) *pauses { return &pauses{reads, time.Now()} }

// between is called between two parts of a load, with the number of reads so far.
func (p *pauses) between(ctx context.Context, reads int64) {
	worked := time.Since(p.since)
	if float64(reads-p.reads) > busyReads*worked.Seconds() {
		timer := time.NewTimer(worked)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	p.reads, p.since = reads, time.Now()
}
