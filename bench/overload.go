package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	floodRows     = 1000 // entries of a bulk submit
	floodConns    = 200
	servedConns   = 64
	deepConns     = 1024
	rejectedConns = 256
	// openRows are the entries of a submit of the open loop, openConns enough connections for all that may wait at once.
	openRows  = 100
	openConns = 2048

	bestSeconds  = 5
	floodSeconds = 20
	floodRounds  = 4
	calmSeconds  = 8 // of half the load, before the overload
	openSeconds  = 60
	backSeconds  = 20 // of half the load, after it
	backWithin   = 10

	overloadGoal  = "≥ 0.8"
	rejectionGoal = "≤ 0.05"
	peakGoal      = 256 // MiB, as promise G3 has it
)

// measureOverload measures what a server does when it is asked for more than it can do.
func (w *world) measureOverload(ctx context.Context, rep *report, log io.Writer) (err error) {
	defer w.stopService()
	p, err := w.pin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	peak := 0.0
	var reads deepReads
	for _, part := range []struct {
		name string
		args []string
		run  func(*world, *report) error
	}{
		{"bulk submits", nil, (*world).overloadWrites},
		{"deep pages", nil, reads.flood},
		{"deep pages that may not wait", []string{"--read-wait=1ms"}, reads.refused},
		{"open loop", nil, (*world).overloadOpen},
	} {
		fmt.Fprintln(log, "-", part.name)
		if err := w.serve(ctx, append(w.notResident(), part.args...)...); err != nil {
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
		What: "memory of the service at most (RSS), above what it takes idle", Here: fmt.Sprintf("%.0f MiB", peak),
		Goal: fmt.Sprintf("≤ %d MiB", peakGoal), Met: yesNo(peak <= peakGoal),
	})
	return nil
}

// peakMemory returns the most memory that a process had, in 2^20 bytes.
func peakMemory(pid int) (float64, error) { return memoryOf(pid, "VmHWM:") }

// memoryOf returns what the kernel says of a process's memory, in 2^20 bytes.
func memoryOf(pid int, what string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, what); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024, err
		}
	}
	return 0, errors.New("the kernel does not say how much memory a process has")
}

// flood is a load and what it did to the machine.
type flood struct {
	*loadResult
	cpu        time.Duration   // of all that serves
	rejections []time.Duration // how long they took, sorted
}

// join adds another flood of the same kind.
func (f *flood) join(g *flood) {
	if f.loadResult == nil {
		f.loadResult = &loadResult{}
	}
	f.add(g.loadResult)
	slices.Sort(f.latencies)
	f.took, f.cpu, f.rejections = f.took+g.took, f.cpu+g.cpu, append(f.rejections, g.rejections...)
}

// served returns how many requests were.
func (f *flood) served() int64 { return f.answers - f.failed }

// perAnswer returns the CPU of an answer, rejections left out of account.
func (f *flood) perAnswer() time.Duration { return f.cpu / time.Duration(max(1, f.served())) }

// perRejection returns the CPU of one, when each answer beside them took so much.
func (f *flood) perRejection(answer time.Duration) time.Duration {
	return max(0, f.cpu-time.Duration(f.served())*answer) / time.Duration(max(1, f.refused))
}

// broken returns an error if something failed in another way than that it was refused.
func (f *flood) broken() error {
	if f.failed == f.refused {
		return nil
	}
	return fmt.Errorf("%d of %d failed otherwise than by being refused, the first failure: %s", f.failed-f.refused, f.answers, f.firstFail)
}

// said describes the rejections.
func (f *flood) said() string {
	if f.refused == 0 {
		return "none refused"
	}
	slices.Sort(f.rejections)
	return fmt.Sprintf("%s of %s refused, in %s (p99)", thousands(f.refused), thousands(f.answers), inMS(f.rejections[len(f.rejections)*99/100]))
}

