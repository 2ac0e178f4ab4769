package refresher

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

const year = 365 * 24 * time.Hour

// TestRedisClockLeaps: after any leap of the clock of Redis between two builds, a forced rebuild builds soon, and so
// the next build by a cron expression does.
func TestRedisClockLeaps(t *testing.T) {
	t.Parallel()
	for _, leap := range []time.Duration{-time.Minute, -time.Hour, time.Hour, -year, year} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := scheduled(t, leaderboard.Refresh{Full: "0 * * * *", Incremental: "off"}, func(c *Config) { c.Random = func() float64 { return 0 } })
			other := newRefresher(t, s, nil)
			forced := func() {
				t.Helper()
				before, asked := s.buildCount(), time.Now()
				run, err := other.RunOnce(t.Context(), full())
				if err != nil || run.State != leaderboard.RunStateDone || s.buildCount() != before+1 {
					t.Errorf("leap %s: %+v, %v; %d builds more", leap, run, err, s.buildCount()-before)
				}
				if took := time.Since(asked); took > 3*time.Second {
					t.Errorf("leap %s: it took %s", leap, took)
				}
			}
			forced()
			for _, ahead := range []time.Duration{leap, 0} {
				s.change(func() { s.redisAhead = leaderboard.Micros(ahead.Microseconds()) })
				forced()
				before := s.buildCount()
				pass(3*time.Hour + 10*time.Second)
				if n := s.buildCount() - before; n != 3 {
					t.Errorf("leap %s: %d builds in three hours", leap, n)
				}
			}
		})
	}
}

// TestShortCopyAfterRedisClockLeap: a copy that is short is built again at once, not when the clock has caught up.
func TestShortCopyAfterRedisClockLeap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		r := newRefresher(t, s, nil)
		s.copied = leaderboard.CopyInfo{Exists: true, Short: true, BuildStarted: micros() + leaderboard.Micros(time.Hour.Microseconds())}
		asked := time.Now()
		if err := r.Demand(leaderboard.PeriodRef{ID: 70})(t.Context()); err != nil || s.buildCount() != 1 || time.Since(asked) > time.Second {
			t.Errorf("%v; %d builds after %s", err, s.buildCount(), time.Since(asked))
		}
	})
}

// TestMachineClockLeaps: cron expressions follow the clock of the machine wherever it is set, incremental refreshes do
// not care.
func TestMachineClockLeaps(t *testing.T) {
	t.Parallel()
	for _, leap := range []time.Duration{-time.Hour, time.Hour, -year, year, 20 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s, l := newSite(), &list{}
			l.site, s.copied.Exists = s, true
			l.set(leaderboard.Refresh{Full: "30 * * * *", Incremental: "10s"}, 1)
			var ahead atomic.Int64
			wall := func(now time.Time) time.Time { return now.Round(0).Add(time.Duration(ahead.Load())) }
			r := runs(t, s, l, func(c *Config) { c.wall, c.Random = wall, func() float64 { return 0 } })
			pass(2 * time.Hour)
			for _, to := range []time.Duration{leap, 0} {
				ahead.Store(int64(to))
				pass(5 * time.Minute) // the skipped build comes at once
				before := s.buildCount()
				pass(3 * time.Hour)
				if n := s.buildCount() - before; n != 3 {
					t.Errorf("leap %s, clock %s ahead: %d builds in three hours", leap, to, n)
				}
				s.change(func() {
					if at := wall(s.builds[len(s.builds)-1]).UTC(); at.Minute() != 30 {
						t.Errorf("leap %s: built at %s", leap, at)
					}
				})
				s.write(1)
				l.read(r)
				pass(20 * time.Second)
				s.change(func() {
					if s.copied.Seq != s.period.LastSeq {
						t.Errorf("leap %s: the copy is at %d, the database at %d", leap, s.copied.Seq, s.period.LastSeq)
					}
				})
			}
		})
	}
}
