package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	floodRows   = 1000 // entries of a bulk submit
	floodConns  = 200
	servedConns = 64
	deepConns   = 1024
	// openRows are the entries of a submit of the open loop, openConns enough connections for all requests that may wait at
	// once.
	openRows  = 100
	openConns = 2048

	bestSeconds  = 5
	floodSeconds = 20
	floodRounds  = 4
	calmSeconds  = 8 // seconds of half the load, before the overload
	openSeconds  = 60
	backSeconds  = 20 // seconds of half the load, after the overload
	backWithin   = 10

	overloadGoal = "≥ 0.8"
	peakGoal     = 256 // MiB, as promise G3 has it
)

// measureOverload measures a server that gets more requests than it can answer.
func (w *world) measureOverload(ctx context.Context, rep *report) (err error) {
	if err := w.measureQuiet(ctx, rep); err != nil {
		return err
	}
	p, err := w.pin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	peak := 0.0
	for _, part := range []struct {
		name string
		run  func(*world, *report) error
	}{
		{"bulk submits", (*world).overloadWrites},
		{"deep pages", (*world).overloadReads},
		{"open loop", (*world).overloadOpen},
	} {
		fmt.Fprintln(w.log, "-", part.name)
		if err := w.serve(ctx, withoutMemory()...); err != nil {
			return err
		}
		if err := pin(w.pid, p.forServers); err != nil {
			return err
		}
		idle, err := peakMemory(w.pid)
		if err != nil {
			return err
		}
		if err := part.run(w, rep); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		most, err := peakMemory(w.pid)
		if err != nil {
			return err
		}
		peak = max(peak, most-idle)
	}
	rep.add(row{
		what: "memory of the service at most (RSS), above what it takes idle", here: fmt.Sprintf("%.0f MiB", peak),
		goal: fmt.Sprintf("≤ %d MiB", peakGoal), met: yesNo(peak <= peakGoal),
	})
	return nil
}

// flood is the result of a load, and its cost.
type flood struct {
	*loadResult
	cpu time.Duration // of all processes that serve
}

// join adds another flood of the same kind.
func (f *flood) join(g *flood) {
	if f.loadResult == nil {
		f.loadResult = &loadResult{}
	}
	f.add(g.loadResult)
	f.took, f.cpu = f.took+g.took, f.cpu+g.cpu
}

// perAnswer returns the CPU of an answer, rejections left out of account.
func (f *flood) perAnswer() time.Duration { return f.cpu / time.Duration(max(1, f.answers-f.failed)) }

// perRejection returns the CPU of a rejection, if each answer at the same time took a given CPU.
func (f *flood) perRejection(answer time.Duration) time.Duration {
	return max(0, f.cpu-time.Duration(f.answers-f.failed)*answer) / time.Duration(max(1, f.refused))
}

// said describes the rejections.
func (f *flood) said() string {
	if f.refused == 0 {
		return "none refused"
	}
	return fmt.Sprintf("%s of %s refused, in %s (p99)", thousands(f.refused), thousands(f.answers), inMS(quantile(f.rejections, 0.99)))
}

// send sends a load. Requests may be refused, but must not fail otherwise.
func (w *world) send(l load) (*flood, error) {
	before, err := w.cpu()
	if err != nil {
		return nil, err
	}
	l.addrs = []string{w.addr}
	got := l.run()
	after, err := w.cpu()
	if err != nil {
		return nil, err
	}
	return &flood{got, after - before}, got.broken()
}

// cpu returns the processor time of all servers.
func (w *world) cpu() (sum time.Duration, err error) {
	for _, pid := range []int{w.pid, w.mysql.PID, w.redis.PID} {
		cpu, err := cpuOf(pid)
		if err != nil {
			return 0, err
		}
		sum += cpu
	}
	return sum, nil
}

// best returns the load with the number of connections that gets the most done.
func (w *world) best(request requester, conns ...int) (best *flood, with int, err error) {
	for _, n := range conns {
		f, err := w.send(load{conns: n, length: w.seconds(bestSeconds), request: request})
		if err != nil {
			return nil, 0, err
		}
		if best == nil || f.perSecond() > best.perSecond() {
			best, with = f, n
		}
	}
	return best, with, nil
}

// overloadWrites floods the board with bulk submits, in turn with the number of connections that gets the most done: a
// database that has written for a while is slower than a fresh one.
func (w *world) overloadWrites(rep *report) error {
	bulk := submitRequest(benchBoard, w.members, floodRows)
	_, with, err := w.best(bulk, 4, 8, 16)
	if err != nil {
		return err
	}
	var best, full, fitting flood
	for range floodRounds {
		for _, part := range []struct {
			sum     *flood
			conns   int
			seconds float64
		}{{&best, with, bestSeconds}, {&full, floodConns, floodSeconds / floodRounds}, {&fitting, servedConns, bestSeconds}} {
			f, err := w.send(load{conns: part.conns, length: w.seconds(part.seconds), request: bulk})
			if err != nil {
				return err
			}
			part.sum.join(f)
		}
	}
	rate := best.perSecond() * floodRows
	yardstick := fmt.Sprintf("best, with %d connections: %s rows/s", with, thousands(rate))
	tell := func(f *flood, conns int, goal, met string) {
		got := f.perSecond() * floodRows
		rep.add(row{
			what: fmt.Sprintf("submits of 1,000 entries, %d connections", conns), here: thousands(got) + " rows/s, " + f.said(),
			yardstick: yardstick, ratio: got / rate, goal: goal, met: met,
		})
	}
	tell(&full, floodConns, overloadGoal, "")
	rep.addRejection("a submit of 1,000 entries", &full, best.perAnswer())
	tell(&fitting, servedConns, "all served", yesNo(fitting.refused == 0))
	return nil
}

