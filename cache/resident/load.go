package resident

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Source is the database.
type Source interface {
	// Snapshot reads all entries of a period in one state: begin gets it, rows gets the sort keys in order.
	Snapshot(ctx context.Context, p leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error
	// CommitsSince reads the change logs of many periods after their revisions, up to a number of changes of each.
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
	c.loading.Store(true)
	defer c.loading.Store(false)
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

// busyReads is from how many reads a second of periods in memory on a load pauses for them.
const busyReads = 500

// pauses let a load rest for as long as it has worked, when it shares the processor with many readers of other periods.
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
