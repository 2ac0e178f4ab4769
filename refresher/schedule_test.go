package refresher

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
)

// list is the boards; all of them share the site's one period.
type list struct {
	mu     sync.Mutex
	site   *site
	boards []leaderboard.Board
	err    error
}

func (l *list) Boards(_ context.Context, after string, limit int) ([]leaderboard.Board, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []leaderboard.Board
	for _, b := range l.boards {
		if b.Name > after && len(out) < limit {
			out = append(out, b)
		}
	}
	return out, l.err
}

func (l *list) CurrentPeriod(context.Context, leaderboard.Board, leaderboard.Window) (leaderboard.Period, error) {
	l.site.mu.Lock()
	defer l.site.mu.Unlock()
	return l.site.period, l.site.err
}

func (l *list) set(refresh leaderboard.Refresh, version int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rules := leaderboard.Rules{Refresh: refresh}.WithDefaults()
	l.boards = []leaderboard.Board{{ID: 7, Name: "b", Version: version, Rules: rules}}
}

// scheduled runs the schedule of one board with a copy that is current.
func scheduled(t *testing.T, refresh leaderboard.Refresh, change func(*Config)) (*site, *list) {
	t.Helper()
	s := newSite()
	s.write(10)
	s.copied = leaderboard.CopyInfo{Exists: true, Revision: leaderboard.Revision{Seq: 10, AsOf: s.period.Committed}}
	l := &list{site: s}
	l.set(refresh, 1)
	r := newRefresher(t, s, func(c *Config) {
		c.Boards = l
		if change != nil {
			change(c)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return s, l
}

// fates counts the runs by what they were.
func fates(s *site) map[string]int {
	out := map[string]int{}
	for _, h := range s.history() {
		out[h]++
	}
	return out
}

func TestIncrementalSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := scheduled(t, leaderboard.Refresh{Incremental: "10s"}, nil)
		pass(10 * time.Minute)
		if got := s.history(); len(got) > 0 {
			t.Errorf("a copy that lacks nothing: %v", got)
		}
		for range 60 {
			s.write(1)
			pass(10 * time.Second)
		}
		if n := fates(s)["incremental schedule done"]; n < 50 || n > 60 {
			t.Errorf("%d catch-ups in 10 minutes, want about 60: %v", n, fates(s))
		}
		s.change(func() { s.copied, s.runs = leaderboard.CopyInfo{}, nil })
		s.write(1)
		pass(time.Minute)
		if got := s.history(); len(got) > 0 {
			t.Errorf("a board without a copy: %v", got)
		}
	})
}

func TestIncrementalRepairs(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(*site){
		"too short":    func(s *site) { s.copied.Short = true },
		"another past": func(s *site) { s.copied.AsOf++ },
		"ahead":        func(s *site) { s.copied.Seq++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _ := scheduled(t, leaderboard.Refresh{Incremental: "10s"}, nil)
				s.change(func() { harm(s) })
				pass(12 * time.Second)
				if got := s.history(); !reflect.DeepEqual(got, []string{"incremental schedule done"}) {
					t.Errorf("history: %v", got)
				}
			})
		})
	}
}

func TestCronSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a bubble begins at midnight UTC
		s, _ := scheduled(t, leaderboard.Refresh{Full: "30 4 * * *", Incremental: "off"}, nil)
		pass(4*time.Hour + 29*time.Minute)
		if s.buildCount() > 0 {
			t.Error("too early")
		}
		pass(2 * time.Minute)
		s.change(func() {
			if len(s.builds) != 1 || s.builds[0].UTC().Format("15:04") != "04:30" {
				t.Errorf("builds: %v", s.builds)
			}
		})
		pass(48 * time.Hour)
		if got := fates(s); !reflect.DeepEqual(got, map[string]int{"full schedule done": 3}) {
			t.Errorf("after three days: %v", got)
		}
		s.change(func() { s.copied.Exists = false })
		pass(48 * time.Hour)
		if n := s.buildCount(); n != 3 {
			t.Errorf("a board without a copy was built: %d", n)
		}
	})
}

// TestCronAcrossProcesses: three processes keep the same schedule and build once.
func TestCronAcrossProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, l := scheduled(t, leaderboard.Refresh{Full: "0 * * * *", Incremental: "off"}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 2 {
			r := newRefresher(t, s, func(c *Config) { c.Boards = l })
			wg.Go(func() { r.Run(ctx) })
		}
		pass(24*time.Hour + time.Minute)
		cancel()
		wg.Wait()
		if n := s.buildCount(); n != 24 {
			t.Errorf("%d builds in 24 hours by 3 processes", n)
		}
	})
}

func TestDynamicSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := scheduled(t, leaderboard.Refresh{Dynamic: "900/1 60/100", Incremental: "off"}, nil)
		pass(time.Hour)
		s.write(1)
		pass(14 * time.Minute)
		if got := s.history(); len(got) > 0 {
			t.Errorf("one change after 14 minutes: %v", got)
		}
		pass(2 * time.Minute)
		if got := s.history(); !reflect.DeepEqual(got, []string{"incremental dynamic done"}) {
			t.Errorf("one change after 16 minutes: %v", got)
		}
		s.write(100)
		pass(50 * time.Second)
		if got := s.history(); len(got) != 1 {
			t.Errorf("100 changes after 50 s: %v", got)
		}
		pass(30 * time.Second)
		if got := s.history(); len(got) != 2 {
			t.Errorf("100 changes after 80 s: %v", got)
		}
		s.change(func() {
			if s.copied.Seq != s.period.LastSeq {
				t.Errorf("the copy is at %d, MySQL at %d", s.copied.Seq, s.period.LastSeq)
			}
		})
	})
}

func TestScheduleFollowsTheRules(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, l := scheduled(t, leaderboard.Refresh{Incremental: "off"}, nil)
		behind := func() {
			s.write(1)
			pass(2 * time.Minute)
		}
		behind()
		if got := s.history(); len(got) > 0 {
			t.Errorf("nothing is scheduled: %v", got)
		}
		l.set(leaderboard.Refresh{Incremental: "5s"}, 2)
		behind()
		if got := s.history(); len(got) != 1 {
			t.Errorf("changed to 5s: %v", got)
		}
		l.mu.Lock()
		l.boards = nil
		l.mu.Unlock()
		pass(11 * time.Second)
		behind()
		if got := s.history(); len(got) != 1 {
			t.Errorf("deleted: %v", got)
		}
	})
}

// TestScheduleSurvives: when MySQL or Redis are away the schedule goes on with what it knows.
func TestScheduleSurvives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, l := scheduled(t, leaderboard.Refresh{Incremental: "5s"}, nil)
		pass(time.Minute)
		l.mu.Lock()
		l.err = errors.New("away")
		l.mu.Unlock()
		s.change(func() { s.err = errors.New("away") })
		pass(time.Minute)
		s.change(func() { s.err = nil })
		s.write(1)
		pass(10 * time.Second)
		if got := s.history(); !reflect.DeepEqual(got, []string{"incremental schedule done"}) {
			t.Errorf("history: %v", got)
		}
	})
}

// TestManyBoards: many boards are all looked at, a bounded number at once, and not all at the same moment.
func TestManyBoards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		starts := map[time.Time]int{}
		seen := map[string]bool{}
		s, l := newSite(), &list{}
		l.site = s
		for i := range 1200 { // more than a page of the list
			l.boards = append(l.boards, leaderboard.Board{ID: int64(i), Name: fmt.Sprintf("b%04d", i), Version: 1, Rules: leaderboard.Rules{}.WithDefaults()})
		}
		r := newRefresher(t, s, func(c *Config) {
			c.Boards = &watched{list: l, look: func(b leaderboard.Board) {
				mu.Lock()
				defer mu.Unlock()
				starts[time.Now()]++
				seen[b.Name] = true
			}}
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.Run(ctx) })
		pass(5 * time.Second) // half of the interval
		mu.Lock()
		if len(seen) < 400 || len(seen) > 800 || len(starts) < 80 {
			t.Errorf("%d boards were looked at, at %d moments", len(seen), len(starts))
		}
		mu.Unlock()
		pass(7 * time.Second)
		cancel()
		wg.Wait()
		if len(seen) != 1200 {
			t.Errorf("%d boards were looked at", len(seen))
		}
		if n := s.buildCount(); n != 0 {
			t.Errorf("%d builds", n)
		}
	})
}

// TestScheduleToleratesWrites: a write that comes between the looks at MySQL and at the copy is no reason for a run.
func TestScheduleToleratesWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := scheduled(t, leaderboard.Refresh{Incremental: "10s"}, func(c *Config) {
			l := c.Boards.(*list)
			first := true
			c.Boards = &watched{list: l, after: func() {
				if first {
					l.site.write(1)
					l.site.change(func() { l.site.copied.Seq, l.site.copied.AsOf = l.site.period.LastSeq, l.site.period.Committed })
				}
				first = !first
			}}
		})
		pass(time.Minute)
		if got := s.history(); len(got) > 0 {
			t.Errorf("history: %v", got)
		}
		s.change(func() {
			if s.period.LastSeq < 15 {
				t.Errorf("only %d writes", s.period.LastSeq)
			}
		})
	})
}

// watched calls look before, and after behind, each look at a period.
type watched struct {
	*list
	look  func(leaderboard.Board)
	after func()
}

func (w *watched) CurrentPeriod(ctx context.Context, b leaderboard.Board, window leaderboard.Window) (leaderboard.Period, error) {
	if w.look != nil {
		w.look(b)
	}
	if w.after != nil {
		defer w.after()
	}
	return w.list.CurrentPeriod(ctx, b, window)
}

// pass lets time pass, and everybody does what they have to do by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
