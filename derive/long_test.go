package derive_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/derive"
)

// Steps that take long, as all boards' do when the day turns, leave the places of the others free: two of them are under
// way, a third waits for one of them without a snapshot, and the other boards go on.
func TestLongSteps(t *testing.T) {
	f := &fake{lead: true, turns: map[string]chan struct{}{}}
	running(t, f, func(*derive.Runner) {
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
		f.taken(time.Now())
		time.Sleep(time.Minute)
		if got := f.taken(time.Now()); len(got) < 50 {
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

// A recomputation that others were faster with is theirs.
func TestRecomputeShared(t *testing.T) {
	f := &fake{gate: make(chan struct{}), state: leaderboard.DerivationStateFollowing}
	running(t, f, func(r *derive.Runner) {
		close(f.gate)
		_, wait, err := r.Start(t.Context(), leaderboard.PeriodRef{BoardID: 1, Board: "sum"}, leaderboard.RunReasonAdmin, "admin")
		if err != nil {
			t.Fatal(err)
		}
		if run, err := wait(context.Background()); err != nil || run.State != leaderboard.RunStateShared {
			t.Errorf("finished as %+v, %v", run, err)
		}
	})
}
