package store

import (
	"testing"
	"testing/synctest"
)

// TestGates: one at a time per board, others at once, no circle, and nothing is kept.
func TestGates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gates
		inside := make(chan string, 10)
		enter := func(name string, boards ...string) (leave func()) {
			hold := make(chan struct{})
			go func() {
				defer g.enter(boards...)()
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
		if enter("none")(); len(g.gates) != 0 {
			t.Errorf("kept: %v", g.gates)
		}
	})
}
