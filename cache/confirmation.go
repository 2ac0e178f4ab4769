package cache

import (
	"sync/atomic"
	"time"
)

// confirmation has the time at which something kept was requested, and the time at which it was last known to be true.
type confirmation struct {
	read time.Time    // or when another process read it
	good atomic.Int64 // ns since read
}

// confirm notes that it holds now. It rarely writes, so that readers do not contend for the cache line.
func (p *confirmation) confirm(now time.Time) {
	if since := int64(now.Sub(p.read)); since-p.good.Load() > int64(time.Second) {
		p.good.Store(since)
	}
}

// age returns how long ago it was last known to hold.
func (p *confirmation) age(now time.Time) time.Duration {
	return now.Sub(p.read) - time.Duration(p.good.Load())
}
