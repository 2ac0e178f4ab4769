package main

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load is a closed-loop load: conns connections, each sending the next request as soon as the last answer has come. It
// writes bytes to a socket and reads little of the answers, because it shares the machine with the server: through the
// public client the same 32 connections on 2 cores reached 38 % of the reads (top 10) and 88 % of the single submits.
type load struct {
	addrs   []string // that the connections are shared out to
	conns   int
	length  time.Duration
	rate    float64                             // requests a second of all connections together; 0: as many as are answered
	warm    time.Duration                       // of the start, in which answers count and their latencies do not
	request requester                           // of each connection
	observe func(begin, end time.Time, of said) // called for each answer, by all connections at once; may be nil
}

// loadResult counts the answers.
type loadResult struct {
	answers    int64
	failed     int64 // status 400 and above, and broken connections
	refused    int64 // of them with status 429 or 503
	stale      int64 // answers that say that they are
	local      int64 // answers from the memory of the process, as they say
	untold     int64 // submits whose standing was not known in time
	firstFail  string
	took       time.Duration
	latencies  []time.Duration // sorted
	rejections []time.Duration // latencies of the refusals, sorted
}

// perSecond returns the rate of the answers without an error.
func (r *loadResult) perSecond() float64 {
	return float64(max(0, r.answers-r.failed)) / r.took.Seconds()
}

func (r *loadResult) quantile(q float64) time.Duration { return quantile(r.latencies, q) }

// failure returns an error if there was any.
func (r *loadResult) failure() error {
	if r.failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d failed: %s", r.failed, r.answers, r.firstFail)
}

// broken returns an error if a request failed other than by a refusal.
func (r *loadResult) broken() error {
	if r.failed == r.refused {
		return nil
	}
	return fmt.Errorf("%d of %d failed otherwise than by being refused, the first failure: %s", r.failed-r.refused, r.answers, r.firstFail)
}

// add adds the counts of another one.
func (r *loadResult) add(c *loadResult) {
	r.answers, r.failed, r.refused = r.answers+c.answers, r.failed+c.failed, r.refused+c.refused
	r.stale, r.local, r.untold = r.stale+c.stale, r.local+c.local, r.untold+c.untold
	r.latencies, r.rejections = append(r.latencies, c.latencies...), append(r.rejections, c.rejections...)
	if r.firstFail == "" {
		r.firstFail = c.firstFail
	}
}

// fail counts a failure.
func (r *loadResult) fail(why string) {
	r.failed++
	if r.firstFail == "" {
		r.firstFail = why
	}
}

func (l load) run() *loadResult {
	var (
		wg     sync.WaitGroup
		ended  atomic.Bool
		mu     sync.Mutex
		result loadResult
	)
	start := time.Now()
	timer := time.AfterFunc(l.length, func() { ended.Store(true) })
	defer timer.Stop()
	for c := range l.conns {
		wg.Go(func() {
			var got loadResult
			if err := l.connection(c, start, &ended, &got); err != nil {
				got.fail(err.Error())
			}
			mu.Lock()
			defer mu.Unlock()
			result.add(&got)
		})
	}
	wg.Wait()
	result.took = time.Since(start)
	slices.Sort(result.latencies)
	slices.Sort(result.rejections)
	return &result
}

// connection asks and counts until it is ended, and returns the error that broke the connection.
func (l load) connection(c int, start time.Time, ended *atomic.Bool, got *loadResult) error {
	var w *wire // not before it is needed: a server ends connections that ask nothing
	var buf []byte
	begin := start
	for i := 0; ; i++ {
		begin = l.pace(start, begin, i*l.conns+c)
		if ended.Load() {
			return nil
		}
		if w == nil {
			var err error
			if w, err = dial(l.addrs[c%len(l.addrs)], l.length+answerLimit); err != nil {
				return err
			}
			defer w.close()
		}
		buf = l.request(c, i, buf[:0])
		said, err := w.skim(buf)
		if err != nil {
			return err
		}
		end := time.Now()
		if begin.Sub(start) >= l.warm {
			got.latencies = append(got.latencies, end.Sub(begin))
		}
		got.count(said, end.Sub(begin))
		if l.observe != nil {
			l.observe(begin, end, said)
		}
		begin = end
	}
}

// pace waits until the n-th request of all is due, and returns when its latency begins. That is when it was due if the answer
// before it, at prev, came later than that, since otherwise the wait would not be counted; else it is now.
func (l load) pace(start, prev time.Time, n int) time.Time {
	if l.rate <= 0 {
		return time.Now()
	}
	due := start.Add(time.Duration(float64(n) / l.rate * float64(time.Second)))
	if due.Before(prev) {
		return due
	}
	time.Sleep(time.Until(due))
	return time.Now()
}

// count counts an answer.
func (r *loadResult) count(said said, took time.Duration) {
	r.answers++
	if said.stale {
		r.stale++
	}
	if said.local {
		r.local++
	}
	if said.untold {
		r.untold++
	}
	if said.status >= http.StatusBadRequest {
		r.fail(fmt.Sprintf("status %d", said.status))
	}
	if said.status == http.StatusTooManyRequests || said.status == http.StatusServiceUnavailable {
		r.refused++
		r.rejections = append(r.rejections, took)
	}
}
