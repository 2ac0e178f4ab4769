package app

import (
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"testing"
)

func TestGCPercent(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	for name, want := range map[string]uint64{"GOGC": 50, "GOMEMLIMIT": 50, "": gcPercent} {
		debug.SetGCPercent(50)
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
	}
}

// TestCollectorLeavesResidentsOut: periods in memory do not make the heap grow by a multiple of theirs.
func TestCollectorLeavesResidentsOut(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		live, resident int64
		want           int
	}{
		{0, 0, gcPercent}, {20 * mib, 0, gcPercent}, {80 * mib, 60 * mib, 75}, {300 * mib, 256 * mib, 25}, {10 * mib, 60 * mib, 25},
	} {
		if got := percentFor(c.live, c.resident); got != c.want {
			t.Errorf("%d MiB live, %d of them resident: %d %%, want %d", c.live/mib, c.resident/mib, got, c.want)
		}
	}
}
