package refresher

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

	"leaderboard/leaderboard"
)

// fakeDerived counts what the refresher asks for.
type fakeDerived struct {
	mu      sync.Mutex
	boards  []leaderboard.DerivedBoard
	lead    bool
	idle    bool          // nothing has moved
	asked   int           // questions about all boards, of any kind
	slow    time.Duration // of a list
	fail    error
	away    error // of everything that asks MySQL
	noLead  error // of LeadDerived
	behind  int64
	steps   []time.Time
	stepped map[string]bool // boards
	yields  int
	others  bool          // another process takes the lead once it is yielded
	gate    chan struct{} // a recomputation ends when it is closed
	runs    []leaderboard.Run
	state   leaderboard.DerivationState // of a recomputation

	recomputing int // how many recomputations have begun

	turns   map[string]chan struct{} // by board: its steps take long, until it is closed
	turning []string                 // the boards whose steps did
}

func (f *fakeDerived) do(work func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return work()
}

func (f *fakeDerived) DerivedBoards(_ context.Context, after int64, limit int) (found []*leaderboard.DerivedBoard, err error) {
	time.Sleep(f.slow) // in a bubble
	return found, f.do(func() error {
		f.asked++
		for i := range f.boards {
			if f.boards[i].ID > after && len(found) < limit {
				found = append(found, &f.boards[i])
			}
		}
		return f.away
	})
}

func (f *fakeDerived) LeadDerived(_ context.Context, ids []int64) (lead []bool, err error) {
	return lead, f.do(func() error {
		f.asked++
		lead = slices.Repeat([]bool{f.lead}, len(ids))
		return errors.Join(f.away, f.noLead)
	})
}

func (f *fakeDerived) MovedDerived(_ context.Context, ids []int64) (moved []bool, err error) {
	return moved, f.do(func() error { f.asked++; moved = slices.Repeat([]bool{!f.idle}, len(ids)); return f.away })
}

func (f *fakeDerived) YieldDerived(context.Context) error {
	return f.do(func() error { f.yields++; f.lead = f.lead && !f.others; return nil })
}

func (f *fakeDerived) FollowSources(ctx context.Context, board string, long bool) (step leaderboard.DeriveStep, err error) {
	var turn chan struct{}
	_ = f.do(func() error { turn = f.turns[board]; return nil })
	if turn != nil {
		if !long {
			return leaderboard.DeriveStep{Long: true}, nil
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

func (f *fakeDerived) Recompute(ctx context.Context, _ string) (leaderboard.DeriveStep, error) {
	_ = f.do(func() error { f.recomputing++; return nil })
	select {
	case <-f.gate:
		return leaderboard.DeriveStep{FromSeq: 3, ToSeq: 5, Rows: 2, State: f.state}, nil
	case <-ctx.Done():
		return leaderboard.DeriveStep{}, ctx.Err()
	}
}

func (f *fakeDerived) StartRun(_ context.Context, run leaderboard.Run) (leaderboard.Run, error) {
	err := f.do(func() error { run.ID = int64(len(f.runs) + 1); f.runs = append(f.runs, run); return nil })
	return run, err
}

func (f *fakeDerived) FinishRun(_ context.Context, run leaderboard.Run) (leaderboard.Run, error) {
	return run, f.do(func() error { f.runs[run.ID-1] = run; return nil })
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

func derivedBoard(id int64, name string, sources ...string) leaderboard.DerivedBoard {
	return leaderboard.DerivedBoard{ID: id, Name: name, Sources: sources}
}

func recompute(ref leaderboard.PeriodRef) Request {
	return Request{Ref: ref, Kind: leaderboard.RunKindRecompute, Reason: leaderboard.RunReasonAdmin, Actor: "admin"}
}

// running runs a refresher in a bubble until the test ends.
func running(t *testing.T, f *fakeDerived, test func(r *Refresher)) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Derived: f, Runs: f})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.Run(ctx) })
		test(r)
		cancel()
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

