package app

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// MemoryAuto as Config.ResidentMemory means a part of the memory that the process may use.
const MemoryAuto = -1

// autoMemory returns the bytes that MemoryAuto stands for: a quarter of the lesser of GOMEMLIMIT and availableMemory, at most
// 256 MiB.
func autoMemory() int64 {
	const (
		part = 4
		most = 256 << 20
	)
	limit := uint64(debug.SetMemoryLimit(-1)) // does not change it
	return int64(min(min(limit, availableMemory())/part, most))
}

// availableMemory returns how many bytes the process can have: the least of the cgroup's limit, the limits of the process
// (RLIMIT_AS, RLIMIT_DATA) and the machine's memory.
func availableMemory() uint64 {
	least := uint64(math.MaxInt64)
	rlimit := func(resource int) memlimit.Provider {
		return func() (uint64, error) {
			var limit syscall.Rlimit
			err := syscall.Getrlimit(resource, &limit)
			return limit.Cur, err
		}
	}
	for _, of := range []memlimit.Provider{memlimit.FromCgroup, memlimit.FromSystem, rlimit(syscall.RLIMIT_AS), rlimit(syscall.RLIMIT_DATA)} {
		if bytes, err := of(); err == nil && bytes > 0 {
			least = min(least, bytes)
		}
	}
	return least
}

// softLimit returns the size of the heap from which the collector works harder, for a process that can have available bytes. The
// rest is for the kernel's buffers of connections, which count in a cgroup too, and for garbage that is not collected yet.
func softLimit(available uint64) int64 {
	const mostRest = 256 << 20
	return int64(available - min(available/8*3, mostRest))
}

// residentMemory returns how many bytes periods in memory may take together.
func (c *Config) residentMemory() int64 {
	if c.ResidentMemory == MemoryAuto {
		return autoMemory()
	}
	return c.ResidentMemory
}

const (
	// gcPercent lets the heap grow to four times its live part before it is collected. The live part is small, and each request
	// leaves about 4 KB of garbage: at the default of 100 the collector would run many times a second.
	gcPercent = 300
	// gcPercentLeast is for a large heap that is nearly all periods and rank indexes.
	gcPercentLeast = 25
	// leastGrowth is how many bytes the heap grows at least, up to gcPercent. Without it a heap that is nearly all periods would be
	// collected ten times a second while they are read.
	leastGrowth = 64 << 20
	// mostGrowth is by how many bytes the heap grows at most, or by as much as its short-lived part. That is large when many requests
	// wait, and more room for garbage would hardly save work.
	mostGrowth = 96 << 20
)

// collector sets gcPercent so that neither periods and rank indexes in memory, which live long, nor a flood of requests make the heap
// grow by a multiple of their size.
type collector struct {
	on bool // the operator has set neither GOGC nor GOMEMLIMIT

	mu               sync.Mutex // guards the fields below
	periods, indexes int64      // bytes
	percent          int
}

// newCollector sets gcPercent and softLimit, unless the operator has set GOGC or GOMEMLIMIT.
func newCollector(env func(string) string) *collector {
	c := &collector{on: env("GOGC") == "" && env("GOMEMLIMIT") == ""}
	if c.on {
		debug.SetMemoryLimit(softLimit(availableMemory()))
	}
	c.holdPeriods(0)
	return c
}

// holdPeriods adapts gcPercent to the bytes that periods in memory take. A nil collector does nothing.
func (c *collector) holdPeriods(bytes int64) {
	c.hold(func() { c.periods = bytes })
}

// holdIndexes adapts gcPercent to the bytes that rank indexes in memory take. A nil collector does nothing.
func (c *collector) holdIndexes(bytes int64) {
	c.hold(func() { c.indexes = bytes })
}

// follow adapts gcPercent after each collection, until ctx ends.
func (c *collector) follow(ctx context.Context) {
	if !c.on || ctx.Err() != nil {
		return
	}
	c.hold(func() {})
	type collected struct{ _ [64]byte } // the runtime puts smaller ones together, and may keep them
	runtime.AddCleanup(&collected{}, func(ctx context.Context) { c.follow(ctx) }, ctx)
}

func (c *collector) hold(note func()) {
	if c == nil || !c.on {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	note()
	if percent := percentFor(liveHeap(), c.periods+c.indexes); percent != c.percent {
		c.percent = percent
		debug.SetGCPercent(percent)
	}
}

// percentFor returns the percentage at which the heap grows by three times its short-lived part, which is the live heap without
// the bytes held. It grows by leastGrowth at least, and by mostGrowth at most, or as much as the short-lived part.
func percentFor(live, held int64) int {
	if live <= 0 {
		return gcPercent
	}
	live = max(live, held) // periods may have come since the last collection
	rest := max(live-held, live/10)
	growth := max(min(gcPercent*rest, 100*max(rest, mostGrowth)), 100*leastGrowth)
	const step = 25 // each change stops the world for a moment
	return min(gcPercent, max(gcPercentLeast, int(growth/live)/step*step))
}

// liveHeap returns the bytes that the last collection found alive.
func liveHeap() int64 {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(sample)
	if sample[0].Value.Kind() != runtimemetrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
