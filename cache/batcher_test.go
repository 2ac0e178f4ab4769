package cache

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// batchLog is what became of numbers that a batcher took; each is its own size, and a batch takes a second. A negative
// one panics.
type batchLog struct {
	mu           sync.Mutex
	batches      [][]int
	failed       map[int]error
	inside, most int
}

func (l *batchLog) batcher(maxWait time.Duration) *batcher[string, int] {
	l.failed = map[int]error{}
	return &batcher[string, int]{
		most: 10, maxWait: maxWait, size: func(n int) int { return n }, run: l.run,
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

// failures returns the numbers that failed so far.
func (l *batchLog) failures() map[int]error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.failed)
}

// peak returns how many batches were under way at once, at most.
func (l *batchLog) peak() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.most
}

func (l *batchLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.batches)
}

// rests says whether nothing is left, not even room for what may come.
func (g *batcher[K, Q]) rests() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting) == 0
}

// addAll hands numbers over one after another; each has been seen by its lane before the next one comes.
func addAll(g *batcher[string, int], key string, numbers ...int) {
	for _, n := range numbers {
		g.add(key, n)
		synctest.Wait()
	}
}

func TestBatcherCollectsWhileABatchIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l batchLog
		g := l.batcher(time.Minute)
		addAll(g, "k", 1, 2, 3, 4, 20, 5)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		const want = "[[1] [2 3 4] [20] [5]]" // nothing larger than 10 in all, in order
		if l.String() != want || l.peak() != 1 || len(l.failures()) > 0 {
			t.Errorf("batches %s, %d at once, failed %v; want %s", &l, l.peak(), l.failures(), want)
		}
		if !g.rests() {
			t.Error("a list stays when there is nothing to do")
		}
		addAll(g, "k", 6)
		time.Sleep(2 * time.Second)
		if l.String() != "[[1] [2 3 4] [20] [5] [6]]" {
			t.Errorf("batches %s, want one more after a rest", &l)
		}
	})
}

// TestBatcherGoesAlongsideASlowBatch: nobody waits long behind a batch that takes long.
func TestBatcherGoesAlongsideASlowBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l batchLog
		g := l.batcher(400 * time.Millisecond)
		addAll(g, "k", 1, 2, 3)
		time.Sleep(399 * time.Millisecond)
		addAll(g, "k", 4)
		if l.String() != "[[1]]" {
			t.Errorf("batches %s, the others are not patient", &l)
		}
		time.Sleep(2 * time.Millisecond)
		addAll(g, "k", 5)
		if l.String() != "[[1] [2 3 4]]" {
			t.Errorf("batches %s, want the others alongside", &l)
		}
		time.Sleep(400 * time.Millisecond) // the second batch is slow now
		if l.String() != "[[1] [2 3 4] [5]]" || l.peak() != 3 {
			t.Errorf("batches %s, %d at once", &l, l.peak())
		}
		addAll(g, "k", 6)
		time.Sleep(300 * time.Millisecond)
		if l.String() != "[[1] [2 3 4] [5]]" {
			t.Errorf("batches %s, the end of a slow batch is nobody's turn", &l)
		}
		time.Sleep(3 * time.Second)
		addAll(g, "k", 7)
		time.Sleep(2 * time.Second)
		if l.String() != "[[1] [2 3 4] [5] [6] [7]]" || len(l.failures()) > 0 || !g.rests() {
			t.Errorf("batches %s, failed %v", &l, l.failures())
		}
	})
}

func TestBatcherKeepsKeysApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l batchLog
		g := l.batcher(time.Minute)
		addAll(g, "a", 1, 2)
		addAll(g, "b", 3)
		time.Sleep(3 * time.Second)
		if l.String() != "[[1] [3] [2]]" {
			t.Errorf("batches %s", &l)
		}
	})
}

func TestBatcherSurvivesAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l batchLog
		g := l.batcher(time.Minute)
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