// send sends a load.
func (w *world) send(l load) (*flood, error) {
	before, err := w.cpu()
	if err != nil {
		return nil, err
	}
	f, mu, observe := &flood{}, sync.Mutex{}, l.observe
	l.addr = w.addr
	l.observe = func(begin, end time.Time, of said) {
		if of.status >= 400 {
			mu.Lock()
			f.rejections = append(f.rejections, end.Sub(begin))
			mu.Unlock()
		}
		if observe != nil {
			observe(begin, end, of)
		}
	}
	f.loadResult = l.run()
	after, err := w.cpu()
	if f.cpu = after - before; err != nil {
		return nil, err
	}
	return f, f.broken()
}

// cpu returns the processor time of all that serves.
func (w *world) cpu() (sum time.Duration, err error) {
	for _, pid := range []int{w.pid, w.mysql.PID, w.redis.PID} {
		u, err := processUsage(pid)
		if err != nil {
			return 0, err
		}
		sum += u.cpu
	}
	return sum, nil
}

// best returns the load of the number of connections that gets the most done, without a rejection.
func (w *world) best(request requester, seconds float64, conns ...int) (best *flood, with int, err error) {
	for _, n := range conns {
		f, err := w.send(load{conns: n, length: w.seconds(seconds), request: request})
		if err != nil {
			return nil, 0, err
		}
		if best == nil || f.perSecond() > best.perSecond() {
			best, with = f, n
		}
	}
	return best, with, nil
}

// bulkRequest submits so many entries.
func (w *world) bulkRequest(rows int) requester {
	return func(_, _ int, buf []byte) []byte { return appendSubmit(buf, boardPath, w.members, rows) }
}

// overloadWrites floods the board with bulk submits, in turn with the number of connections that gets the most done: a
// database that has written for a while is slower than a fresh one.
func (w *world) overloadWrites(rep *report) error {
	bulk := w.bulkRequest(floodRows)
	_, with, err := w.best(bulk, bestSeconds, 4, 8, 16)
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
			What: fmt.Sprintf("submits of 1,000 entries, %d connections", conns), Here: thousands(got) + " rows/s, " + f.said(),
			Yardstick: yardstick, Ratio: got / rate, Goal: goal, Met: met,
		})
	}
	tell(&full, floodConns, overloadGoal, "")
	rep.addRejection("a submit of 1,000 entries", &full, best.perAnswer(), best.perAnswer())
	tell(&fitting, servedConns, "all served", yesNo(fitting.refused == 0))
	return nil
}

// addRejection adds what it costs to reject something, beside what it usually costs to do it; in the flood it costs done.
func (r *report) addRejection(what string, full *flood, done, usual time.Duration) {
	out := row{What: "CPU of rejecting " + what, Here: "none was refused", Yardstick: "of doing it: " + inMicros(usual), Goal: rejectionGoal}
	if full.refused > 0 {
		rejection := full.perRejection(done)
		out.Here = fmt.Sprintf("%s, of %s", inMicros(rejection), thousands(full.refused))
		out.Ratio = max(0.001, float64(rejection)/float64(usual)) // 0 is no ratio
	}
	r.add(out)
}

// deepReads are questions that only MySQL can answer.
type deepReads struct {
	best *flood
}

// flood asks more of them than can be answered at once.
func (d *deepReads) flood(w *world, rep *report) error {
	page := w.deepPage()
	best, with, err := w.best(page, bestSeconds, 16, 64)
	if err != nil {
		return err
	}
	full, err := w.send(load{conns: deepConns, length: w.seconds(floodSeconds), request: page})
	if err != nil {
		return err
	}
	d.best = best
	d.add(rep, fmt.Sprintf("%d connections", deepConns), fmt.Sprintf("best, with %d connections", with), full)
	return nil
}

