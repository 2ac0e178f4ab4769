package commit

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// TestAwaitCallers: the writer waits for the callers that it answered, for the fixed cost of a batch. After they did not
// come it waits less often.
func TestAwaitCallers(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		answered, waiting, back, rows int
		took, want                    time.Duration
		pause, pauses                 int // before
		then, thens                   int // and after it
	}{
		"alone":                 {answered: 1, took: time.Second},
		"all back":              {answered: 3, waiting: 2, back: 3, rows: 1, took: time.Second, pauses: 4, thens: 2},
		"a full batch":          {answered: 3, waiting: 2, back: 1, rows: 98, took: time.Second, pauses: 5, thens: 2},
		"full already":          {answered: 110, waiting: 100, took: time.Second, pauses: 4, thens: 4},
		"none back":             {answered: 3, took: 3 * ms, want: 3 * ms, then: 1, thens: 1},
		"none back again":       {answered: 3, took: 3 * ms, want: 3 * ms, pauses: 1, then: 2, thens: 2},
		"none back always":      {answered: 3, took: 3 * ms, want: 3 * ms, pauses: maxPause, then: maxPause, thens: maxPause},
		"none back of many":     {answered: 50, waiting: 30, took: 3 * ms, want: 3 * ms, then: 1, thens: 1},
		"not now":               {answered: 3, took: time.Second, pause: 2, pauses: 2, then: 1, thens: 2},
		"one of four missing":   {answered: 3, waiting: 1, back: 2, rows: 1, took: 3 * ms, want: 3 * ms, then: 1, thens: 1},
		"one of five missing":   {answered: 3, waiting: 2, back: 2, rows: 1, took: 3 * ms, want: 3 * ms, pauses: 4, thens: 4},
		"one, one waiting":      {answered: 1, waiting: 1, back: 1, rows: 1, took: time.Second},
		"a batch that was slow": {answered: 3, took: time.Second, want: 6 * ms, then: 1, thens: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				id := queueID{board: "b"}
				q := newQueues(Limits{Batch: 100, Wait: time.Minute, Memory: 1 << 20}, newBoardMutexes(time.Minute))
				one := &queue{queues: q, id: id, pause: c.pause, pauses: c.pauses, backlog: backlog{busy: load{requests: c.answered}, pace: pace{each: 6 * ms}}}
				q.byID[id] = one
				push := func(rows int) {
					if err := q.push(entriesRequest(rows)); err != nil {
						t.Error(err)
					}
				}
				for range c.waiting {
					push(1)
				}
				start, waited := time.Now(), make(chan time.Duration)
				go func() {
					one.awaitCallers(c.took)
					waited <- time.Since(start)
				}()
				synctest.Wait()
				for range c.back {
					push(c.rows)
				}
				if got := <-waited; got != c.want {
					t.Errorf("waited %s, want %s", got, c.want)
				}
				if one.reached != nil {
					t.Error("it waits still")
				}
				if one.pause != c.then || one.pauses != c.thens {
					t.Errorf("%d batches will go without a wait, %d did; want %d and %d", one.pause, one.pauses, c.then, c.thens)
				}
			})
		})
	}
}

func entriesRequest(rows int) request {
	entries := make([]leaderboard.Submission, rows)
	for i := range entries {
		entries[i].Member = "m"
	}
	return newSubmission(&leaderboard.SubmitRequest{Board: "b", Entries: entries})
}

// TestMovesShareNoLargeBatch: of requests that name many past periods few go in one batch, and a submission after
// them is not kept waiting by all of them.
func TestMovesShareNoLargeBatch(t *testing.T) {
	t.Parallel()
	q := newQueues(Limits{Batch: 500}, newBoardMutexes(time.Minute))
	one := &queue{queues: q}
	for range 6 {
		one.waiting = append(one.waiting, newMove(Move{Board: "b", Member: "m", PeriodIDs: make([]int64, 20)}))
	}
	most := make([]int64, 50) // the largest number that the store puts into one move
	one.waiting = append(one.waiting, newMove(Move{Board: "b", Member: "m", PeriodIDs: most}), newRemoval(leaderboard.RemoveRequest{Board: "b", Member: "m"}))
	for _, r := range one.waiting {
		one.enter(r.head())
	}
	var sizes []int
	for reqs := one.dequeue(); reqs != nil; reqs = one.dequeue() {
		sizes = append(sizes, len(reqs))
	}
	if want := []int{2, 1, 2, 2, 1}; !slices.Equal(sizes, want) || one.load != (load{}) {
		t.Errorf("batches of %v requests, want %v; left: %+v", sizes, want, one.load)
	}
}

// TestSmallRequestsTakeTurns: however many large requests wait, a small request waits for at most one of them, and large requests
// wait for the small requests before them: neither kind starves the other. Each kind keeps its order.
func TestSmallRequestsTakeTurns(t *testing.T) {
	t.Parallel()
	const batch = 500
	q := newQueues(Limits{Batch: batch, Wait: time.Hour, Memory: 1 << 30}, newBoardMutexes(time.Minute))
	one := &queue{queues: q, id: queueID{board: "b"}, backlog: backlog{pace: pace{full: 100 * time.Millisecond}}}
	q.byID[one.id] = one
	push := func(rows ...int) {
		t.Helper()
		for _, n := range rows {
			if err := q.push(entriesRequest(n)); err != nil {
				t.Errorf("a request of %d entries is refused: %v", n, err)
			}
		}
	}
	take := func(want ...int) {
		t.Helper()
		var got []int
		for _, r := range one.dequeue() {
			got = append(got, r.head().load.rows)
		}
		if !slices.Equal(got, want) {
			t.Errorf("a batch of %v, want %v", got, want)
		}
	}
	push(500, 1000, 501, 502, 503, 1, 2)
	take(500)
	take(1, 2)
	push(3)
	take(1000)
	push(400, 4)
	take(3, 4)
	push(5)
	take(501)
	take(5)
	take(502)
	take(503)
	take(400)
	for range 500 {
		push(62)
	}
	push(600, 6)
	for range 62 {
		if n := len(one.dequeue()); n != 8 {
			t.Fatalf("a batch of %d small requests", n)
		}
	}
	take(62, 62, 62, 62, 6)
	push(601, 7)
	take(600)
	take(7)
	take(601)
	if one.load != (load{}) || one.large != (load{}) {
		t.Errorf("nothing waits, and what is counted is %+v, %+v", one.load, one.large)
	}
}

// TestSmallRequestsAreAdmitted: large requests that wait for long do not have small ones refused, which will not wait for them.
func TestSmallRequestsAreAdmitted(t *testing.T) {
	t.Parallel()
	q := newQueues(Limits{Batch: 500, Wait: time.Second, Memory: 1 << 30}, newBoardMutexes(time.Minute))
	one := &queue{queues: q, id: queueID{board: "b"}, backlog: backlog{pace: pace{full: 100 * time.Millisecond}}}
	q.byID[one.id] = one
	for n := 0; q.push(entriesRequest(500)) == nil; n++ {
		if n > 20 {
			t.Fatal("any number of large requests may wait")
		}
	}
	if err := errors.Join(q.push(entriesRequest(1)), q.admit(one.id, 100)); err != nil {
		t.Errorf("a small one: %v", err)
	}
	if q.admit(one.id, 100_000) == nil {
		t.Error("a large one may wait")
	}
}
