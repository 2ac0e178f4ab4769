package commit

import "sync"

// budget keeps what is tried again few beside what is asked for: while a server fails often, repeating everything would
// give it twice as much to do.
type budget struct {
	mu   sync.Mutex
	owed float64 // retries that may not be made now
}

const (
	retriesPerRequest = 0.05
	retriesAtOnce     = 10
)

// earn counts requests, which allow for retries.
func (b *budget) earn(requests int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owed = max(0, b.owed-float64(requests)*retriesPerRequest)
}

// spend says whether one more retry may be made.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owed+1 > retriesAtOnce {
		return false
	}
	b.owed++
	return true
}
