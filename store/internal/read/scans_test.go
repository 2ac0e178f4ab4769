package read

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/turn"
	"leaderboard/leaderboard"
)

// lack is an index that a period of a million lacks, and that is built until ready is closed.
type lack struct {
	entries int64
	left    time.Duration
	ready   chan struct{}
	loads   time.Time
	found   atomic.Bool
}

func lackOf(left time.Duration) *lack {
	return &lack{entries: 1_000_000, left: left, ready: make(chan struct{})}
}

func (l *lack) Entries() int64               { return l.entries }
func (l *lack) Loads() time.Time             { return l.loads }
func (l *lack) Tried() <-chan struct{}       { return l.ready }
func (l *lack) Left(time.Time) time.Duration { return l.left }
func (l *lack) Found() bool                  { return l.found.Load() }

// admitted is the outcome of a call of admit, and how long it took.
type admitted struct {
	permit *scan
	err    error
	after  time.Duration
}

// queue calls admit for work that is to be refused after a second. The outcome is there at once, or comes later.
func queue(t *testing.T, s *scans, m missing) <-chan admitted {
	out := make(chan admitted, 1)
	began := time.Now()
	ctx := turn.With(t.Context(), began.Add(time.Second), func() {})
	go func() {
		permit, err := s.admit(ctx, m, leave(ctx))
		out <- admitted{permit, err, time.Since(began)}
	}()
	synctest.Wait()
	return out
}

// permit returns a permit that is free at once, or nil.
func permit(t *testing.T, out <-chan admitted) *scan {
	t.Helper()
	select {
	case got := <-out:
		if got.permit == nil {
			t.Fatalf("no permit, but %v", got.err)
		}
		return got.permit
	default:
		return nil
	}
}

// TestOneScanOfAPeriod: of a period without an index one answer at a time is counted by scanning, and then none for nine
// times as long; the others wait for the index, at most a second, and then learn how long that takes (promises C2, C7, E5).
func TestOneScanOfAPeriod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m := newScans(5*time.Second), lackOf(7*time.Second)
		first := permit(t, queue(t, s, m))
		second := queue(t, s, m)
		if permit(t, second) != nil {
			t.Fatal("two scans of one period")
		}
		time.Sleep(200 * time.Millisecond)
		first.end(nil)
		third := queue(t, s, m)
		for _, out := range []<-chan admitted{second, third} {
			got := <-out
			var busy *leaderboard.OverloadError
			if !errors.As(got.err, &busy) || busy.Wait != 7*time.Second || got.after != time.Second {
				t.Errorf("%v after %s, want a refusal after a second that says 7 s", got.err, got.after)
			}
		}
		time.Sleep(900 * time.Millisecond) // 2.1 s after the first scan, which took 0.2 s
		fourth := queue(t, s, m)
		if p := permit(t, fourth); p == nil {
			t.Error("no scan after the rest")
		} else {
			time.Sleep(100 * time.Millisecond)
			p.end(nil)
		}
		waiting := queue(t, s, m)
		close(m.ready)
		if got := <-waiting; got.permit != nil || got.err != nil || got.after != 0 {
			t.Errorf("%+v once the index is ready, want to look again at once", got)
		}
	})
}

// TestScansAtOnce: of all periods together two, and one while a scan takes more than twice as long as usual (promises C7, D2).
func TestScansAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScans(5 * time.Second)
		a, b := permit(t, queue(t, s, lackOf(0))), permit(t, queue(t, s, lackOf(0)))
		third := queue(t, s, lackOf(0))
		if a == nil || b == nil || permit(t, third) != nil {
			t.Fatal("want two scans at once")
		}
		a.end(nil)
		if synctest.Wait(); permit(t, third) == nil {
			t.Fatal("the third does not begin once the first has ended")
		}
		time.Sleep(lateTimes*b.usual + time.Millisecond)
		b.end(nil)
		if fourth := queue(t, s, lackOf(0)); permit(t, fourth) != nil {
			t.Error("a further scan begins beside one that takes longer than usual")
		}
	})
}

// TestScansThatCannotEnd: a scan that hit its limit is not repeated before there is an index, and a scan that is expected
// to hit it is not tried at all (promise C7).
func TestScansThatCannotEnd(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"the limit of MySQL":   &mysql.MySQLError{Number: 3024},
		"the limit of MariaDB": &mysql.MySQLError{Number: 1969},
		"the deadline":         context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, m := newScans(5*time.Second), lackOf(time.Minute)
				permit(t, queue(t, s, m)).end(err)
				time.Sleep(24 * time.Hour)
				if permit(t, queue(t, s, m)) != nil {
					t.Error("it is tried again")
				}
				other := permit(t, queue(t, s, lackOf(0)))
				if other == nil {
					t.Fatal("other periods are not scanned any more")
				}
				if m.found.Store(true); len(s.rests) == 0 {
					t.Fatal("the period is forgotten too soon")
				}
				other.end(nil)
				if _, kept := s.rests[m]; kept {
					t.Error("the period is never forgotten")
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s, m := newScans(5*time.Second), lackOf(time.Minute)
		m.entries = 100_000_000
		if permit(t, queue(t, s, m)) != nil {
			t.Error("a scan of 100,000,000 entries is tried")
		}
	})
}

// TestAttemptsAreLookedFor: while no attempt to get the index is under way, a waiting answer looks again twice a second, which begins one,
// and at once when there is an index.
func TestAttemptsAreLookedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m := newScans(5*time.Second), lackOf(0)
		permit(t, queue(t, s, m))
		m.ready = nil
		if got := <-queue(t, s, m); got.permit != nil || got.err != nil || got.after != lookPause {
			t.Errorf("%+v, want to look again after %s", got, lookPause)
		}
		m.found.Store(true)
		if got := <-queue(t, s, m); got.permit != nil || got.err != nil || got.after != 0 {
			t.Errorf("%+v, want to look again at once", got)
		}
	})
}

// TestSavedIndexIsWaitedFor: while an index that is saved is loaded, nothing is scanned.
func TestSavedIndexIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m := newScans(5*time.Second), lackOf(0)
		m.loads = time.Now().Add(500 * time.Millisecond)
		if got := <-queue(t, s, m); got.permit == nil || got.after != 500*time.Millisecond {
			t.Errorf("%+v, want a scan after half a second", got)
		}
	})
}

// TestPatienceWithoutATurn: a caller without a slot to give up waits longer, until ctx ends.
func TestPatienceWithoutATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m := newScans(5*time.Second), lackOf(0)
		permit(t, queue(t, s, m))
		began := time.Now()
		if until := leave(t.Context()); until != began.Add(patience) {
			t.Errorf("it waits for %s", until.Sub(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := s.admit(ctx, m, leave(ctx)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
