package main

import (
	"context"
	"fmt"
	"time"
)

const (
	readPairs   = 7 // rounds of the service and of the bare handler in turn
	readSeconds = 2 // of a round of one side
	readConns   = 64

	residentLimit = 30.0 // seconds for a board to get into memory
	localInRow    = 50   // random members in a row that are answered from memory: other caches never have all of them
)

// question is a kind of read, with the goals for its rate and its CPU relative to the bare handler.
type question struct {
	what          string
	request       requester
	rateGoal      string
	processorGoal string // "" for none
}

// measureReads compares the reads of a board that is in memory and does not change with the bare handler.
func (w *world) measureReads(ctx context.Context, rep *report) error {
	if err := w.serveResident(ctx); err != nil {
		return err
	}
	return w.measure(ctx, rep, []question{
		{"page of the top 10", topRequest(10), "≥ 0.85", "≤ 1.15"},
		{"page of the top 100", topRequest(pageOf), "≥ 0.85", "≤ 1.15"},
		{"rank of a random member of all", memberRequest(w.members), "≥ 0.75", ""},
		{"around ±5 of a random member", aroundRequest(w.members), "≥ 0.65", ""},
		{"page of 100 at a random depth", pageRequest(w.members, pageOf), "≥ 0.6", ""},
	})
}

// serveResident starts the service on its board, with these arguments, and waits until the board is in memory.
func (w *world) serveResident(ctx context.Context, args ...string) error {
	if err := w.serve(ctx, args...); err != nil {
		return err
	}
	return w.awaitResident(ctx, w.service)
}

// awaitResident waits until random members of the board are answered from the memory of a server. If that does not happen it
// prints a warning, since the figures then mean something else.
func (w *world) awaitResident(ctx context.Context, s *service) error {
	return w.awaitLocal(ctx, s, memberRequest(w.members), w.seconds(residentLimit))
}

// awaitLocal waits until a request is answered from memory again and again, up to a limit.
func (w *world) awaitLocal(ctx context.Context, s *service, request requester, limit time.Duration) error {
	conn, err := dial(s.addr, limit+answerLimit)
	if err != nil {
		return err
	}
	defer conn.close()
	var buf []byte
	start := time.Now()
	for inRow := 0; inRow < localInRow; inRow++ {
		if time.Since(start) > limit || ctx.Err() != nil {
			fmt.Fprintf(w.log, "what is asked for is NOT in memory after %s\n", inMS(limit))
			return ctx.Err()
		}
		buf = request(0, 0, buf[:0])
		said, err := conn.skim(buf)
		if err != nil {
			return err
		}
		if !said.local {
			inRow = -1
		}
	}
	return nil
}

// side is the results of the rounds of the service, or of the bare handler.
type side struct {
	all   loadResult
	rates []float64 // of each round, like the next two
	cpus  []float64 // ns of an answer
	p50s  []time.Duration
	p99s  []time.Duration
}

// round asks one side for a while.
func (s *side) round(addr string, pid int, l load) error {
	before, err := cpuOf(pid)
	if err != nil {
		return err
	}
	l.addrs = []string{addr}
	got := l.run()
	after, err := cpuOf(pid)
	if err != nil {
		return err
	}
	if got.answers == 0 {
		return fmt.Errorf("no answer: %s", got.firstFail)
	}
	s.rates, s.cpus = append(s.rates, got.perSecond()), append(s.cpus, float64(after-before)/float64(got.answers))
	s.p50s, s.p99s = append(s.p50s, got.quantile(0.5)), append(s.p99s, got.quantile(0.99))
	got.latencies = nil // of all rounds they are many
	s.all.add(got)
	return nil
}

func (s *side) String() string {
	return fmt.Sprintf("%s; p50 %s, p99 %s", s.pace(), inMS(median(s.p50s)), inMS(median(s.p99s)))
}

// pace returns the rate of answers, and the processor time of each.
func (s *side) pace() string {
	return fmt.Sprintf("%s/s, %s", thousands(median(s.rates)), inMicros(time.Duration(median(s.cpus))))
}

// measure sends questions to the service, in turn with a bare handler that returns the same bytes.
func (w *world) measure(ctx context.Context, rep *report, questions []question) error {
	for _, q := range questions {
		var here, bare side
		if err := w.measureBoth(ctx, q.request, &here, &bare); err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
		rep.addRead(&q, &here, &bare)
		fmt.Fprintf(w.log, "%s: %s\n", q.what, &here)
		if here.all.failed > 0 {
			fmt.Fprintln(w.log, "first failure:", here.all.firstFail)
		}
	}
	return nil
}

func (w *world) measureBoth(ctx context.Context, request requester, here, bare *side) error {
	conn, err := dial(w.addr, answerLimit)
	if err != nil {
		return err
	}
	defer conn.close()
	body, err := conn.send(request(0, 0, nil))
	if err != nil {
		return err
	}
	yardstick, err := startBare(ctx, w.dir, body)
	if err != nil {
		return err
	}
	defer yardstick.stop()
	l := load{conns: readConns, length: w.seconds(readSeconds), request: request}
	for range readPairs {
		if err := here.round(w.addr, w.pid, l); err != nil {
			return err
		}
		if err := bare.round(yardstick.addr, yardstick.pid, l); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// addRead adds the row of a question.
func (r *report) addRead(q *question, here, bare *side) {
	ratio, all := ratioOf(here.rates, bare.rates), &here.all
	met := ratioMet(q.rateGoal, ratio)
	if all.stale > 0 || all.failed > 0 {
		met = yesNo(false)
	}
	processor := row{ratio: ratioOf(here.cpus, bare.cpus), goal: q.processorGoal}
	processor.met = ratioMet(processor.goal, processor.ratio)
	r.add(row{
		what: q.what, yardstick: bare.pace(), ratio: ratio, goal: q.rateGoal, met: met, also: "CPU " + processor.verdict(),
		here: here.String() + all.fromMemory() + all.wrong(),
	})
}

// fromMemory returns the share of answers from memory, "" if all were.
func (r *loadResult) fromMemory() string {
	if share := fmt.Sprintf("%.0f", 100*float64(r.local)/float64(r.answers)); share != "100" {
		return "; " + share + " % from memory"
	}
	return ""
}

// wrong names answers that are stale, refused or errors, "" without any.
func (r *loadResult) wrong() string {
	if r.stale == 0 && r.failed == 0 {
		return ""
	}
	return fmt.Sprintf(", %d stale, %d refused, %d other errors", r.stale, r.refused, r.failed-r.refused)
}

// ratioOf returns the median of the ratios of neighbours.
func ratioOf(here, bare []float64) float64 {
	ratios := make([]float64, len(here))
	for i := range here {
		ratios[i] = here[i] / max(1, bare[i])
	}
	return median(ratios)
}
