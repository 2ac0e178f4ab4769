package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestTimeline: a server is back when no later second has failures or is slow.
func TestTimeline(t *testing.T) {
	line := &timeline{start: time.Now()}
	answer := func(second, status int, took time.Duration) {
		begin := line.start.Add(time.Duration(second) * time.Second)
		line.observe(begin, begin.Add(took), said{status: status})
	}
	answer(0, 503, time.Millisecond)
	answer(1, 200, time.Second)
	answer(2, 200, time.Millisecond)
	answer(4, 200, 2*time.Millisecond)
	if got := line.worst(); got != time.Second {
		t.Errorf("the slowest second has %s", got)
	}
	for limit, want := range map[time.Duration]int{2 * time.Second: 1, 10 * time.Millisecond: 2} {
		if got, ok := line.calmAfter(limit); got != want || !ok {
			t.Errorf("within %s after %d s, %t, want %d", limit, got, ok, want)
		}
	}
	if got, ok := line.calmAfter(time.Millisecond); ok {
		t.Errorf("within a millisecond after %d s", got)
	}
}

// TestRejectionCost: the cost of rejections is the rest when the cost of the answers is subtracted.
func TestRejectionCost(t *testing.T) {
	f := &flood{loadResult: &loadResult{answers: 1100, failed: 1000, refused: 1000}, cpu: 200 * time.Millisecond}
	if got := f.perRejection(time.Millisecond); got != 100*time.Microsecond {
		t.Errorf("a rejection costs %s", got)
	}
	var rep report
	rep.addRejection("something", f, time.Millisecond)
	if r := rep.rows[0]; r.ratio != 0.1 || r.met != "no" {
		t.Errorf("%+v", r)
	}
	f.failed++
	if f.broken() == nil {
		t.Error("a failure of another kind is not noticed")
	}
}

// TestPin: the load and the servers have no core in common, unless there is only one.
func TestPin(t *testing.T) {
	all, err := cores()
	if err != nil {
		t.Fatal(err)
	}
	forLoad, forServers := split(all)
	if forLoad.Count() != 1 || forServers.Count() != max(1, all.Count()-1) {
		t.Errorf("of %d cores the load has %d, the servers %d", all.Count(), forLoad.Count(), forServers.Count())
	}
	defer func() {
		if err := pin(os.Getpid(), all); err != nil {
			t.Error(err)
		}
	}()
	if err := pin(os.Getpid(), forLoad); err != nil {
		t.Fatal(err)
	}
	if now, err := cores(); err != nil || now != forLoad {
		t.Errorf("pinned to %v, %v", now, err)
	}
}

// TestPeakMemory reads the kernel's value for this process.
func TestPeakMemory(t *testing.T) {
	got, err := peakMemory(os.Getpid())
	if err != nil || got < 1 {
		t.Errorf("%v MiB, %v", got, err)
	}
	if _, err := peakMemory(0); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a process that is not there: %v", err)
	}
}