// refused is for a server that refuses most of them: none may wait. While nobody gets at the entries, it refuses all.
func (d *deepReads) refused(w *world, rep *report) error {
	full, err := w.send(load{conns: rejectedConns, length: w.seconds(floodSeconds), request: w.deepPage()})
	if err != nil {
		return err
	}
	d.add(rep, fmt.Sprintf("%d connections, none of which may wait (`--read-wait=1ms`)", rejectedConns), "best", full)
	lock, err := w.db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := lock.ExecContext(context.Background(), "LOCK TABLES entries WRITE"); err != nil {
		return err
	}
	all, err := w.send(load{conns: rejectedConns, length: w.seconds(bestSeconds), request: w.deepPage()})
	if err != nil {
		return err
	}
	all.refused, all.failed = all.answers, all.answers // what is answered all the same is kept here, and costs about as little
	rep.addRejection(fmt.Sprintf("a page of %d at a random depth", pageOf), all, 0, d.best.perAnswer())
	_, err = lock.ExecContext(context.Background(), "UNLOCK TABLES")
	return err
}

func (d *deepReads) add(rep *report, conns, best string, full *flood) {
	rep.add(row{
		What: fmt.Sprintf("pages of %d at random depths, %s", pageOf, conns), Here: thousands(full.perSecond()) + "/s, " + full.said(),
		Yardstick: fmt.Sprintf("%s: %s/s", best, thousands(d.best.perSecond())), Ratio: full.perSecond() / d.best.perSecond(), Goal: overloadGoal,
	})
}

func (w *world) deepPage() requester { return pageRequest(benchBoard, w.members, pageOf) }

// overloadOpen sends twice as much as can be done, then half as much, whatever the answers are.
func (w *world) overloadOpen(rep *report) error {
	request := w.bulkRequest(openRows)
	best, _, err := w.best(request, bestSeconds, 64)
	if err != nil {
		return err
	}
	open := func(factor, seconds float64) (*flood, *timeline, error) {
		t := newTimeline()
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
	got := full.perSecond() * openRows
	rep.add(row{
		What: fmt.Sprintf("submits of %d entries, open loop at twice the best rate for %d s", openRows, openSeconds), Here: thousands(got) + " rows/s, " + full.said(),
		Yardstick: fmt.Sprintf("best: %s rows/s", thousands(best.perSecond()*openRows)), Ratio: full.perSecond() / best.perSecond(), Goal: overloadGoal,
	})
	limit := max(3*calm.worst(), 100*time.Millisecond)
	back, ok := after.calmAfter(limit)
	rep.add(row{
		What: "then open loop at half of it: until all of a second are served as before", Here: fmt.Sprintf("%d s", back),
		Yardstick: "before: p99 of the slowest second " + inMS(calm.worst()), Goal: fmt.Sprintf("≤ %d s", backWithin), Met: yesNo(ok && back <= backWithin),
	})
	return nil
}

// timeline is what became of the requests of each second.
type timeline struct {
	start time.Time

	mu      sync.Mutex
	seconds []second
}

type second struct {
	failed    int
	latencies []time.Duration
}

func newTimeline() *timeline { return &timeline{start: time.Now()} }

// observe takes an answer down in the second in which its request was due.
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

// p99 returns that of a second.
func (s *second) p99() time.Duration {
	if len(s.latencies) == 0 {
		return 0
	}
	slices.Sort(s.latencies)
	return s.latencies[len(s.latencies)*99/100]
}

// worst returns the p99 of the slowest second.
func (t *timeline) worst() (worst time.Duration) {
	for i := range t.seconds {
		worst = max(worst, t.seconds[i].p99())
	}
	return worst
}

// calmAfter returns after how many seconds nothing fails any more and no p99 is above the limit; ok is false when that
// is not so at the end.
func (t *timeline) calmAfter(limit time.Duration) (seconds int, ok bool) {
	for i := len(t.seconds) - 1; i >= 0; i-- {
		if s := &t.seconds[i]; s.failed > 0 || s.p99() > limit {
			return i + 1, i < len(t.seconds)-1
		}
	}
	return 0, true
}
