package guard

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// TestBodyBudget: which bodies may take room, which bodies are evicted, and that all room is given back.
func TestBodyBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, stopped := NewBodyBudget(100, "full"), ""
		body := func(name string) *Reservation {
			a := NewReservation(func() { stopped += name })
			in.Begin(a)
			time.Sleep(time.Millisecond)
			return a
		}
		idle, first, second, third := body("i"), body("1"), body("2"), body("3")
		if errors.Join(in.Grow(first, 10), in.Grow(first, 50), in.Grow(second, 50)) != nil || in.bytes != 100 {
			t.Fatalf("%d bytes", in.bytes)
		}
		err := in.Grow(third, 1)
		var busy *leaderboard.OverloadError
		if !errors.As(err, &busy) || busy.Wait <= 0 || stopped != "" {
			t.Fatalf("with no room, and no stalled client: %v, stopped %q", err, stopped)
		}
		time.Sleep(stalledAfter)
		in.Move(second)
		if err := in.Grow(third, 50); err != nil || stopped != "1" || in.bytes != 100 {
			t.Fatalf("with a stalled one: %v, stopped %q, %d bytes", err, stopped, in.bytes)
		}
		if err := in.Grow(first, 60); !errors.Is(err, errEvicted) {
			t.Errorf("the one that gave way grows: %v", err)
		}
		if err := in.Arrived(first); !errors.Is(err, errEvicted) {
			t.Errorf("the one that gave way arrives: %v", err)
		}
		if err := in.Arrived(second); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if err := in.Grow(idle, 90); err == nil || stopped != "13" {
			t.Errorf("what is there gave way: %v, stopped %q", err, stopped)
		}
		for _, a := range []*Reservation{idle, first, second, third} {
			in.End(a)
		}
		if in.bytes != 0 || len(in.underWay) != 0 {
			t.Errorf("%d bytes and %d bodies are left", in.bytes, len(in.underWay))
		}
	})
}
