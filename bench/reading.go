package main

import (
	"context"
	"fmt"
	"time"
)

// question is a kind of read, and what is wanted of it.
type question struct {
	what    string
	request requester
	goals   goals
}

const readSeconds = 2 // of a round of one side

// slice is one round of one side.
type slice struct {
	*loadResult
	cpu     time.Duration // per answer
	submits float64       // a second
}

func (s *slice) tail() float64 {
	return float64(s.quantile(0.99)) / float64(max(1, s.quantile(0.5)))
}

// measureReading asks the service and a bare handler that returns the same bytes in turn. writing, if there is one,
// writes all the while.
func (w *world) measureReading(ctx context.Context, q *question, conns int, writing *writer) (*reading, error) {
	body, err := ask(w.addr, q.request(0, 0, nil))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.what, err)
	}
	yardstick, err := startBare(ctx, w.dir, body)
	if err != nil {
		return nil, err
	}
	defer yardstick.stop()
	var here, bare []slice
	for range w.pairs {
		for _, s := range []struct {
			addr string
			pid  int
			to   *[]slice
		}{{w.addr, w.pid, &here}, {yardstick.addr, yardstick.pid, &bare}} {
			got, err := w.readSlice(s.addr, s.pid, q.request, conns, writing)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.what, err)
			}
			*s.to = append(*s.to, got)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	r := readingOf(here, bare)
	r.What, r.Goal = q.what, q.goals.String()
	r.Met = yesNo(q.goals.met(r))
	return r, nil
}

// readSlice is one round of the side at an address.
func (w *world) readSlice(addr string, pid int, request requester, conns int, writing *writer) (slice, error) {
	before, err := processUsage(pid)
	if err != nil {
		return slice{}, err
	}
	submits := writing.submits()
	result := load{addr: addr, conns: conns, length: w.seconds(readSeconds), request: request}.run()
	submits = writing.submits() - submits
	after, err := processUsage(pid)
	if err != nil {
		return slice{}, err
	}
	if result.answers == 0 {
		return slice{}, fmt.Errorf("no answer: %s", result.firstFail)
	}
	return slice{result, (after.cpu - before.cpu) / time.Duration(result.answers), float64(submits) / result.took.Seconds()}, nil
}

// readingOf puts rounds of both sides together.
func readingOf(here, bare []slice) *reading {
	var ratios, cpus, tails []float64
	for i := range here {
		ratios = append(ratios, here[i].perSecond()/bare[i].perSecond())
		cpus = append(cpus, float64(here[i].cpu)/float64(max(1, bare[i].cpu)))
		tails = append(tails, here[i].tail()/bare[i].tail())
	}
	return &reading{
		Here: sideOf(here), Bare: sideOf(bare), Ratio: median(ratios), CPURatio: median(cpus), TailRatio: median(tails), Pairs: len(here),
	}
}

func sideOf(rounds []slice) side {
	var s side
	var rates, submits []float64
	var cpus, p50s, p99s []time.Duration
	for _, r := range rounds {
		rates, submits = append(rates, r.perSecond()), append(submits, r.submits)
		cpus, p50s, p99s = append(cpus, r.cpu), append(p50s, r.quantile(0.5)), append(p99s, r.quantile(0.99))
		s.Answers, s.Stale, s.Local = s.Answers+r.answers, s.Stale+r.stale, s.Local+r.local
		s.Refused, s.Failed = s.Refused+r.refused, s.Failed+r.failed
		if s.firstFail == "" {
			s.firstFail = r.firstFail
		}
	}
	s.Rate, s.CPU, s.P50, s.P99, s.Submits = median(rates), median(cpus), median(p50s), median(p99s), median(submits)
	return s
}
