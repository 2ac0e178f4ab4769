package app

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// The spare heap lets the collector wait, and takes no memory for that. It is looked at in a process of its own, because
// it is made at the start, when no memory has been used before.
func TestSpareHeap(t *testing.T) {
	const child = "LEADERBOARD_TEST_SPARE_HEAP"
	if os.Getenv(child) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSpareHeap$")
		cmd.Env = append(os.Environ(), child+"=1", "GOGC=100", "GOMEMLIMIT=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s\n%s", err, out)
		}
		return
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	spare := newSpareHeap(func(string) string { return "" })
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.NextGC) - int64(before.NextGC); grown < spareHeap {
		t.Errorf("the collector may wait for %d bytes more, want at least %d", grown, spareHeap)
	}
	if resident := residentBytes(t, spare); resident > spareHeap/2 && !raceDetector() { // which touches what is allocated
		t.Errorf("%d bytes of it and what is around it are in memory", resident)
	}
	runtime.KeepAlive(spare)
}

func TestSpareHeapIsTheOperatorsChoice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		spare := newSpareHeap(func(asked string) string {
			if asked == name {
				return "100"
			}
			return ""
		})
		if spare != nil {
			t.Errorf("there is a spare heap though %s is set", name)
		}
	}
}

func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// residentBytes is how much the kernel holds in memory of the mappings that block lies in; 0 where it does not tell.
func residentBytes(t *testing.T, block []byte) (sum int64) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return 0
	}
	var start int64
	if _, err := fmt.Sscanf(fmt.Sprintf("%p", block), "0x%x", &start); err != nil {
		t.Fatal(err)
	}
	inside, seen := false, false
	for line := range strings.Lines(string(smaps)) {
		var from, to, kib int64
		if _, err := fmt.Sscanf(line, "%x-%x ", &from, &to); err == nil {
			inside = from < start+int64(len(block)) && start < to
		} else if _, err := fmt.Sscanf(line, "Rss: %d kB", &kib); err == nil && inside {
			sum, seen = sum+kib<<10, true
		}
	}
	if !seen {
		t.Error("the block is in no mapping")
	}
	return sum
}