// TestAwayIsLoggedOnce: an outage of MySQL is logged once and its end once; a failure of one board too.
func TestAwayIsLoggedOnce(t *testing.T) {
	f := &fakeDerived{lead: true, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}
	var log strings.Builder
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Derived: f, Runs: f, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.Run(ctx) })
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
	f := &fakeDerived{lead: true}
	for id := int64(1); id <= boards; id++ {
		f.boards = append(f.boards, derivedBoard(id, fmt.Sprint("b", id), fmt.Sprint("s", id%100)))
	}
	running(t, f, func(r *Refresher) {
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
		if _, behind := r.Lag(); behind > time.Second {
			t.Errorf("idle boards are %s behind", behind)
		}
		r.Notify(leaderboard.PeriodRef{Board: "s7"})
		synctest.Wait()
		if got := f.durations(time.Now()); len(got) != boards/100 {
			t.Errorf("%d steps at once after a commit, want %d", len(got), boards/100)
		}
	})
}

// TestAllBoardsHaveTheirTurn: boards that fail, more than may be awake, keep no other board from its steps.
func TestAllBoardsHaveTheirTurn(t *testing.T) {
	const boards = 5 * maxAwake / 2
	f := &fakeDerived{lead: true, fail: leaderboard.ErrUnavailable}
	for id := int64(1); id <= boards; id++ {
		f.boards = append(f.boards, derivedBoard(id, fmt.Sprint("b", id), "runs"))
	}
	running(t, f, func(*Refresher) {
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
	f := &fakeDerived{lead: true}
	for id := int64(1); id <= boards; id++ {
		source := "busy"
		if id > maxAwake {
			source = "quiet"
		}
		f.boards = append(f.boards, derivedBoard(id, fmt.Sprint("b", id), source))
	}
	running(t, f, func(r *Refresher) {
		for range 500 {
			r.Notify(leaderboard.PeriodRef{Board: "busy"})
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
	f := &fakeDerived{lead: true, turns: map[string]chan struct{}{}}
	running(t, f, func(*Refresher) {
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
	f := &fakeDerived{lead: true, idle: true, slow: slow, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *Refresher) {
		time.Sleep(slow + time.Millisecond)
		if _, behind := r.Lag(); behind < slow || behind > slow+time.Second {
			t.Errorf("a board is %s behind, the list took %s", behind, slow)
		}
	})
}

// TestLagWithoutMySQL: the lag of a board that was led grows while it is not known which process leads it, and not when
// another process does.
func TestLagWithoutMySQL(t *testing.T) {
	const away = 5 * time.Minute
	f := &fakeDerived{lead: true, idle: true, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *Refresher) {
		time.Sleep(time.Minute)
		_ = f.do(func() error { f.noLead = leaderboard.ErrUnavailable; return nil })
		time.Sleep(away)
		if _, behind := r.Lag(); behind < away-time.Second || behind > away+2*time.Second {
			t.Errorf("a board is %s behind, and it was not known for %s which process leads it", behind, away)
		}
		_ = f.do(func() error { f.noLead = nil; return nil })
		time.Sleep(2 * time.Second)
		if _, behind := r.Lag(); behind > 2*time.Second {
			t.Errorf("a board that is followed again is %s behind", behind)
		}
		_ = f.do(func() error { f.noLead = leaderboard.ErrUnavailable; return nil })
		time.Sleep(away)
		_ = f.do(func() error { f.noLead, f.lead = nil, false; return nil })
		time.Sleep(2 * time.Second)
		if _, behind := r.Lag(); behind != 0 {
			t.Errorf("a board that another process leads is %s behind", behind)
		}
	})
}

// TestWoken: a step follows a commit of a source at once, once the last step is a moment ago, and otherwise comes every
// second.
func TestWoken(t *testing.T) {
	f := &fakeDerived{lead: true, behind: 7, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *Refresher) {
		synctest.Wait()
		start := time.Now()
		if got := f.durations(start); !slices.Equal(got, []time.Duration{0}) {
			t.Errorf("steps at %v, want one at once", got)
		}
		time.Sleep(500 * time.Millisecond)
		r.Notify(leaderboard.PeriodRef{Board: "other"})
		r.Notify(leaderboard.PeriodRef{Board: "runs"})
		r.Notify(leaderboard.PeriodRef{Board: "runs"})
		synctest.Wait()
		if got := f.durations(start); !slices.Equal(got, []time.Duration{500 * time.Millisecond}) {
			t.Errorf("steps at %v, want one with the commit", got)
		}
		if changes, behind := r.Lag(); changes != 7 || behind != 0 {
			t.Errorf("lag is %d, %s", changes, behind)
		}
		r.Notify(leaderboard.PeriodRef{Board: "runs"})
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
	f := &fakeDerived{boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *Refresher) {
		time.Sleep(5 * time.Second)
		r.Notify(leaderboard.PeriodRef{Board: "runs"})
		time.Sleep(time.Second)
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps without the lead", len(got))
		}
		if changes, behind := r.Lag(); changes != 0 || behind != 0 {
			t.Errorf("lag is %d, %s", changes, behind)
		}
		_ = f.do(func() error { f.lead = true; return nil })
		time.Sleep(2 * time.Second)
		if got := f.durations(time.Now()); len(got) == 0 {
			t.Error("no step with the lead")
		}
	})
}

// TestDerivedFailures: failures are repeated, more and more seldom; a board that is gone is left alone, a new board is
// followed.
func TestDerivedFailures(t *testing.T) {
	f := &fakeDerived{lead: true, fail: leaderboard.ErrUnavailable, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *Refresher) {
		time.Sleep(2 * time.Minute)
		if got := f.durations(time.Now()); len(got) < 5 || len(got) > 12 {
			t.Errorf("%d steps in two minutes of failures", len(got))
		}
		if _, behind := r.Lag(); behind < 2*time.Minute {
			t.Errorf("a board of which each step fails is %s behind", behind)
		}
		_ = f.do(func() error { f.fail, f.boards = nil, nil; return nil })
		time.Sleep(time.Minute)
		f.durations(time.Now())
		time.Sleep(time.Minute)
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps of a board that is gone", len(got))
		}
		_ = f.do(func() error { f.boards = []leaderboard.DerivedBoard{derivedBoard(2, "sum", "runs")}; return nil })
		time.Sleep(1500 * time.Millisecond)
		if got := f.durations(time.Now()); len(got) == 0 {
			t.Error("no step of a new board")
		}
	})
}

// TestUnknownRuleLeaves: a process that does not know a rule of a board lets others lead, again and again, and keeps leading what
// no other takes.
func TestUnknownRuleLeaves(t *testing.T) {
	f := &fakeDerived{lead: true, fail: leaderboard.ErrUnknownRule, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}
	running(t, f, func(r *Refresher) {
		time.Sleep(2 * time.Minute)
		yields, steps := 0, len(f.durations(time.Now()))
		_ = f.do(func() error { yields = f.yields; return nil })
		if yields < 4 || yields > 12 || steps < 4 {
			t.Errorf("the board was yielded %d times in %d steps", yields, steps)
		}
		if _, behind := r.Lag(); behind < 2*time.Minute {
			t.Errorf("a board that nobody follows is %s behind", behind)
		}
		_ = f.do(func() error { f.others = true; return nil })
		time.Sleep(time.Minute)
		f.durations(time.Now())
		time.Sleep(time.Minute)
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps of a board that another process leads", len(got))
		}
		if _, behind := r.Lag(); behind != 0 {
			t.Errorf("a board that another process leads is %s behind", behind)
		}
	})
}

// TestRecompute: two requests for a recomputation share the run; no step is taken meanwhile; Close ends it.
func TestRecompute(t *testing.T) {
	f := &fakeDerived{lead: true, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}, state: leaderboard.DerivationStateComputing}
	var closed *Refresher
	running(t, f, func(r *Refresher) {
		closed = r
		f.gate = make(chan struct{})
		ref := leaderboard.PeriodRef{ID: 9, BoardID: 1, Board: "sum", Window: leaderboard.WindowAllTime, Name: "all_time"}
		first, wait, err := r.Start(context.Background(), recompute(ref))
		second, _, err2 := r.Start(context.Background(), recompute(ref))
		if err != nil || err2 != nil || first.ID != 1 || second.ID != 1 || first.State != leaderboard.RunStateRunning || first.Kind != leaderboard.RunKindRecompute {
			t.Fatalf("runs %+v and %+v, %v, %v", first, second, err, err2)
		}
		synctest.Wait()
		f.durations(time.Now())
		time.Sleep(5 * time.Second)
		if got := f.durations(time.Now()); len(got) > 0 {
			t.Errorf("%d steps during a recomputation", len(got))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for too long: %v", err)
		}
		close(f.gate)
		run, err := wait(context.Background())
		if err != nil || run.State != leaderboard.RunStateDone || run.Rows != 2 || run.FromSeq != 3 || run.ToSeq != 5 || run.Board != "sum" || f.runs[0] != run {
			t.Errorf("finished as %+v, %v", run, err)
		}
		f.gate = make(chan struct{})
		if run, _, err := r.Start(context.Background(), recompute(ref)); err != nil || run.ID != 2 {
			t.Errorf("the next run is %+v, %v", run, err)
		}
	})
	if _, _, err := closed.Start(context.Background(), recompute(leaderboard.PeriodRef{BoardID: 1})); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("a run after the end: %v", err)
	}
	if run := f.runs[1]; run.State != leaderboard.RunStateFailed || run.Error != "the server was stopped" {
		t.Errorf("a run that was cut off is %+v", run)
	}
}

