package derived

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/api"
	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// fakeDerived counts what the refresher asks for.
type fakeDerived struct {
	mu      sync.Mutex
	boards  []followedBoard
	leads   bool
	idle    bool          // nothing has moved
	asked   int           // questions about all boards, of any kind
	slow    time.Duration // of a list
	fail    error
	away    error // of everything that asks MySQL
	noLead  error // of lead
	behind  int64
	steps   []time.Time
	stepped map[string]bool // boards
	yields  int
	others  bool                // another process takes the lead once it is yielded
	gate    chan struct{}       // a recomputation ends when it is closed
	state   api.DerivationState // of a recomputation

	recomputing int // how many recomputations have begun

	turns   map[string]chan struct{} // by board: its steps take long, until it is closed
	turning []string                 // the boards whose steps did
}

func (f *fakeDerived) do(work func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return work()
}

func (f *fakeDerived) list(_ context.Context, after int64, limit int) (found []*followedBoard, err error) {
	time.Sleep(f.slow) // in a bubble
	return found, f.do(func() error {
		f.asked++
		for i := range f.boards {
			if f.boards[i].id > after && len(found) < limit {
				found = append(found, &f.boards[i])
			}
		}
		return f.away
	})
}

func (f *fakeDerived) lead(_ context.Context, ids []int64) (lead []bool, err error) {
	return lead, f.do(func() error {
		f.asked++
		lead = slices.Repeat([]bool{f.leads}, len(ids))
		return errors.Join(f.away, f.noLead)
	})
}

func (f *fakeDerived) moved(_ context.Context, ids []int64) (moved []bool, err error) {
	return moved, f.do(func() error { f.asked++; moved = slices.Repeat([]bool{!f.idle}, len(ids)); return f.away })
}

func (f *fakeDerived) yield(context.Context) error {
	return f.do(func() error { f.yields++; f.leads = f.leads && !f.others; return nil })
}

func (f *fakeDerived) FollowSources(ctx context.Context, board string, long bool) (step Step, err error) {
	var turn chan struct{}
	_ = f.do(func() error { turn = f.turns[board]; return nil })
	if turn != nil {
		if !long {
			return Step{Long: true}, nil
		}
		_ = f.do(func() error { f.turning = append(f.turning, board); return nil })
		select {
		case <-turn:
		case <-ctx.Done():
			return step, ctx.Err()
		}
	}
	step.Behind = f.behind
	return step, f.do(func() error {
		if f.stepped == nil {
			f.stepped = map[string]bool{}
		}
		f.stepped[board] = true
		f.steps = append(f.steps, time.Now())
		return f.fail
	})
}

func (f *fakeDerived) Recompute(ctx context.Context, _ string) (Step, error) {
	_ = f.do(func() error { f.recomputing++; return nil })
	select {
	case <-f.gate:
		return Step{FromSeq: 3, ToSeq: 5, Rows: 2, State: f.state}, nil
	case <-ctx.Done():
		return Step{}, ctx.Err()
	}
}

// durations returns the times of the steps so far, since start, and forgets them.
func (f *fakeDerived) durations(start time.Time) []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []time.Duration
	for _, at := range f.steps {
		out = append(out, at.Sub(start))
	}
	f.steps = nil
	return out
}

func derivedBoard(id int64, name string, sources ...string) followedBoard {
	return followedBoard{id: id, name: name, sources: sources}
}

// running runs a follower in a bubble until the test ends.
func running(t *testing.T, f *fakeDerived, test func(r *follower)) {
	synctest.Test(t, func(t *testing.T) {
		r := newFollower(f, nil, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.run(ctx) })
		test(r)
		cancel()
		wg.Wait()
	})
}

