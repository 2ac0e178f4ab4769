package leaderboard_test

import (
	"strings"
	"testing"
)

// TestAgesAreOfTheTimeThatPasses denies numbers of nanoseconds since 1970 outside of tests: an age counted with them
// leaps with the clock of the machine (docs/decisions/order.md). A time.Time, or what has passed since one, does not.
func TestAgesAreOfTheTimeThatPasses(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(readDoc(t, file), ".UnixNano()") {
			t.Errorf("%s counts nanoseconds since 1970: take a time.Time, or the time since one that the owner keeps", file)
		}
	}
}
