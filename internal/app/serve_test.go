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
		tuneGC(func(asked string) string {
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
