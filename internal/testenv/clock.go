package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// ClockVariable is the environment variable that sets the clock of every MySQL and MariaDB that is started: by how many
// seconds it is ahead of this machine's, below zero when it is behind. It needs libfaketime. The clocks of Redis and of
// the tests' own process stay: what the product writes is dated by the database.
const ClockVariable = "LEADERBOARD_TEST_CLOCK"

// clockEnv returns the variables for a database whose clock ClockVariable sets; nil when it is not set.
func clockEnv() ([]string, error) {
	ahead := os.Getenv(ClockVariable)
	if ahead == "" {
		return nil, nil
	}
	seconds, err := strconv.ParseInt(ahead, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is %q, want a number of seconds", ClockVariable, ahead)
	}
	library, err := faketime()
	if err != nil {
		return nil, fmt.Errorf("%s is set: %w", ClockVariable, err)
	}
	return []string{
		"LD_PRELOAD=" + library, fmt.Sprintf("FAKETIME=%+d", seconds),
		// Waits by the monotonic clock end when they should: with the fix for older C libraries MySQL's never wait, and it
		// takes a minute to start.
		"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_FORCE_MONOTONIC_FIX=0",
	}, nil
}

// faketime finds the library where Linux distributions put it.
func faketime() (string, error) {
	for _, pattern := range []string{"/usr/lib/*/faketime/", "/usr/lib*/faketime/", "/usr/local/lib/faketime/"} {
		found, err := filepath.Glob(pattern + "libfaketime.so.1")
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("no libfaketime.so.1 on this machine; Debian, Ubuntu: apt-get install libfaketime")
}
