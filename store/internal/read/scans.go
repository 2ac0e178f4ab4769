package read

import (
	"context"
	"errors"
	"sync"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/internal/turn"
	"leaderboard/leaderboard"
)

const (
	// maxScans is how many answers are counted by scanning at once, in all periods together.
	maxScans = 2
	// restTimes is the length of a period's rest after a scan, as a multiple of the scan's time: the rest of the database
	// is for loading or building its index.
	restTimes = 9
	// lateTimes is how many times as long as usual a scan takes when something is wrong.
	lateTimes = 2
	// shortScan is the time that any scan may take, with the transaction around it.
	shortScan = 20 * time.Millisecond
	// firstPace is how long a scan takes for an entry of its period, before that was measured.
	firstPace = 400 * time.Nanosecond
	// paceWeight is the weight of the previous average.
	paceWeight = 8
	// lookPause is how long an answer waits before it looks whether the next attempt to get the index is due.
	lookPause = 500 * time.Millisecond
	// patience is how long an answer waits for an index, or to be counted without, that has no turn to give up.
	patience = 30 * time.Second
)

// scans admits answers that count by scanning, which costs the database O(rank), because the rank index of a large period
// is missing: one at a time for each period, with rests that leave the database to the build of the index; maxScans for all
// periods, or one while scans take longer than usual; and no scan that would not end in time. Answers that are not admitted
// wait for the index.
type scans struct {
	limit time.Duration // of a statement

	mu      sync.Mutex // guards the fields below
	under   map[missing]*scan
	rests   map[missing]time.Time // until when a period is not scanned again
	pace    float64               // nanoseconds for an entry of a period, a moving average
	late    bool                  // the last scan took longer than usual
	changed chan struct{}         // closed when a scan ends
}

// missing is the index that a period lacks, see index.Missing.
type missing interface {
	Entries() int64
	Loads() time.Time
	Tried() <-chan struct{}
	Left(now time.Time) time.Duration
	Found() bool
}

// scan is the permit to count by scanning.
type scan struct {
	of      *scans
	missing missing
	began   time.Time
	usual   time.Duration
}

// never is the end of a rest that only an index ends.
var never = time.Unix(1<<40, 0)

func newScans(limit time.Duration) *scans {
	return &scans{
		limit: limit, pace: float64(firstPace), changed: make(chan struct{}),
		under: map[missing]*scan{}, rests: map[missing]time.Time{},
	}
}

// errMissing is the error of an answer that would have to be counted by scanning.
type errMissing struct{ index missing }

func (*errMissing) Error() string { return "store: there is no rank index yet" }

// leave has the work of a caller give up its slot, and returns until when it waits for an index or for a permit to scan.
func leave(ctx context.Context) (until time.Time) {
	until, ok := turn.Leave(ctx)
	if !ok || until.IsZero() {
		until = time.Now().Add(patience)
	}
	return until
}

// admit returns the permit to scan, or nil when there may be an index, or an attempt to get it is due. When neither comes in time the
// error says when there will be an index.
func (s *scans) admit(ctx context.Context, m missing, until time.Time) (*scan, error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		tried, now := m.Tried(), time.Now()
		if m.Found() {
			return nil, nil
		}
		permit, again, changed := s.begin(m, now)
		switch {
		case permit != nil:
			return permit, nil
		case !now.Before(until):
			return nil, &leaderboard.OverloadError{Wait: m.Left(now), Detail: "the rank index of the period is not ready"}
		case again.Before(now) || again.After(until):
			again = until
		}
		var look <-chan time.Time
		if tried == nil {
			look = time.After(lookPause)
		}
		timer.Reset(again.Sub(now))
		select {
		case <-tried:
			return nil, nil
		case <-look:
			return nil, nil
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin returns a permit if one is free. Otherwise it returns the end of the period's rest, and a channel that is closed when a
// scan ends.
func (s *scans) begin(m missing, now time.Time) (_ *scan, again time.Time, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	usual := shortScan + time.Duration(s.pace*float64(m.Entries()))
	if again = s.rests[m]; again.Before(m.Loads()) {
		again = m.Loads()
	}
	if s.under[m] != nil || now.Before(again) || usual > s.limit/lateTimes || len(s.under) >= s.most(now) {
		return nil, again, s.changed
	}
	permit := &scan{of: s, missing: m, began: now, usual: usual}
	s.under[m] = permit
	return permit, again, nil
}

// most returns how many scans may be under way. It is called with mu held.
func (s *scans) most(now time.Time) int {
	late := s.late
	for _, other := range s.under {
		late = late || other.isLate(now)
	}
	if late {
		return 1
	}
	return maxScans
}

func (p *scan) isLate(now time.Time) bool { return now.Sub(p.began) > lateTimes*p.usual }

// end gives the permit back, if any. A period whose scan hit the limit is not scanned again.
func (p *scan) end(err error) {
	if p == nil {
		return
	}
	s, now := p.of, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.under, p.missing)
	s.forget(now)
	took := now.Sub(p.began)
	s.late = p.isLate(now)
	if s.rests[p.missing] = now.Add(restTimes * took); mysql.IsOverLimit(err) || errors.Is(err, context.DeadlineExceeded) {
		s.rests[p.missing] = never
	}
	if n := p.missing.Entries(); n > 0 && took > shortScan {
		s.pace = (s.pace*(paceWeight-1) + float64(took-shortScan)/float64(n)) / paceWeight
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// forget forgets the rests that are over, and the rests of periods that have an index now. It is called with mu held.
func (s *scans) forget(now time.Time) {
	for m, until := range s.rests {
		if now.After(until) || m.Found() {
			delete(s.rests, m)
		}
	}
}
