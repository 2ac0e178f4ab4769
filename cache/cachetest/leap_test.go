package cachetest

import (
	"testing"
	"time"
)

// TestLeap: Leap returns the documented time in this version of Go.
func TestLeap(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		before, after := Leap(now, 0), Leap(now.Add(time.Second), by)
		if wall, passed := after.Round(0).Sub(before.Round(0)), after.Sub(before); wall != by+time.Second || passed != time.Second {
			t.Errorf("a leap of %s is one of %s by the wall clock, and %s pass", by, wall, passed)
		}
	}
}