// TestAwayIsLoggedOnce: an outage of MySQL is logged once and its end once; a failure of one board too.
func TestAwayIsLoggedOnce(t *testing.T) {
	f := &fakeDerived{leads: true, boards: []followedBoard{derivedBoard(1, "sum", "runs")}}
	var log strings.Builder
	synctest.Test(t, func(t *testing.T) {
		r := newFollower(f, nil, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.run(ctx) })
		for range 2 {
			for _, failing := range []*error{&f.away, &f.fail} {
				time.Sleep(time.Minute)
				_ = f.do(func() error { *failing = leaderboard.ErrUnavailable; return nil })
				time.Sleep(time.Minute)
				_ = f.do(func() error { *failing = nil; return nil })
			}
		}
		time.Sleep(time.Minute)
		cancel()
		wg.Wait()
	})
	for _, line := range []string{
		"derived boards cannot be listed", "derived boards can be listed again",
		"a derived board does not follow its sources", "a derived board follows its sources again",
	} {
		if n := strings.Count(log.String(), line); n != 2 {
			t.Errorf("%q is said %d times in two outages", line, n)
		}
	}
}

// TestIdleBoardsSleep: boards without work are checked together, in any number, and take no steps; a commit to a source
// still wakes its derived boards at once, so that they lag no further.
func TestIdleBoardsSleep(t *testing.T) {
	const boards = 3000 // more than may be awake
	f := &fakeDerived{leads: true}
	for id := int64(1); id <= boards; id++ {
		f.boards = append(f.boards, derivedBoard(id, fmt.Sprint("b", id), fmt.Sprint("s", id%100)))
	}
	running(t, f, func(r *follower) {
		time.Sleep(10 * time.Second)
		if got := f.durations(time.Now()); len(got) < boards {
			t.Errorf("%d steps of %d boards that have moved", len(got), boards)
		}
		_ = f.do(func() error { f.idle = true; return nil })
		time.Sleep(2 * time.Second)
		f.durations(time.Now())
		_ = f.do(func() error { f.asked = 0; return nil })
		time.Sleep(10 * time.Second)
		_ = f.do(func() error {
			if f.asked < 27 || f.asked > 33 {
				t.Errorf("%d questions in ten seconds, want three a second", f.asked)
			}
			return nil
		})
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps of idle boards", len(got))
		}
		if _, behind := r.lag(); behind > time.Second {
			t.Errorf("idle boards are %s behind", behind)
		}
		r.committed(leaderboard.PeriodRef{Board: "s7"})
		synctest.Wait()
		if got := f.durations(time.Now()); len(got) != boards/100 {
			t.Errorf("%d steps at once after a commit, want %d", len(got), boards/100)
		}
	})
}

// TestAllBoardsHaveTheirTurn: boards that fail, more than may be awake, keep no other board from its steps.
func TestAllBoardsHaveTheirTurn(t *testing.T) {
	const boards = 5 * maxAwake / 2
	f := &fakeDerived{leads: true, fail: leaderboard.ErrUnavailable}
	for id := int64(1); id <= boards; id++ {
		f.boards = append(f.boards, derivedBoard(id, fmt.Sprint("b", id), "runs"))
	}
	running(t, f, func(*follower) {
		time.Sleep(5 * time.Second)
		_ = f.do(func() error {
			if len(f.stepped) != boards {
				t.Errorf("%d of %d boards had their turn", len(f.stepped), boards)
			}
			return nil
		})
	})
}

// TestBusyBoardsLeaveTheirPlaces: boards whose sources change all the time, as many as may be awake, keep no other board from
// its steps.
func TestBusyBoardsLeaveTheirPlaces(t *testing.T) {
	const boards = maxAwake + 100
	f := &fakeDerived{leads: true}
	for id := int64(1); id <= boards; id++ {
		source := "busy"
		if id > maxAwake {
			source = "quiet"
		}
		f.boards = append(f.boards, derivedBoard(id, fmt.Sprint("b", id), source))
	}
	running(t, f, func(r *follower) {
		for range 500 {
			r.committed(leaderboard.PeriodRef{Board: "busy"})
			time.Sleep(10 * time.Millisecond)
		}
		_ = f.do(func() error {
			if len(f.stepped) != boards {
				t.Errorf("%d of %d boards had their turn", len(f.stepped), boards)
			}
			return nil
		})
	})
}

