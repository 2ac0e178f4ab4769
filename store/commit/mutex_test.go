package commit

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/internal/boards"
	"leaderboard/leaderboard"
)

// TestBoardMutexes: one writer at a time per board, other boards at once, no deadlock, and no mutex is left.
func TestBoardMutexes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newBoardMutexes(time.Minute)
		inside := make(chan string, 10)
		enter := func(name string, boards ...string) (leave func()) {
			hold := make(chan struct{})
			go func() {
				unlock, _ := m.lockAll(boards)
				defer unlock()
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

// TestBlockedBoards: a writer to several boards lets all of them go when a board is blocked, or becomes blocked; a
// writer to that board alone waits.
func TestBlockedBoards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newBoardMutexes(time.Minute)
		unlock := m.lock("stuck")
		gaveUp := make(chan string, 1)
		go func() { _, blocked := m.lockAll([]string{"a", "stuck", "z"}); gaveUp <- blocked }()
		synctest.Wait()
		if m.waiting("a") != 1 || m.waiting("z") != 0 {
			t.Errorf("%d at a, %d at z", m.waiting("a"), m.waiting("z"))
		}
		m.block("stuck", false)
		if got := <-gaveUp; got != "stuck" || m.waiting("a") != 0 {
			t.Errorf("gave up because of %q; %d at a", got, m.waiting("a"))
		}
		if _, blocked := m.lockAll([]string{"stuck"}); blocked != "stuck" {
			t.Errorf("later: blocked is %q", blocked)
		}
		unlock()
		m.lock("stuck")()
		time.Sleep(2 * time.Minute)
		for _, renew := range []func(){func() {}, func() { m.block("stuck", false); m.unblock("stuck") }} {
			renew()
			if free, blocked := m.lockAll([]string{"a", "stuck"}); blocked != "" {
				t.Errorf("still blocked: %q", blocked)
			} else {
				free()
			}
		}
		if len(m.held)+len(m.blocked) != 0 {
			t.Errorf("kept: %v, %v", m.held, m.blocked)
		}
	})
}

// TestBudget: retries are few in proportion to requests, but some may come at once.
func TestBudget(t *testing.T) {
	t.Parallel()
	var b budget
	retries := 0
	for range 1000 {
		b.earn(1)
		if b.spend() {
			retries++
		}
	}
	if most := retriesAtOnce + 1000*retriesPerRequest; float64(retries) > most || float64(retries) < most-2 {
		t.Errorf("%d retries, want about %.0f", retries, most)
	}
}

// TestLockOrder: several boards are locked in the order of their ids, not of their names.
func TestLockOrder(t *testing.T) {
	t.Parallel()
	tx := &transaction{memory: boards.NewCache()}
	var names []string
	for name, id := range map[string]int64{"a": 7, "b": 3, "c": 1 << 40, "d": 5} {
		tx.memory.Put(&boards.Known{Board: leaderboard.Board{ID: id, Name: name}})
		names = append(names, name)
	}
	got, err := tx.lockOrder(t.Context(), names)
	if want := []string{"b", "d", "a", "c"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
