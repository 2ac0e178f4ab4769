package refresher

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
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

func (l *list) CurrentPeriod(_ context.Context, b leaderboard.Board, _ leaderboard.Window) (leaderboard.Period, error) {
	l.mu.Lock()
	there := slices.ContainsFunc(l.boards, func(one leaderboard.Board) bool { return one.ID == b.ID })
	l.mu.Unlock()
	if !there {
		return leaderboard.Period{}, leaderboard.ErrBoardNotFound
	}
	l.site.mu.Lock()
	defer l.site.mu.Unlock()
	return l.site.period, l.site.err
}

func (l *list) set(refresh leaderboard.Refresh, version int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rules := leaderboard.Rules{Refresh: refresh}.WithDefaults()
	l.boards = []leaderboard.Board{{ID: 7, Name: "b", Version: version, Rules: rules, CreatedTime: leaderboard.MicrosOf(time.Now()) + 1}}
}

// scheduled runs the schedule of one board with a copy that is current. It is read once a second.
func scheduled(t *testing.T, refresh leaderboard.Refresh, change func(*Config)) (*site, *list) {
	t.Helper()
	s := newSite()
	s.write(10)
	s.copied = leaderboard.CopyInfo{Exists: true, Revision: leaderboard.Revision{Seq: 10, AsOf: s.period.Committed}}
	l := &list{site: s}
	l.set(refresh, 1)
	r := runs(t, s, l, change)
	reader := time.NewTicker(time.Second)
	l.read(r)
	done := make(chan struct{})
	go func() {
		defer reader.Stop()
		for {
			select {
			case <-reader.C:
				l.read(r)
			case <-done:
				return
			}
		}
	}()
	t.Cleanup(func() { close(done) })
	return s, l
}

// runs is a process that keeps the schedule of boards.
func runs(t *testing.T, s *site, l *list, change func(*Config)) *Refresher {
	t.Helper()
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
	return r
}

// read makes a process read all boards, which it does not while MySQL is away.
func (l *list) read(r *Refresher) {
	l.mu.Lock()
	boards, err := l.boards, l.err
	l.mu.Unlock()
	l.site.mu.Lock()
	period := l.site.period
	l.site.mu.Unlock()
	for _, b := range boards {
		if err == nil {
			r.Follow(leaderboard.Listing{Board: b, Periods: []leaderboard.Period{period}})
		}
	}
}

// fates counts the runs by their outcome.
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
		for range 600 { // each time that it comes by, something is lacking
			s.write(1)
			pass(time.Second)
		}
		if n := fates(s)["incremental schedule done"]; n < 54 || n > 67 { // of a tenth more or less each
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
		s, l := newSite(), &list{}
		l.site = s
		l.set(leaderboard.Refresh{Full: "30 4 * * *"}, 1)
		runs(t, s, l, nil) // the board is not read here, and has no copy
		pass(4*time.Hour + 29*time.Minute)
		if s.buildCount() > 0 {
			t.Error("too early")
		}
		pass(11 * time.Minute)
		s.change(func() {
			if len(s.builds) != 1 || s.builds[0].UTC().Format("15:04") < "04:30" || s.builds[0].UTC().Format("15:04") > "04:40" {
				t.Errorf("builds: %v", s.builds)
			}
		})
		pass(48 * time.Hour)
		if got := fates(s); !reflect.DeepEqual(got, map[string]int{"full schedule done": 3}) {
			t.Errorf("after three days: %v", got)
		}
		built := s.buildCount()
		for _, c := range []struct {
			what   string
			change func()
			builds int
		}{
			{"lacks nothing", func() { s.copied.TTL = 13 * time.Hour }, 0}, // half of the time that an unread copy has is 12 hours
			{"lacks a change", func() { s.copied.TTL, s.period.LastSeq = 24*time.Hour, 1 }, 1},
			{"is short", func() { s.copied.TTL, s.copied.Short = 24*time.Hour, true }, 1},
			{"is about to expire", func() { s.copied.TTL = time.Hour }, 1},
			{"is gone", func() { s.copied = leaderboard.CopyInfo{} }, 1},
		} {
			s.change(c.change)
			pass(24 * time.Hour)
			if built += c.builds; s.buildCount() != built {
				t.Errorf("a copy that %s: %d builds, want %d", c.what, s.buildCount(), built)
			}
		}
	})
}