// TestManyLongSteps: when the day turns for as many boards as may be awake, others continue while these wait.
func TestManyLongSteps(t *testing.T) {
	const quick = 100
	f := &fakeDerived{leads: true, turns: map[string]chan struct{}{}}
	running(t, f, func(*follower) {
		_ = f.do(func() error {
			for id := int64(1); id <= maxAwake+quick; id++ {
				name := fmt.Sprint("b", id)
				f.boards = append(f.boards, derivedBoard(id, name, "runs"))
				if id <= maxAwake {
					f.turns[name] = make(chan struct{})
				}
			}
			return nil
		})
		time.Sleep(5 * time.Second)
		_ = f.do(func() error {
			if len(f.stepped) != quick || len(f.turning) != 2 {
				t.Errorf("%d of %d quick boards had their turn beside %d of the others", len(f.stepped), quick, len(f.turning))
			}
			return nil
		})
	})
}

// TestLagCountsFromTheQuestion: a board that was found idle was idle when the list was requested, however long the
// answer took.
func TestLagCountsFromTheQuestion(t *testing.T) {
	const slow = 3 * time.Second
	f := &fakeDerived{leads: true, idle: true, slow: slow, boards: []followedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *follower) {
		time.Sleep(slow + time.Millisecond)
		if _, behind := r.lag(); behind < slow || behind > slow+time.Second {
			t.Errorf("a board is %s behind, the list took %s", behind, slow)
		}
	})
}

// TestLagWithoutMySQL: the lag of a board that was led grows while it is not known which process leads it, and not when
// another process does.
func TestLagWithoutMySQL(t *testing.T) {
	const away = 5 * time.Minute
	f := &fakeDerived{leads: true, idle: true, boards: []followedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *follower) {
		time.Sleep(time.Minute)
		_ = f.do(func() error { f.noLead = leaderboard.ErrUnavailable; return nil })
		time.Sleep(away)
		if _, behind := r.lag(); behind < away-time.Second || behind > away+2*time.Second {
			t.Errorf("a board is %s behind, and it was not known for %s which process leads it", behind, away)
		}
		_ = f.do(func() error { f.noLead = nil; return nil })
		time.Sleep(2 * time.Second)
		if _, behind := r.lag(); behind > 2*time.Second {
			t.Errorf("a board that is followed again is %s behind", behind)
		}
		_ = f.do(func() error { f.noLead = leaderboard.ErrUnavailable; return nil })
		time.Sleep(away)
		_ = f.do(func() error { f.noLead, f.leads = nil, false; return nil })
		time.Sleep(2 * time.Second)
		if _, behind := r.lag(); behind != 0 {
			t.Errorf("a board that another process leads is %s behind", behind)
		}
	})
}

// TestWoken: a step follows a commit of a source at once, once the last step is a moment ago, and otherwise comes every
// second.
func TestWoken(t *testing.T) {
	f := &fakeDerived{leads: true, behind: 7, boards: []followedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *follower) {
		synctest.Wait()
		start := time.Now()
		if got := f.durations(start); !slices.Equal(got, []time.Duration{0}) {
			t.Errorf("steps at %v, want one at once", got)
		}
		time.Sleep(500 * time.Millisecond)
		r.committed(leaderboard.PeriodRef{Board: "other"})
		r.committed(leaderboard.PeriodRef{Board: "runs"})
		r.committed(leaderboard.PeriodRef{Board: "runs"})
		synctest.Wait()
		if got := f.durations(start); !slices.Equal(got, []time.Duration{500 * time.Millisecond}) {
			t.Errorf("steps at %v, want one with the commit", got)
		}
		if changes, behind := r.lag(); changes != 7 || behind != 0 {
			t.Errorf("lag is %d, %s", changes, behind)
		}
		r.committed(leaderboard.PeriodRef{Board: "runs"})
		time.Sleep(100 * time.Millisecond)
		if got := f.durations(start); !slices.Equal(got, []time.Duration{550 * time.Millisecond}) {
			t.Errorf("steps at %v, want the next after a gap", got)
		}
		time.Sleep(2 * time.Second)
		if got := f.durations(start); len(got) != 1 && len(got) != 2 {
			t.Errorf("steps at %v, want one a second", got)
		}
	})
	if f.yields != 1 {
		t.Errorf("the board was yielded %d times", f.yields)
	}
}

