package store

import (
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
)

// TestGather: the writer waits for the callers that it answered, not longer than they take, and not for long.
func TestGather(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answered, waiting, back, rows int
		took, want                    time.Duration
	}{
		"alone":            {answered: 1, took: time.Second},
		"all back":         {answered: 3, waiting: 2, back: 3, rows: 1, took: time.Second},
		"a full batch":     {answered: 3, waiting: 2, back: 1, rows: 8, took: time.Second},
		"full already":     {answered: 3, waiting: 10, took: time.Second},
		"nobody back":      {answered: 3, took: 2 * time.Millisecond, want: 500 * time.Microsecond},
		"one missing":      {answered: 3, waiting: 2, back: 2, rows: 1, took: time.Second, want: maxGather},
		"one, one waiting": {answered: 1, waiting: 1, back: 1, rows: 1, took: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := &queue{board: "b", reached: make(chan struct{}, 1)}
				s := &Store{cfg: Config{BatchRows: 10}.withDefaults(), queues: map[string]*queue{"b": q}}
				push := func(rows int) {
					if err := s.push("b", entriesRequest(rows)); err != nil {
						t.Error(err)
					}
				}
				for range c.waiting {
					push(1)
				}
				start, waited := time.Now(), make(chan time.Duration)
				go func() {
					s.gather(q, c.answered, c.took)
					waited <- time.Since(start)
				}()
				synctest.Wait()
				for range c.back {
					push(c.rows)
				}
				if got := <-waited; got != c.want {
					t.Errorf("waited %s, want %s", got, c.want)
				}
				if len(q.reached) != 0 || q.goal != 0 {
					t.Errorf("left behind: goal %d, %d signals", q.goal, len(q.reached))
				}
			})
		})
	}
}

func entriesRequest(rows int) *request {
	r := &request{done: make(chan answer, 1)}
	for range rows {
		r.entries = append(r.entries, leaderboard.Submission{Member: "m"})
	}
	return r
}