// TestCronIsSpread: boards that are due at the same minute are built one after another, a few at once, in the first half of their
// interval.
func TestCronIsSpread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := manyBoards(600)
		for i := range l.boards {
			l.boards[i].Rules.Refresh.Full = "*/10 * * * *"
		}
		seen := newLooks(l.site, l)
		l.site.copied = leaderboard.CopyInfo{Exists: true, TTL: 24 * time.Hour}
		runs(t, l.site, l, func(c *Config) { c.Boards, c.Copies = seen, seen })
		looked := func() (n, moments int) {
			n, _, _ = seen.counts()
			seen.mu.Lock()
			defer seen.mu.Unlock()
			return n, len(seen.moment)
		}
		pass(12*time.Minute + 30*time.Second)
		if n, moments := looked(); n < 200 || n > 400 || moments < 150 {
			t.Errorf("half-way %d looks at %d moments", n, moments)
		}
		pass(2*time.Minute + 31*time.Second)
		if n, _ := looked(); n != 600 {
			t.Errorf("%d looks at 600 boards", n)
		}
		if n := l.site.buildCount(); n > 0 {
			t.Errorf("%d builds of copies that lack nothing", n)
		}
	})
}

// TestCronAfterARestart: a server that starts within the spread of a tick does that tick's refresh, because the server
// that was doing it may be gone. A server that starts later waits for the next tick, and a board has no ticks from
// before it was made.
func TestCronAfterARestart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after, age time.Duration
		builds     int
	}{
		"within the spread": {5 * time.Minute, time.Hour, 1},
		"after it":          {11 * time.Minute, time.Hour, 0},
		"a new board":       {5 * time.Minute, time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pass(24*time.Hour + c.after)
				s, l := newSite(), &list{}
				l.site = s
				l.set(leaderboard.Refresh{Full: "0 0 * * *"}, 1)
				l.boards[0].CreatedTime = leaderboard.MicrosOf(time.Now().Add(-c.age))
				runs(t, s, l, nil)
				pass(12 * time.Hour)
				if n := s.buildCount(); n != c.builds {
					t.Errorf("%d builds, want %d", n, c.builds)
				}
			})
		})
	}
}

// TestTickWaitsForTheFormer: a tick that comes during the refresh of the previous tick is skipped and counted.
func TestTickWaitsForTheFormer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, l := newSite(), &list{}
		l.site, s.took = s, 70*time.Second
		l.set(leaderboard.Refresh{Full: "* * * * *"}, 1)
		late := 0
		runs(t, s, l, func(c *Config) { c.Observer = observed{late: func() { late++ }} })
		pass(10*time.Minute + 30*time.Second)
		s.change(func() {
			if ticks := len(s.builds) + late; s.most != 1 || late < 1 || ticks < 9 || ticks > 11 {
				t.Errorf("%d at once, %d builds, %d late ticks", s.most, len(s.builds), late)
			}
		})
	})
}

// TestMemoryIsForWhatIsRead: while Redis is nearly full, copies of boards that are read are built, others are refused, which is
// recorded once.
func TestMemoryIsForWhatIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, l := newSite(), &list{}
		l.site = s
		l.set(leaderboard.Refresh{Full: "* * * * *"}, 1)
		var share atomic.Value
		share.Store(0.81)
		r := runs(t, s, l, func(c *Config) {
			c.Memory = func(context.Context, leaderboard.PeriodRef) (float64, error) { return share.Load().(float64), nil }
		})
		want := func(when string, want map[string]int) {
			t.Helper()
			pass(3 * time.Minute)
			if got := fates(s); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", when, got, want)
			}
		}
		want("it is not read", map[string]int{"full memory refused": 1})
		l.read(r)
		pass(2 * time.Minute)
		if got := fates(s); got["full schedule done"] < 1 {
			t.Errorf("it is read: %v", got)
		}
		built := fates(s)["full schedule done"]
		want("it is not read any more", map[string]int{"full memory refused": 2, "full schedule done": built})
		share.Store(0.8)
		want("there is room", map[string]int{"full memory refused": 2, "full schedule done": built + 3})
	})
}

