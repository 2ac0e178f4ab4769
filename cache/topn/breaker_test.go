package topn

import (
	"errors"
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

// TestBreakerProbes: an open breaker without readers finds that the server answers again, and sends no probes to a
// server that readers try.
func TestBreakerProbes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, asked := false, 0
		b := NewBreaker(time.Now, func(is bool) { open = is })
		away := errors.New("away")
		ask := func(err error) func() error { return func() error { asked++; return err } }
		b.probe(ask(nil))
		for range BreakerFailures {
			b.Done(false)
		}
		b.probe(ask(nil))
		if !open || asked > 0 {
			t.Errorf("asked %d times, open %t", asked, open)
		}
		time.Sleep(BreakerPause - time.Nanosecond)
		b.Allow() // a reader
		time.Sleep(time.Nanosecond)
		b.probe(ask(nil))
		if asked > 0 {
			t.Error("asked beside a reader")
		}
		time.Sleep(BreakerPause)
		if b.probe(ask(away)); !open || asked != 1 {
			t.Errorf("after it failed: asked %d times, open %t", asked, open)
		}
		time.Sleep(BreakerPause)
		if b.probe(ask(nil)); open || asked != 2 || !b.Allow() {
			t.Errorf("after it answered: asked %d times, open %t", asked, open)
		}
	})
}
