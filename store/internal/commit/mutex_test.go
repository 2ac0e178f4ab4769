package commit

import (
	"slices"
	"testing"
	"testing/synctest"

	"leaderboard"
	"leaderboard/store/internal/boards"
)

// TestBoardMutexes: one at a time per board, others at once, no circle, and nothing is kept.
func TestBoardMutexes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m boardMutexes
		inside := make(chan string, 10)
		enter := func(name string, boards ...string) (leave func()) {
			hold := make(chan struct{})
			go func() {
				defer m.lock(boards...)()
				inside <- name
				<-hold
			}()
			synctest.Wait()
			return func() { close(hold); synctest.Wait() }
		}
		expect := func(want ...string) {
			t.Helper()
			for _, w := range want {
				select {
				case got := <-inside:
					if got != w {
						t.Errorf("%s came in, want %s", got, w)
					}
				default:
					t.Errorf("%s did not come in", w)
				}
			}
			if len(inside) > 0 {
				t.Errorf("%s came in", <-inside)
			}
		}
		first := enter("first", "b", "a", "b")
		expect("first")
		second := enter("second", "c", "b")
		third := enter("third", "a")
		other := enter("other", "d")
		expect("other")
		first()
		came := map[string]bool{<-inside: true, <-inside: true}
		if !came["second"] || !came["third"] {
			t.Errorf("after the first %v came in", came)
		}
		for _, leave := range []func(){second, third, other} {
			leave()
		}
		if enter("none")(); len(m.held) != 0 {
			t.Errorf("kept: %v", m.held)
		}
	})
}

// TestLockOrder: several boards are locked by id, whatever they are called.
func TestLockOrder(t *testing.T) {
	t.Parallel()
	b := &batch{committer: &committer{memory: boards.NewMemory()}, needs: map[string]*needs{}}
	for name, id := range map[string]int64{"a": 7, "b": 3, "c": 1 << 40, "d": 5} {
		b.memory.Put(&boards.Known{Board: leaderboard.Board{ID: id, Name: name}})
		b.needs[name] = &needs{}
	}
	got, err := b.lockOrder(t.Context(), nil)
	if want := []string{"b", "d", "a", "c"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