// TestRecomputationsAreFew: of many recomputations two are under way, as of steps that take long; the others wait, and
// are carried out in the end.
func TestRecomputationsAreFew(t *testing.T) {
	f := &fakeDerived{state: leaderboard.DerivationStateComputing}
	running(t, f, func(r *Refresher) {
		f.gate = make(chan struct{})
		var waits []func(context.Context) (leaderboard.Run, error)
		for id := int64(1); id <= 24; id++ {
			ref := leaderboard.PeriodRef{ID: id, BoardID: id, Board: fmt.Sprint("b", id), Window: leaderboard.WindowAllTime, Name: "all_time"}
			run, wait, err := r.Start(context.Background(), recompute(ref))
			if err != nil || run.State != leaderboard.RunStateRunning {
				t.Fatalf("%+v, %v", run, err)
			}
			waits = append(waits, wait)
		}
		synctest.Wait()
		_ = f.do(func() error {
			if f.recomputing != 2 {
				t.Errorf("%d recomputations are under way", f.recomputing)
			}
			return nil
		})
		close(f.gate)
		for _, wait := range waits {
			if run, err := wait(context.Background()); err != nil || run.State != leaderboard.RunStateDone {
				t.Errorf("%+v, %v", run, err)
			}
		}
	})
}

// TestLongSteps: steps that take long, as all boards' do when the day turns, leave the places of short steps free: two
// long steps run, a third waits for one of them without a snapshot, and the other boards continue.
func TestLongSteps(t *testing.T) {
	f := &fakeDerived{lead: true, turns: map[string]chan struct{}{}}
	running(t, f, func(*Refresher) {
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

// TestRecomputeShared: a recomputation that others were faster with is theirs.
func TestRecomputeShared(t *testing.T) {
	f := &fakeDerived{gate: make(chan struct{}), state: leaderboard.DerivationStateFollowing}
	running(t, f, func(r *Refresher) {
		close(f.gate)
		_, wait, err := r.Start(context.Background(), recompute(leaderboard.PeriodRef{BoardID: 1, Board: "sum"}))
		if err != nil {
			t.Fatal(err)
		}
		if run, err := wait(context.Background()); err != nil || run.State != leaderboard.RunStateShared {
			t.Errorf("finished as %+v, %v", run, err)
		}
	})
}
