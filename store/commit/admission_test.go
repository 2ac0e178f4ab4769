package commit

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// carrier carries requests out in the simplest way and takes its time: a fixed time for each batch, and for each entry.
type carrier struct {
	each, entry time.Duration
	hold        chan struct{} // when it is not nil, batches wait until it is closed

	mu      sync.Mutex
	carried int // requests
}

func (c *carrier) queues(limits Limits) *queues {
	q := newQueues(limits, newBoardMutexes(time.Minute))
	q.commit = func(one *queue) error { c.carry(one.dequeue()); return nil }
	return q
}

func (c *carrier) carry(reqs []request) {
	if c.hold != nil {
		<-c.hold
	}
	reqs = slices.DeleteFunc(reqs, func(r request) bool { return !r.head().send() })
	if len(reqs) == 0 {
		return
	}
	took := c.each
	for _, r := range reqs {
		took += time.Duration(r.head().load.rows) * c.entry
	}
	time.Sleep(took)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range reqs {
		c.carried++
		r.head().done <- nil
	}
}

func (c *carrier) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.carried
}

func requestTo(board string, rows int) request {
	r := newSubmission(&leaderboard.SubmitRequest{Board: board, Entries: make([]leaderboard.Submission, rows)})
	return r
}

// TestExpectedWait: at any speed of the database, requests are let in as long as they are sent within the wait, and nearly
// all admitted requests are carried out. A refusal says when to come back.
func TestExpectedWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*carrier{
		"fast": {each: time.Millisecond, entry: 20 * time.Microsecond},
		"slow": {each: 200 * time.Millisecond, entry: 2 * time.Millisecond},
		"away": {each: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const clients, rows, wait = 400, 100, 5 * time.Second
				q := c.queues(Limits{Wait: wait, Memory: 1 << 30, Batch: 500})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var (
					mu                    sync.Mutex
					served, refused, late int
					longest               time.Duration
					all                   sync.WaitGroup
				)
				for i := range clients {
					all.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						for ctx.Err() == nil {
							start := time.Now()
							err := q.do(ctx, requestTo("b", rows))
							took := time.Since(start)
							over, _ := errors.AsType[*leaderboard.OverloadError](err)
							mu.Lock()
							switch {
							case ctx.Err() != nil: // the end
								over = nil
							case err == nil:
								served, longest = served+1, max(longest, took)
							case over != nil && took == 0:
								refused++
							case over != nil:
								late++
							}
							mu.Unlock()
							if over != nil {
								if took == 0 && over.Wait <= wait {
									t.Errorf("refused with %v", over)
								}
								time.Sleep(min(max(over.Wait, time.Millisecond), time.Second))
							}
						}
					})
				}
				all.Wait()
				q.close()
				batch := c.each + 500*c.entry
				best := int(time.Minute / batch * 500 / rows)
				t.Logf("served %d of %d, refused %d, late %d, longest %s", served, best, refused, late, longest)
				if served < best*9/10-2*500/rows {
					t.Errorf("%d served, the best would be %d", served, best)
				}
				if most := wait + 3*batch; longest > most {
					t.Errorf("one took %s, want %s at most", longest, most)
				}
				if late > clients+clients/4 { // all may be let in before the first batch has shown the pace
					t.Errorf("%d were let in and not sent in time, %d served", late, served)
				}
				if name == "fast" && refused+late > 0 {
					t.Errorf("%d refused, %d late, though all could be served", refused, late)
				}
			})
		})
	}
}

// TestOtherBoardsAreAdmitted: a board that cannot be written to fills its own queue only.
func TestOtherBoardsAreAdmitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{hold: make(chan struct{})}
		q := c.queues(Limits{Wait: time.Second, Memory: 1 << 20, Batch: 10})
		var all sync.WaitGroup
		errs := make(chan error, 2000)
		for range cap(errs) {
			all.Go(func() { errs <- q.do(t.Context(), requestTo("stuck", 10)) })
		}
		synctest.Wait()
		if err := q.admit(queueID{board: "stuck"}, 1000); !errors.Is(err, leaderboard.ErrOverloaded) {
			t.Errorf("of the board itself: %v", err)
		}
		if err := q.admit(queueID{board: "other"}, 1000); err != nil {
			t.Errorf("of another board: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := len(errs); n != cap(errs) {
			t.Errorf("%d were refused, want all: nothing was sent", n)
		}
		close(c.hold)
		all.Wait()
		synctest.Wait()
		if q.bytes != 0 {
			t.Errorf("%d bytes are counted though nothing waits", q.bytes)
		}
	})
}

