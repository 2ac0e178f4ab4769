package httpapi

import (
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// rateSeconds is over how long a rate is told.
	rateSeconds = 10
	// rateSlots is a power of two, and leaves time to read a second before another takes its slot.
	rateSlots = 16
	// trafficShards keep the copies that a new board costs small.
	trafficShards = 64
)

// rate counts events by the second: an event costs one atomic addition. The zero value is ready.
type rate struct {
	slots [rateSlots]atomic.Uint64 // second of the Unix clock << 32 | events in it
}

func (r *rate) add(now time.Time, n int) {
	second := uint64(now.Unix())
	slot := &r.slots[second%rateSlots]
	for {
		old := slot.Load()
		if old>>32 == second {
			slot.Add(uint64(n))
			return
		}
		if slot.CompareAndSwap(old, second<<32|uint64(n)) {
			return
		}
	}
}

// events returns how many there were in the last rateSeconds whole seconds.
func (r *rate) events(now time.Time) (n uint64) {
	end := uint64(now.Unix())
	for second := end - rateSeconds; second < end; second++ {
		if slot := r.slots[second%rateSlots].Load(); slot>>32 == second {
			n += slot & (1<<32 - 1)
		}
	}
	return n
}

// idle says that nothing has happened in any second that counts, the present one included.
func (r *rate) idle(now time.Time) bool {
	least := uint64(now.Unix()) - rateSeconds
	for i := range r.slots {
		if r.slots[i].Load()>>32 >= least {
			return false
		}
	}
	return true
}

// boardTraffic is what callers of this server ask of a board.
type boardTraffic struct {
	reads  rate // answers about it
	writes rate // entries submitted, whatever became of them, and removals
}

// traffic counts what callers ask. The boards that are counted are those with traffic of late. All methods may be called
// concurrently.
type traffic struct {
	requests rate // of /v1
	seed     maphash.Seed
	shards   [trafficShards]trafficShard
}

type trafficShard struct {
	mu     sync.Mutex                               // of who adds a board
	boards atomic.Pointer[map[string]*boardTraffic] // replaced, never written to
}

func newTraffic() *traffic {
	t := &traffic{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].boards.Store(&map[string]*boardTraffic{})
	}
	return t
}

// of returns the counters of a board; "" stands for several boards at once.
func (t *traffic) of(board string, now time.Time) *boardTraffic {
	shard := &t.shards[maphash.String(t.seed, board)%trafficShards]
	if b, ok := (*shard.boards.Load())[board]; ok {
		return b
	}
	return shard.add(strings.Clone(board), now)
}

// add adds a board, and leaves those out that are idle.
func (s *trafficShard) add(board string, now time.Time) *boardTraffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := *s.boards.Load()
	if b, ok := known[board]; ok {
		return b
	}
	next := maps.Clone(known)
	maps.DeleteFunc(next, func(_ string, b *boardTraffic) bool { return b.reads.idle(now) && b.writes.idle(now) })
	b := &boardTraffic{}
	next[board] = b
	s.boards.Store(&next)
	return b
}

// rates of one board, or of all, a second.
type rates struct{ reads, writes float64 }

func perSecond(events uint64) float64 { return float64(events) / rateSeconds }

// on returns the rates of a board.
func (t *traffic) on(board string, now time.Time) rates {
	shard := &t.shards[maphash.String(t.seed, board)%trafficShards]
	b, ok := (*shard.boards.Load())[board]
	if !ok {
		return rates{}
	}
	return rates{perSecond(b.reads.events(now)), perSecond(b.writes.events(now))}
}

// all returns the rates of all boards together.
func (t *traffic) all(now time.Time) rates {
	var reads, writes uint64
	for i := range t.shards {
		for _, b := range *t.shards[i].boards.Load() {
			reads += b.reads.events(now)
			writes += b.writes.events(now)
		}
	}
	return rates{perSecond(reads), perSecond(writes)}
}

// answered counts a request of /v1, and for a read the board that it was about.
func (t *traffic) answered(read bool, board string, now time.Time) {
	t.requests.add(now, 1)
	if read {
		t.of(board, now).reads.add(now, 1)
	}
}

// wrote counts entries that were submitted to a board.
func (t *traffic) wrote(board string, entries int) {
	now := time.Now()
	t.of(board, now).writes.add(now, entries)
}