// TestCronAcrossProcesses: three processes keep the same schedule and build once.
func TestCronAcrossProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		atOnce := func() float64 { return 0 } // not spread
		s, l := scheduled(t, leaderboard.Refresh{Full: "0 * * * *", Incremental: "off"}, func(c *Config) { c.Random = atOnce })
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 2 {
			r := newRefresher(t, s, func(c *Config) { c.Boards, c.Random = l, atOnce })
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

// TestScheduleSurvives: when MySQL or Redis is away the schedule continues with the plans that it has.
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
		l.mu.Lock()
		l.err = nil
		l.mu.Unlock()
		s.write(1)
		pass(10 * time.Second)
		if got := s.history(); !reflect.DeepEqual(got, []string{"incremental schedule done"}) {
			t.Errorf("history: %v", got)
		}
	})
}

// looks counts what the schedule asks.
type looks struct {
	*list
	copies
	mu     sync.Mutex
	moment map[time.Time]int
	boards map[string]int // looks at copies
	mysql  int            // looks at periods
	pages  int            // of the list
}

func newLooks(s *site, l *list) *looks {
	return &looks{list: l, copies: copies{s}, moment: map[time.Time]int{}, boards: map[string]int{}}
}

func (l *looks) Info(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyInfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moment[time.Now()]++
	l.boards[p.Board]++
	return l.copies.Info(ctx, p)
}

func (l *looks) Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pages++
	return l.list.Boards(ctx, after, limit)
}

func (l *looks) CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mysql++
	return l.list.CurrentPeriod(ctx, b, w)
}

// counts returns how often copies, periods and the list were looked at.
func (l *looks) counts() (redis, mysql, pages int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.boards {
		redis += n
	}
	return redis, l.mysql, l.pages
}

// manyBoards is a list of n boards with default rules.
func manyBoards(n int) *list {
	l := &list{site: newSite()}
	for i := range n {
		l.boards = append(l.boards, leaderboard.Board{ID: int64(i), Name: fmt.Sprintf("b%04d", i), Version: 1, Rules: leaderboard.Rules{}.WithDefaults(), CreatedTime: leaderboard.MicrosOf(time.Now()) + 1})
	}
	return l
}

// TestManyBoards: many boards that are read are all looked at, and not all at the same moment.
func TestManyBoards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := manyBoards(1200)
		seen := newLooks(l.site, l)
		r := runs(t, l.site, l, func(c *Config) { c.Boards, c.Copies = seen, seen })
		l.read(r)
		pass(5 * time.Second) // half of the interval
		boards := func() (n, moments int) {
			seen.mu.Lock()
			defer seen.mu.Unlock()
			return len(seen.boards), len(seen.moment)
		}
		if n, moments := boards(); n < 400 || n > 800 || moments < 80 {
			t.Errorf("%d boards were looked at, at %d moments", n, moments)
		}
		pass(7 * time.Second)
		if n, _ := boards(); n != 1200 {
			t.Errorf("%d boards were looked at", n)
		}
		if n := l.site.buildCount(); n != 0 {
			t.Errorf("%d builds", n)
		}
	})
}

// TestColdBoardsCostNothing: nothing is asked about boards that are not read here, except for the list, which is read
// once a minute, and boards with a cron expression when they are due. A board that was read is followed for a minute.
func TestColdBoardsCostNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := manyBoards(2000)
		for i := range 3 {
			l.boards[i].Rules.Refresh.Full = "*/15 * * * *"
		}
		seen := newLooks(l.site, l)
		l.site.copied = leaderboard.CopyInfo{Exists: true, TTL: 24 * time.Hour}
		r := runs(t, l.site, l, func(c *Config) { c.Boards, c.Copies = seen, seen })
		pass(time.Hour - time.Second)
		redis, mysql, pages := seen.counts()
		if want := 3 * 3; redis != want || mysql != want || pages > 60*5 {
			t.Errorf("in an hour %d looks at copies, %d at periods, want %d; %d pages of the list", redis, mysql, want, pages)
		}
		pass(2 * time.Second)
		l.read(r)
		before, _, _ := seen.counts()
		pass(10 * time.Minute)
		redis, mysql, _ = seen.counts()
		if n := redis - before; n < 2000*5 || n > 2000*7 || mysql > 3*4 {
			t.Errorf("after reading %d boards once: %d looks at copies, %d at periods", len(l.boards), n, mysql)
		}
		r.scheduler.mu.Lock()
		defer r.scheduler.mu.Unlock()
		if n := len(r.scheduler.plans); n != 3 {
			t.Errorf("%d plans are kept, want those of 3 boards", n)
		}
	})
}