// addRejection adds the cost of a rejection next to the cost of an answer.
func (r *report) addRejection(what string, full *flood, done time.Duration) {
	out := row{what: "CPU of rejecting " + what, here: "none was refused", yardstick: "of doing it: " + inMicros(done), goal: "≤ 0.05"}
	if full.refused > 0 {
		rejection := full.perRejection(done)
		out.here = fmt.Sprintf("%s, of %s", inMicros(rejection), thousands(full.refused))
		out.ratio = max(0.001, float64(rejection)/float64(max(1, done))) // 0 is no ratio
	}
	r.add(out)
}

// overloadReads asks for more pages that only MySQL can answer than can be answered at once.
func (w *world) overloadReads(rep *report) error {
	page := pageRequest(w.members, pageOf)
	best, with, err := w.best(page, 16, 64)
	if err != nil {
		return err
	}
	full, err := w.send(load{conns: deepConns, length: w.seconds(floodSeconds), request: page})
	if err != nil {
		return err
	}
	rep.add(row{
		what: fmt.Sprintf("pages of %d at random depths, %d connections", pageOf, deepConns), here: thousands(full.perSecond()) + "/s, " + full.said(),
		yardstick: fmt.Sprintf("best, with %d connections: %s/s", with, thousands(best.perSecond())),
		ratio:     full.perSecond() / best.perSecond(), goal: overloadGoal,
	})
	return nil
}

// overloadOpen sends twice as much as the server can do, then half as much, without waiting for answers.
func (w *world) overloadOpen(rep *report) error {
	request := submitRequest(benchBoard, w.members, openRows)
	best, _, err := w.best(request, 64)
	if err != nil {
		return err
	}
	open := func(factor, seconds float64) (*flood, *timeline, error) {
		t := &timeline{start: time.Now()}
		f, err := w.send(load{conns: openConns, length: w.seconds(seconds), rate: factor * best.perSecond(), request: request, observe: t.observe})
		return f, t, err
	}
	_, calm, err := open(0.5, calmSeconds)
	if err != nil {
		return err
	}
	full, _, err := open(2, openSeconds)
	if err != nil {
		return err
	}
	_, after, err := open(0.5, backSeconds)
	if err != nil {
		return err
	}
	rep.add(row{
		what:      fmt.Sprintf("submits of %d entries, open loop at twice the best rate for %d s", openRows, openSeconds),
		here:      thousands(full.perSecond()*openRows) + " rows/s, " + full.said(),
		yardstick: fmt.Sprintf("best: %s rows/s", thousands(best.perSecond()*openRows)), ratio: full.perSecond() / best.perSecond(), goal: overloadGoal,
	})
	limit := max(3*calm.worst(), 100*time.Millisecond)
	back, ok := after.calmAfter(limit)
	rep.add(row{
		what: "then open loop at half of it: until all of a second are served as before", here: fmt.Sprintf("%d s", back),
		yardstick: "before: p99 of the slowest second " + inMS(calm.worst()), goal: fmt.Sprintf("≤ %d s", backWithin), met: yesNo(ok && back <= backWithin),
	})
	return nil
}

// timeline is the results of the requests of each second.
type timeline struct {
	start time.Time

	mu      sync.Mutex
	seconds []second
}

type second struct {
	failed    int
	latencies []time.Duration
}

// observe counts an answer in the second in which its request was due.
func (t *timeline) observe(begin, end time.Time, of said) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := int(begin.Sub(t.start) / time.Second)
	for len(t.seconds) <= i {
		t.seconds = append(t.seconds, second{})
	}
	s := &t.seconds[i]
	if of.status >= 400 {
		s.failed++
	}
	s.latencies = append(s.latencies, end.Sub(begin))
}

// worst returns the p99 of the slowest second.
func (t *timeline) worst() (worst time.Duration) {
	for _, s := range t.seconds {
		worst = max(worst, quantile(s.latencies, 0.99))
	}
	return worst
}

// calmAfter returns the number of seconds after which nothing fails any longer and every p99 is within the limit; ok is
// false if that is not reached.
func (t *timeline) calmAfter(limit time.Duration) (seconds int, ok bool) {
	for i, s := range slices.Backward(t.seconds) {
		if s.failed > 0 || quantile(s.latencies, 0.99) > limit {
			return i + 1, i < len(t.seconds)-1
		}
	}
	return 0, true
}
