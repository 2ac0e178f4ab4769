package testenv

import (
	"os"
	"time"
)

const (
	redisDatabases = 512              // of a Redis that we start
	cleanupLimit   = 15 * time.Second // how long the end of a test may wait for a server
)

// TortureVariable is the environment variable that makes tests run at their full sizes, as make torture does. Without it
// they have sizes that fit into a run of all tests.
const TortureVariable = "LEADERBOARD_TORTURE"

// Size returns how much of something a test does: ci in a run of all tests, full in make torture.
func Size[N any](ci, full N) N {
	if os.Getenv(TortureVariable) != "" {
		return full
	}
	return ci
}
