package testenv

import (
	"strings"
	"testing"
)

// TestClockIsSetOrRefused: a clock that cannot be set is an error: tests on the wrong day would prove nothing.
func TestClockIsSetOrRefused(t *testing.T) {
	t.Setenv(ClockVariable, "")
	if env, err := clockEnv(); env != nil || err != nil {
		t.Errorf("no clock asked for: %q, %v", env, err)
	}
	t.Setenv(ClockVariable, "tomorrow")
	if env, err := clockEnv(); err == nil || !strings.Contains(err.Error(), "tomorrow") {
		t.Errorf("tomorrow: %q, %v", env, err)
	}
	t.Setenv(ClockVariable, "-86400")
	env, err := clockEnv()
	_, missing := faketime()
	if missing != nil {
		if err == nil || !strings.Contains(err.Error(), "apt-get install libfaketime") {
			t.Errorf("without libfaketime: %q, %v", env, err)
		}
		return
	}
	if err != nil || len(env) != 4 || !strings.HasPrefix(env[0], "LD_PRELOAD=/") || env[1] != "FAKETIME=-86400" {
		t.Errorf("yesterday: %q, %v", env, err)
	}
}
