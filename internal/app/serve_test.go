package app

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"testing"
	"time"
)

func TestGCPercent(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	for name, want := range map[string]uint64{"GOGC": 50, "GOMEMLIMIT": 50, "": gcPercent} {
		debug.SetGCPercent(50)
		debug.SetMemoryLimit(1 << 40)
		newCollector(func(asked string) string {
			if asked == name {
				return "1"
			}
			return ""
		})
		got := []runtimemetrics.Sample{{Name: "/gc/gogc:percent"}}
		if runtimemetrics.Read(got); got[0].Value.Uint64() != want {
			t.Errorf("with %q set the collector runs at %d %%, want %d", name, got[0].Value.Uint64(), want)
		}
		limit := int64(1 << 40) // of the operator
		if name == "" {
			limit = softLimit(availableMemory())
		}
		if got := debug.SetMemoryLimit(-1); got != limit {
			t.Errorf("with %q set the limit is %d, want %d", name, got, limit)
		}
	}
}

// TestCollectorCountsAllThatIsHeld: the bytes of periods and the bytes of rank indexes count together.
func TestCollectorCountsAllThatIsHeld(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	runtime.GC() // there is a live heap to compare with
	c := &collector{on: true}
	for _, step := range []struct {
		hold  func(int64)
		bytes int64
		want  int
	}{
		{c.holdPeriods, 0, gcPercent},
		{c.holdIndexes, 1 << 40, gcPercentLeast},
		{c.holdPeriods, 1 << 40, gcPercentLeast},
		{c.holdIndexes, 0, gcPercentLeast},
		{c.holdPeriods, 0, gcPercent},
	} {
		if step.hold(step.bytes); c.percent != step.want {
			t.Errorf("with %d bytes of periods and %d of indexes: %d %%, want %d", c.periods, c.indexes, c.percent, step.want)
		}
	}
}

// TestCollectorFollowsTheLoad: when many requests wait, the heap grows by less than four times what lives, until they are gone.
func TestCollectorFollowsTheLoad(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := &collector{on: true}
	c.follow(ctx)
	becomes := func(good func(percent int) bool) {
		t.Helper()
		for until := time.Now().Add(10 * time.Second); ; {
			runtime.GC()
			c.mu.Lock()
			percent := c.percent
			c.mu.Unlock()
			if good(percent) {
				return
			}
			if time.Now().After(until) {
				t.Fatalf("the percentage is %d", percent)
			}
		}
	}
	requests := make([]byte, 2*mostGrowth)
	becomes(func(percent int) bool { return percent == 100 })
	runtime.KeepAlive(requests)
	becomes(func(percent int) bool { return percent > 100 })
}

// TestSoftLimit: the limit of the heap leaves room for the kernel and the collector.
func TestSoftLimit(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for available, want := range map[uint64]int64{512 * mib: 320 * mib, 128 * mib: 80 * mib, 8192 * mib: 7936 * mib, math.MaxInt64: math.MaxInt64 - 256*mib} {
		if got := softLimit(available); got != want {
			t.Errorf("of %d bytes the heap may have %d, want %d", available, got, want)
		}
	}
	if got := availableMemory(); got == 0 || got > math.MaxInt64 {
		t.Errorf("%d bytes are available", got)
	}
}

// TestCollectorLeavesOutWhatIsHeld: periods and rank indexes in memory do not make the heap grow by a multiple of their size, and
// do not keep it from growing by leastGrowth. Nothing makes it grow by more than mostGrowth and its short-lived part.
func TestCollectorLeavesOutWhatIsHeld(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		live, held int64
		want       int
	}{
		{0, 0, gcPercent},
		{20 * mib, 0, gcPercent},
		{64 * mib, 0, 150},
		{500 * mib, 0, 100},
		{120 * mib, 60 * mib, 75},
		{300 * mib, 256 * mib, 25},
		{80 * mib, 78 * mib, 75},
		{10 * mib, 60 * mib, 100},
		{20 * mib, 19 * mib, gcPercent},
	} {
		if got := percentFor(c.live, c.held); got != c.want {
			t.Errorf("%d MiB live, %d held: %d %%, want %d", c.live/mib, c.held/mib, got, c.want)
		}
	}
}
