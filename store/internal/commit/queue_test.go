package commit

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
)

// TestAwaitCallers: the writer waits for the callers that it answered, unless they are many, and not for long: longer
// when they came the last time, and shorter when they did not.
func TestAwaitCallers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answered, waiting, back, rows int
		took, want                    time.Duration
		part                          int // before, and then after it
		then                          int
	}{
		"alone":               {answered: 1, took: time.Second},
		"all back":            {answered: 3, waiting: 2, back: 3, rows: 1, took: time.Second, then: 2},
		"all back again":      {answered: 3, waiting: 2, back: 3, rows: 1, took: time.Second, part: 2, then: 1},
		"all back always":     {answered: 3, waiting: 2, back: 3, rows: 1, took: time.Second, part: 1, then: 1},
		"a full batch":        {answered: 3, waiting: 2, back: 1, rows: 98, took: time.Second, then: 2},
		"full already":        {answered: 110, waiting: 100, took: time.Second},
		"many":                {answered: 20, waiting: 4, took: time.Second},
		"none back":           {answered: 3, took: 2 * time.Millisecond, want: 500 * time.Microsecond, then: 8},
		"none back again":     {answered: 3, took: 2 * time.Millisecond, want: 250 * time.Microsecond, part: 8, then: 16},
		"none back always":    {answered: 3, took: 2 * time.Millisecond, want: 125 * time.Microsecond, part: 16, then: 16},
		"one of four missing": {answered: 3, waiting: 1, back: 2, rows: 1, took: 2 * time.Millisecond, want: 500 * time.Microsecond, then: 8},
		"one of five missing": {answered: 3, waiting: 2, back: 2, rows: 1, took: time.Second, want: maxReturn},
		"one, one waiting":    {answered: 1, waiting: 1, back: 1, rows: 1, took: time.Second, then: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				id := queueID{board: "b"}
				q := newQueues(Limits{Batch: 100, Wait: time.Minute, Memory: 1 << 20}, newBoardMutexes(time.Minute))
				one := &queue{queues: q, id: id, part: c.part, backlog: backlog{busy: load{requests: c.answered}}}
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
				if one.part != c.then {
					t.Errorf("the next wait is for a %dth of a batch, want %d", one.part, c.then)
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
	most := make([]int64, 50) // what the store puts into one move
	one.waiting = append(one.waiting, newMove(Move{Board: "b", Member: "m", PeriodIDs: most}), newRemoval(leaderboard.RemoveRequest{Board: "b", Member: "m"}))
	for _, r := range one.waiting {
		one.enter(r.head())
	}
	var sizes []int
	for reqs := one.take(); reqs != nil; reqs = one.take() {
		sizes = append(sizes, len(reqs))
	}
	if want := []int{2, 2, 2, 1, 1}; !slices.Equal(sizes, want) || one.load != (load{}) {
		t.Errorf("batches of %v requests, want %v; left: %+v", sizes, want, one.load)
	}
}
