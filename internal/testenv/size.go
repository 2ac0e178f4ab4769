package testenv

import (
	"os"
	"time"
)

const (
	redisDatabases = 512              // of a Redis that we start
	cleanupLimit   = 15 * time.Second // how long the end of a test may wait for a server
)

// TortureVariable is the environment variable with which tests run at their full sizes, as in make test KIND=torture. Without it they have
// sizes that fit into a run of all tests.
const TortureVariable = "LEADERBOARD_TORTURE"

// Size returns the size of a test: ci in a run of all tests, full in make test KIND=torture.
func Size[N any](ci, full N) N {
	if os.Getenv(TortureVariable) != "" {
		return full
	}
	return ci
}
