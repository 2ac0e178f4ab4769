package guard

import "sync/atomic"

// Permits bound how many things of a kind run at once. Acquire does not wait. All methods may be called concurrently.
type Permits struct {
	most  int64
	full  error
	taken atomic.Int64
}

// NewPermits returns permits for most things at once. full is the refusal of one more.
func NewPermits(most int, full error) *Permits { return &Permits{most: int64(most), full: full} }

// Acquire takes a permit, to be given back by Release, or returns the refusal.
func (p *Permits) Acquire() error {
	if p.taken.Add(1) > p.most {
		p.taken.Add(-1)
		return p.full
	}
	return nil
}

// Release gives a permit back.
func (p *Permits) Release() { p.taken.Add(-1) }

// Check returns the refusal that Acquire would return now.
func (p *Permits) Check() error {
	if p.taken.Load() >= p.most {
		return p.full
	}
	return nil
}

// InUse returns how many permits are taken.
func (p *Permits) InUse() int { return int(p.taken.Load()) }