// TestOneLeads: a process that does not lead takes no step, and takes over when no process leads.
func TestOneLeads(t *testing.T) {
	f := &fakeDerived{boards: []followedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *follower) {
		time.Sleep(5 * time.Second)
		r.committed(leaderboard.PeriodRef{Board: "runs"})
		time.Sleep(time.Second)
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps without the lead", len(got))
		}
		if changes, behind := r.lag(); changes != 0 || behind != 0 {
			t.Errorf("lag is %d, %s", changes, behind)
		}
		_ = f.do(func() error { f.leads = true; return nil })
		time.Sleep(2 * time.Second)
		if got := f.durations(time.Now()); len(got) == 0 {
			t.Error("no step with the lead")
		}
	})
}

// TestDerivedFailures: failures are repeated, more and more seldom; a board that is gone is left alone, a new board is
// followed.
func TestDerivedFailures(t *testing.T) {
	f := &fakeDerived{leads: true, fail: leaderboard.ErrUnavailable, boards: []followedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *follower) {
		time.Sleep(2 * time.Minute)
		if got := f.durations(time.Now()); len(got) < 5 || len(got) > 12 {
			t.Errorf("%d steps in two minutes of failures", len(got))
		}
		if _, behind := r.lag(); behind < 2*time.Minute {
			t.Errorf("a board of which each step fails is %s behind", behind)
		}
		_ = f.do(func() error { f.fail, f.boards = nil, nil; return nil })
		time.Sleep(time.Minute)
		f.durations(time.Now())
		time.Sleep(time.Minute)
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps of a board that is gone", len(got))
		}
		_ = f.do(func() error { f.boards = []followedBoard{derivedBoard(2, "sum", "runs")}; return nil })
		time.Sleep(1500 * time.Millisecond)
		if got := f.durations(time.Now()); len(got) == 0 {
			t.Error("no step of a new board")
		}
	})
}

// TestUnknownRuleLeaves: a process that does not know a rule of a board lets others lead, again and again, and keeps leading what
// no other takes.
func TestUnknownRuleLeaves(t *testing.T) {
	f := &fakeDerived{leads: true, fail: leaderboard.ErrUnknownRule, boards: []followedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *follower) {
		time.Sleep(2 * time.Minute)
		yields, steps := 0, len(f.durations(time.Now()))
		_ = f.do(func() error { yields = f.yields; return nil })
		if yields < 4 || yields > 12 || steps < 4 {
			t.Errorf("the board was yielded %d times in %d steps", yields, steps)
		}
		if _, behind := r.lag(); behind < 2*time.Minute {
			t.Errorf("a board that nobody follows is %s behind", behind)
		}
		_ = f.do(func() error { f.others = true; return nil })
		time.Sleep(time.Minute)
		f.durations(time.Now())
		time.Sleep(time.Minute)
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps of a board that another process leads", len(got))
		}
		if _, behind := r.lag(); behind != 0 {
			t.Errorf("a board that another process leads is %s behind", behind)
		}
	})
}

// TestRecompute: no step is taken while a board is computed from scratch, and it ends with its context.
func TestRecompute(t *testing.T) {
	f := &fakeDerived{leads: true, boards: []followedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *follower) {
		f.gate = make(chan struct{})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := r.Recompute(ctx, "sum")
			ended <- err
		}()
		synctest.Wait()
		f.durations(time.Now())
		time.Sleep(5 * time.Second)
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps during a recomputation", len(got))
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a recomputation that is cut off: %v", err)
		}
		time.Sleep(5 * time.Second)
		if got := f.durations(time.Now()); len(got) == 0 {
			t.Error("no step after a recomputation")
		}
	})
}

