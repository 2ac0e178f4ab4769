package cache

import (
	"sync/atomic"
	"time"
)

// proven has the time at which something kept was requested, and the time at which it was last known to be true.
type proven struct {
	asked time.Time    // or when another process read it
	good  atomic.Int64 // ns since asked
}

// confirm notes that it holds now. It rarely writes, so that readers do not contend for the cache line.
func (p *proven) confirm(now time.Time) {
	if since := int64(now.Sub(p.asked)); since-p.good.Load() > int64(time.Second) {
		p.good.Store(since)
	}
}

// age returns how long ago it was last known to hold.
func (p *proven) age(now time.Time) time.Duration {
	return now.Sub(p.asked) - time.Duration(p.good.Load())
}
