package residency

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"leaderboard"
	"leaderboard/cache/resident"
	"leaderboard/rank"
)

// errNoRoom: a period turned out to be larger than what is free for it, or too large for how much it is read.
var errNoRoom = errors.New("residency: no room")

const (
	// loadTimeout bounds the loading of one period.
	loadTimeout = 2 * time.Minute
	// failedRest is how long a period is not tried again after it could not be loaded.
	failedRest = 15 * time.Second
)

// load reads a period into memory, which may take up to room bytes for it.
func (r *Periods) load(ctx context.Context, t *tenant, heat float64, room int64) (err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	ref := *t.ref.Load()
	t.begin()
	var period *resident.Period
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("residency: panic: %v", p)
		}
		t.end(period)
	}()
	var l *resident.Loader
	pause := newPauses(r.reads.Load())
	err = r.source.Snapshot(ctx, ref, math.MaxInt, func(s leaderboard.State) error {
		c := candidate{heat: heat, bytes: s.Total * entryBytes, pinned: ref.Rules.Resident == leaderboard.ResidentAlways}
		t.needs(c.bytes)
		if c.bytes > room || !c.worth() {
			return errNoRoom
		}
		l = resident.NewLoader(ref.Rules, rank.State{Revision: s.Revision, Total: s.Total})
		return nil
	}, func(keys []rank.Key) error {
		if err := l.Add(keys); err != nil {
			return err
		}
		pause.between(ctx, r.reads.Load())
		if took := l.Bytes(); took > room {
			t.needs(2 * took)
			return errNoRoom
		}
		return nil
	})
	if err != nil {
		return err
	}
	period, err = l.Period()
	return err
}

// busyReads is how many reads a second make a load give way.
const busyReads = 500

// pauses let a load, which has readers to share the processor with, rest for as long as it has worked.
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

// needs notes how much memory a period takes when it is there.
func (t *tenant) needs(bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = bytes
}