// TestRecomputationsAreFew: of many recomputations two are under way, as of steps that take long; the others wait, and
// are carried out in the end.
func TestRecomputationsAreFew(t *testing.T) {
	f := &fakeDerived{}
	running(t, f, func(r *follower) {
		f.gate = make(chan struct{})
		var all sync.WaitGroup
		for id := range 24 {
			all.Go(func() {
				if _, err := r.Recompute(context.Background(), fmt.Sprint("b", id)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		_ = f.do(func() error {
			if f.recomputing != 2 {
				t.Errorf("%d recomputations are under way", f.recomputing)
			}
			return nil
		})
		close(f.gate)
		all.Wait()
		if f.recomputing != 24 {
			t.Errorf("%d recomputations were carried out", f.recomputing)
		}
	})
}

// TestLongSteps: steps that take long, as all boards' do when the day turns, leave the places of short steps free: two
// long steps run, a third waits for one of them without a snapshot, and the other boards continue.
func TestLongSteps(t *testing.T) {
	f := &fakeDerived{leads: true, turns: map[string]chan struct{}{}}
	running(t, f, func(*follower) {
		_ = f.do(func() error {
			for i, name := range []string{"a", "b", "c", "d", "sum"} {
				f.boards = append(f.boards, derivedBoard(int64(i+1), name, "runs"))
				if name != "sum" {
					f.turns[name] = make(chan struct{})
				}
			}
			return nil
		})
		time.Sleep(2 * time.Second) // until they are listed
		f.durations(time.Now())
		time.Sleep(time.Minute)
		if got := f.durations(time.Now()); len(got) < 50 {
			t.Errorf("%d steps in a minute while others take long", len(got))
		}
		under := func() []string {
			f.mu.Lock()
			defer f.mu.Unlock()
			return slices.Clone(f.turning)
		}
		first := under()
		if len(first) != 2 {
			t.Errorf("%q take long at once, want two", first)
			return
		}
		_ = f.do(func() error { // its day has turned
			done := f.turns[first[0]]
			delete(f.turns, first[0])
			close(done)
			return nil
		})
		time.Sleep(100 * time.Millisecond)
		if got := under(); len(got) != 3 || slices.Contains(first, got[2]) {
			t.Errorf("%q have begun, want a third", got)
		}
	})
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

// TestNewDerivedBoardIsFound: a derived board that is made while others idle is followed with the next round.
func TestNewDerivedBoardIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, seq := &fakeDerived{leads: true, boards: []followedBoard{derivedBoard(1, "sum", "runs")}}, int64(1)
		ctx, cancel := context.WithCancel(t.Context())
		r := newFollower(f, feedOf(ctx, func() (r leaderboard.Revision, err error) {
			return r, f.do(func() error { r.Seq = seq; return nil })
		}), slog.New(slog.DiscardHandler))
		ended := make(chan struct{})
		go func() { r.run(ctx); close(ended) }()
		defer func() { cancel(); <-ended }()
		stepped := func() (boards []string) {
			_ = f.do(func() error {
				for board := range f.stepped {
					boards = append(boards, board)
				}
				f.stepped = nil
				return nil
			})
			slices.Sort(boards)
			return boards
		}
		time.Sleep(time.Minute)
		if got := stepped(); !slices.Equal(got, []string{"sum"}) {
			t.Errorf("%v", got)
		}
		_ = f.do(func() error { f.boards, seq = append(f.boards, derivedBoard(2, "total", "runs")), 2; return nil })
		time.Sleep(1100 * time.Millisecond)
		if got := stepped(); !slices.Equal(got, []string{"sum", "total"}) {
			t.Errorf("%v", got)
		}
		_ = f.do(func() error { f.boards, seq = f.boards[1:], 3; return nil })
		time.Sleep(1100 * time.Millisecond)
		stepped()
		time.Sleep(time.Minute)
		if got := stepped(); !slices.Equal(got, []string{"total"}) {
			t.Errorf("%v", got)
		}
	})
}
