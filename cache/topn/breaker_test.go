package topn

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var changes []bool
		b := NewBreaker(time.Now, func(open bool) { changes = append(changes, open) })
		try := func(ok bool) bool {
			if !b.Allow() {
				return false
			}
			b.Done(ok)
			return true
		}
		for range 10 { // failures that are not in a row
			try(false)
			try(false)
			try(true)
		}
		tried := 0
		for range 100 {
			if try(false) {
				tried++
			}
		}
		if tried != BreakerFailures {
			t.Errorf("%d tries before it opened, want %d", tried, BreakerFailures)
		}
		time.Sleep(BreakerPause)
		if !b.Allow() || b.Allow() || b.Allow() {
			t.Error("want exactly one probe")
		}
		b.Done(false)
		if b.Allow() {
			t.Error("a failed probe lets others try")
		}
		time.Sleep(BreakerPause)
		for range 2 { // the probe, and a call after it
			if !try(true) {
				t.Error("a probe that succeeded does not close it")
			}
		}
		if fmt.Sprint(changes) != "[true false]" {
			t.Errorf("changes: %v", changes)
		}
	})
}
