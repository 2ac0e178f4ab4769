package httpapi

import (
	"sync/atomic"
	"time"
)

const (
	// rateSeconds is the time over which a rate is measured.
	rateSeconds = 10
	// rateSlots is a power of two, and leaves time to read a slot before a later second takes it.
	rateSlots = 16
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

// events returns the number of events in the last rateSeconds whole seconds.
func (r *rate) events(now time.Time) (n uint64) {
	end := uint64(now.Unix())
	for second := end - rateSeconds; second < end; second++ {
		if slot := r.slots[second%rateSlots].Load(); slot>>32 == second {
			n += slot & (1<<32 - 1)
		}
	}
	return n
}

func (r *rate) perSecond(now time.Time) float64 { return float64(r.events(now)) / rateSeconds }

// traffic counts the load of this server. The zero value is ready.
type traffic struct {
	requests rate // of /v1
	reads    rate // answers about boards
	writes   rate // entries submitted, whatever their results, and removals
}

// answered counts a request of /v1.
func (t *traffic) answered(read bool, now time.Time) {
	t.requests.add(now, 1)
	if read {
		t.reads.add(now, 1)
	}
}

// wrote counts entries that were submitted.
func (t *traffic) wrote(entries int) { t.writes.add(time.Now(), entries) }
