package cache

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
)

// batchLog is what became of numbers that a gatherer took; each is its own size, and a batch takes a second. A negative
// one panics.
type batchLog struct {
	mu           sync.Mutex
	batches      [][]int
	failed       map[int]error
	inside, most int
}

func (l *batchLog) gatherer(lanes, most int, wait time.Duration) *gatherer[string, int] {
	l.failed = map[int]error{}
	return &gatherer[string, int]{
		lanes: lanes, most: most, wait: wait, size: func(n int) int { return n }, run: l.run,
		fail: func(n int, err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.failed[n] = err
		},
	}
}

func (l *batchLog) run(_ string, batch []int) {
	l.mu.Lock()
	l.batches = append(l.batches, append([]int{}, batch...))
	l.inside++
	l.most = max(l.most, l.inside)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.inside--
	}()
	time.Sleep(time.Second)
	for _, n := range batch {
		if n < 0 {
			panic("ouch")
		}
	}
}

// failures are the numbers that failed so far.
func (l *batchLog) failures() map[int]error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.failed)
}

func (l *batchLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.batches)
}

// addAll hands numbers over one after another; each has been seen by its lane before the next one comes.
func addAll(g *gatherer[string, int], key string, numbers ...int) {
	for _, n := range numbers {
		g.add(key, n)
		synctest.Wait()
	}
}

func TestGathererGathersWhileABatchIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lanes int
		want  string
	}{
		"one lane":  {1, "[[1] [2 3 4] [5] [20]]"}, // nothing larger than 10 in all
		"two lanes": {2, "[[1] [2] [3 4] [5] [20]]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l batchLog
				g := l.gatherer(c.lanes, 10, 0)
				addAll(g, "k", 1, 2, 3, 4, 20, 5)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				// Two lanes that wake at the same moment take their batches in either order.
				slices.SortFunc(l.batches, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
				if l.String() != c.want || l.most != c.lanes || len(l.failures()) > 0 {
					t.Errorf("batches %s, %d at once, failed %v; want %s", &l, l.most, l.failures(), c.want)
				}
				if len(g.groups) != 0 {
					t.Error("a group stays when there is nothing to do")
				}
			})
		})
	}
}

func TestGathererKeepsKeysApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l batchLog
		g := l.gatherer(1, 10, 0)
		addAll(g, "a", 1, 2)
		addAll(g, "b", 3)
		time.Sleep(3 * time.Second)
		if l.String() != "[[1] [3] [2]]" {
			t.Errorf("batches %s", &l)
		}
	})
}

// Nobody waits long behind batches that take too long, and afterwards all is as before.
func TestGathererStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l batchLog
		g := l.gatherer(2, 10, 500*time.Millisecond)
		addAll(g, "k", 1)
		time.Sleep(300 * time.Millisecond)
		addAll(g, "k", 2, 3)
		time.Sleep(300 * time.Millisecond) // only one of two lanes is stuck
		if failed := l.failures(); len(failed) != 0 {
			t.Fatalf("failed %v", failed)
		}
		time.Sleep(300 * time.Millisecond)
		addAll(g, "k", 4)
		failed := l.failures()
		if len(failed) != 2 || !errors.Is(failed[3], leaderboard.ErrOverloaded) || !errors.Is(failed[4], leaderboard.ErrOverloaded) {
			t.Errorf("failed %v, want 3 for it has waited, 4 for it would have to", failed)
		}
		time.Sleep(200 * time.Millisecond) // one lane is free again
		addAll(g, "k", 5)
		time.Sleep(3 * time.Second)
		if l.String() != "[[1] [2] [5]]" || len(l.failures()) != 2 {
			t.Errorf("batches %s, failed %v", &l, l.failures())
		}
	})
}

func TestGathererSurvivesAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l batchLog
		g := l.gatherer(1, 10, 0)
		addAll(g, "k", 1, -2, 3, 4)
		time.Sleep(2500 * time.Millisecond)
		addAll(g, "k", 5)
		time.Sleep(time.Second)
		failed := l.failures()
		for _, n := range []int{-2, 3, 4} {
			if err := failed[n]; err == nil || !strings.Contains(err.Error(), "ouch") {
				t.Errorf("%d failed with %v", n, err)
			}
		}
		if len(failed) != 3 || l.String() != "[[1] [-2 3 4] [5]]" {
			t.Errorf("batches %s, failed %v", &l, failed)
		}
	})
}