// TestNewBoardIsInTime: a board that was made a moment ago is caught up with as its rules say, however long it is until
// the list is read.
func TestNewBoardIsInTime(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{0, 500 * time.Millisecond, 7 * time.Second, 59 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := &list{site: newSite()}
			r := runs(t, l.site, l, nil)
			pass(age)
			l.set(leaderboard.Refresh{Incremental: "1s"}, 1)
			l.site.write(1)
			l.site.change(func() { l.site.copied.Exists = true })
			l.read(r)
			pass(1500 * time.Millisecond)
			if got := l.site.history(); !reflect.DeepEqual(got, []string{"incremental schedule done"}) {
				t.Errorf("made after %s: %v", age, got)
			}
			pass(20 * time.Second) // no longer read, and followed for a while
			l.site.write(1)
			l.read(r)
			pass(1500 * time.Millisecond)
			if got := l.site.history(); len(got) != 2 {
				t.Errorf("the second one: %v", got)
			}
			pass(2 * time.Minute)
			l.site.write(1)
			l.read(r)
			pass(1500 * time.Millisecond)
			if got := l.site.history(); len(got) != 3 {
				t.Errorf("read again after minutes: %v", got)
			}
		})
	}
}

// TestScheduleToleratesWrites: writes that came since MySQL described the board are no reason for a run, when they are in
// the copy.
func TestScheduleToleratesWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := scheduled(t, leaderboard.Refresh{Incremental: "10s"}, func(c *Config) {
			c.Copies = written{c.Copies.(copies)}
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

// written is copies that are written through just before each look at them.
type written struct{ copies }

func (w written) Info(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyInfo, error) {
	w.write(1)
	w.change(func() { w.copied.Seq, w.copied.AsOf = w.period.LastSeq, w.period.Committed })
	return w.copies.Info(ctx, p)
}

// pass lets time pass, and everybody does the work that is due by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// fixedBoards is a list of boards whose periods were not begun.
type fixedBoards struct{ list []leaderboard.Board }

func (b *fixedBoards) Boards(context.Context, string, int) ([]leaderboard.Board, error) {
	return b.list, nil
}

func (b *fixedBoards) CurrentPeriod(context.Context, leaderboard.Board, leaderboard.Window) (leaderboard.Period, error) {
	return leaderboard.Period{}, leaderboard.ErrPeriodNotFound
}

// TestScheduleOutlivesAnOldReader: a reader that was answered from the catalog a moment before a board got its cron
// expression brings the old board. The schedule is back after the next look, though no board changes again.
func TestScheduleOutlivesAnOldReader(t *testing.T) {
	t.Parallel()
	before := leaderboard.Board{ID: 1, Name: "a", Version: 1, Rules: leaderboard.Rules{}.WithDefaults()}
	after := before
	after.Version, after.Rules.Refresh.Full = 2, "* * * * *"
	boards := &fixedBoards{[]leaderboard.Board{before}}
	var seq atomic.Int64
	cfg := Config{Boards: boards, Feed: feedOf(t.Context(), func() (leaderboard.Revision, error) { return leaderboard.Revision{Seq: seq.Load()}, nil })}
	cfg.setDefaults()
	s, now := newScheduler(&cfg, nil, nil), time.Now()
	s.reload(t.Context(), now)
	boards.list = []leaderboard.Board{after}
	seq.Add(1)
	s.reload(t.Context(), now)
	s.follow(leaderboard.Listing{Board: before})
	s.reload(t.Context(), now.Add(time.Minute))
	if p := s.plans[1]; p == nil || p.full == nil {
		t.Errorf("the schedule is gone: %+v", p)
	}
}

// shownBoards is a database that shows a revision of the table of boards.
type shownBoards func() (leaderboard.Revision, error)

// Revisions implements feed.Source.
func (shown shownBoards) Revisions(context.Context, []int64) (map[int64]leaderboard.Revision, error) {
	r, err := shown()
	return map[int64]leaderboard.Revision{leaderboard.BoardsPeriod: r}, err
}

// feedOf returns a feed that runs until the test, or ctx, ends.
func feedOf(ctx context.Context, shown shownBoards) *feed.Feed {
	f := feed.New(shown, feed.Options{})
	go f.Run(ctx)
	return f
}