// TestManyBoardsWaitForConnections: when a batch of one more board would wait for a connection for too long, it is refused, though nothing
// waits for that board; as soon as the line is shorter it is not.
func TestManyBoardsWaitForConnections(t *testing.T) {
	t.Parallel()
	q := newQueues(Limits{Wait: 5 * time.Second, Memory: 1 << 20, Batch: 500}, newBoardMutexes(time.Minute))
	q.line.conns = 8
	for range 100 {
		q.line.learn(400 * time.Millisecond)
	}
	for waiting, want := range map[int]bool{0: true, 8: true, 95: true, 110: false} {
		q.line.waiting = waiting
		if err := q.admit(queueID{board: "b"}, 100); (err == nil) != want {
			t.Errorf("with %d batches in line: %v", waiting, err)
		}
	}
}

// TestMemoryOfWhatWaits: waiting requests take no more than their share of memory, and a board with a full queue leaves
// room for others.
func TestMemoryOfWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const memory = 1 << 20
		c := &carrier{hold: make(chan struct{})}
		q := c.queues(Limits{Wait: time.Hour, Memory: memory, Batch: 10})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		boards := make([]int, 12) // how many were let in
		for i := range boards {
			for {
				r := requestTo("b"+strconv.Itoa(i), 10)
				if q.admit(r.head().queue, r.head().load.bytes) != nil {
					break
				}
				all.Go(func() { _ = q.do(ctx, r) })
				synctest.Wait()
				boards[i]++
			}
			if got := q.bytes; got > memory {
				t.Fatalf("%d bytes wait, want %d at most", got, memory)
			}
		}
		if boards[0] < boards[1] || boards[1] < 10 || boards[5] < 2 {
			t.Errorf("boards were let in %v times", boards)
		}
		if int64(boards[0])*requestTo("", 10).head().load.bytes > memory*6/10 {
			t.Errorf("one board took %d requests, which is more than half of the memory", boards[0])
		}
		cancel()
		close(c.hold)
		all.Wait()
		synctest.Wait()
		if q.bytes != 0 {
			t.Errorf("%d bytes are counted in the end", q.bytes)
		}
	})
}

// TestTheDepartedAreNotServed: requests whose time is up before they are sent change nothing, and their error says so;
// requests that the batch has taken have an unknown outcome.
func TestTheDepartedAreNotServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{hold: make(chan struct{})}
		q := c.queues(Limits{Wait: time.Hour, Memory: 1 << 30, Batch: 50})
		var all sync.WaitGroup
		results := map[string]int{}
		var mu sync.Mutex
		ask := func(ctx context.Context) {
			err := q.do(ctx, requestTo("b", 1))
			kind := "served"
			switch {
			case errors.Is(err, leaderboard.ErrOutcomeUnknown):
				kind = "unknown"
			case errors.Is(err, leaderboard.ErrOverloaded):
				kind = "refused"
			case errors.Is(err, context.Canceled):
				kind = "cancelled"
			case err != nil:
				kind = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			results[kind]++
		}
		soon, cancelSoon := context.WithTimeout(t.Context(), time.Second)
		defer cancelSoon()
		gone, leave := context.WithCancel(t.Context())
		for i := range 300 {
			all.Go(func() { ask([]context.Context{t.Context(), soon, gone}[i%3]) })
		}
		synctest.Wait()
		leave()
		time.Sleep(2 * time.Second)
		close(c.hold)
		all.Wait()
		if c.count() != 100 || results["served"] != 100 || results["refused"] != 100 || results["cancelled"] != 100 {
			t.Errorf("%d were carried out; callers were told %v", c.count(), results)
		}
	})
}

// TestCloseAnswersWhatWaits: at the end requests that were not sent fail at once, and Close waits for the others.
func TestCloseAnswersWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{each: 3 * time.Second}
		q := c.queues(Limits{Wait: time.Hour, Memory: 1 << 30, Batch: 1})
		var all sync.WaitGroup
		errs := make(chan error, 20)
		for range 10 {
			for _, board := range []string{"a", "b"} {
				all.Go(func() { errs <- q.do(t.Context(), requestTo(board, 1)) })
			}
		}
		synctest.Wait()
		start := time.Now()
		q.close()
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %s, want as long as the batches under way", took)
		}
		all.Wait()
		closed := 0
		for range 20 {
			if err := <-errs; errors.Is(err, errClosed) {
				closed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if closed != 18 || c.count() != 2 {
			t.Errorf("%d were told that the store is closed, %d were carried out", closed, c.count())
		}
		if err := q.admit(queueID{board: "a"}, 1); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("later: %v", err)
		}
	})
}
