package testenv

import "os"

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
