package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/devserver"
)

const (
	freshSamples = 10_000 // of each fault
	freshPolls   = 500    // a second, all pollers together, so that the samples of a fault take 20 s
	freshPollers = 8
	freshLimit   = 90 * time.Second // of a fault, however many samples there are then
	freshMaxAge  = 200 * time.Millisecond
	freshGoal    = freshMaxAge + 50*time.Millisecond
	flushEvery   = time.Second
	redisLimit   = 3 * time.Second // of a command to Redis
)

// redisFault is a fault of Redis during the polls.
type redisFault struct {
	name  string
	begin func(context.Context, *devserver.Server) error // returns at once; its work ends with the context
	end   func(context.Context, *devserver.Server) error
}

func redisFaults() []redisFault {
	nothing := func(context.Context, *devserver.Server) error { return nil }
	command := func(words ...any) func(context.Context, *devserver.Server) error {
		return func(_ context.Context, s *devserver.Server) error { return redisCommand(s.Addr, words...) }
	}
	return []redisFault{
		{"healthy", nothing, nothing},
		{"flushed every second", func(ctx context.Context, s *devserver.Server) error { go flushing(ctx, s.Addr); return nil }, nothing},
		{"refusing writes", command("CONFIG", "SET", "min-replicas-to-write", "1"), command("CONFIG", "SET", "min-replicas-to-write", "0")},
		{
			"hung", func(_ context.Context, s *devserver.Server) error { return s.Pause() },
			func(_ context.Context, s *devserver.Server) error { return s.Resume() },
		},
		{
			"gone", func(_ context.Context, s *devserver.Server) error { return s.Kill() },
			func(ctx context.Context, s *devserver.Server) error { return s.Restart(ctx) },
		},
	}
}

// flushing empties Redis every second until ctx ends. An error shows in the answers or does no harm.
func flushing(ctx context.Context, addr string) {
	for wait(ctx, flushEvery) == nil {
		_ = redisCommand(addr, "FLUSHALL")
	}
}

// redisCommand sends a command to the Redis at addr.
func redisCommand(addr string, words ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), redisLimit)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1})
	defer client.Close()
	return client.Do(ctx, words...).Err()
}

// measureFreshness commits through one server and polls another one, under each fault of their Redis.
func (w *world) measureFreshness(ctx context.Context, rep *report) error {
	redis, err := w.ownRedis(ctx, "freshness")
	if err != nil {
		return err
	}
	defer func() { _ = redis.Stop(context.Background()) }()
	of, err := w.startTwo(ctx, redis.URL)
	if err != nil {
		return err
	}
	defer of.stop()
	for _, s := range []*service{of.writing, of.reading} {
		if err := w.awaitResident(ctx, s); err != nil {
			return err
		}
	}
	for _, fault := range redisFaults() {
		seen, err := w.watchFault(ctx, of.writing, of.reading, redis, fault)
		if err != nil {
			return fmt.Errorf("redis %s: %w", fault.name, err)
		}
		rep.add(seen.row(fault.name))
		fmt.Fprintf(w.log, "redis %s: %s\n", fault.name, seen.row(fault.name).here)
	}
	return nil
}

// ownRedis starts a Redis for two servers on the board, which have the machine alone.
func (w *world) ownRedis(ctx context.Context, name string) (*devserver.Server, error) {
	if err := w.serve(ctx); err != nil { // which makes the schema
		return nil, err
	}
	w.stopService()
	return devserver.StartRedis(ctx, devserver.Config{Dir: filepath.Join(w.dir, name)})
}

// two are two servers on one database and one Redis.
type two struct{ writing, reading *service }

func (t *two) stop() { t.writing.stop(); t.reading.stop() }

// startTwo starts two servers on the board.
func (w *world) startTwo(ctx context.Context, redisURL string, args ...string) (*two, error) {
	writing, err := w.start(ctx, redisURL, args...)
	if err != nil {
		return nil, err
	}
	reading, err := w.start(ctx, redisURL, args...)
	if err != nil {
		writing.stop()
		return nil, err
	}
	return &two{writing, reading}, nil
}

// watchFault commits through one server and polls the other under a fault of Redis.
func (w *world) watchFault(ctx context.Context, writing, reading *service, redis *devserver.Server, fault redisFault) (*freshness, error) {
	faulty, cancel := context.WithCancel(ctx)
	defer cancel()
	written := writing.write(ctx, w.members)
	polls := pollers{addr: reading.addr, samples: int64(float64(freshSamples) * min(1, w.pace)), kinds: []requester{
		topRequest(10), memberRequest(w.members), aroundRequest(w.members), pageRequest(w.members, 10),
	}}
	err := fault.begin(faulty, redis)
	if err == nil {
		err = polls.run(ctx)
	}
	cancel()
	err = errors.Join(err, fault.end(ctx, redis), written.finish())
	if err != nil {
		return nil, err
	}
	return freshnessOf(polls.polls, written.acks), nil
}

// poll is an answer: its state, and the times of the request and of the answer.
type poll struct {
	sent, got time.Time
	seq       int64
	stale     bool
	failed    bool
}

// pollers ask a server for kinds of reads, at freshPolls a second.
type pollers struct {
	addr    string
	kinds   []requester // in turn
	samples int64

	next  atomic.Int64
	mu    sync.Mutex // guards the field below
	polls []poll
}

func (p *pollers) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, freshLimit)
	defer cancel()
	start := time.Now()
	errs := make([]error, freshPollers)
	var wg sync.WaitGroup
	for i := range freshPollers {
		wg.Go(func() { errs[i] = p.connection(ctx, start) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// connection asks whenever the next poll of all is due, and keeps the answers.
func (p *pollers) connection(ctx context.Context, start time.Time) error {
	w, err := dial(p.addr, freshLimit+answerLimit)
	if err != nil {
		return err
	}
	defer w.close()
	var buf []byte
	for {
		n := p.next.Add(1)
		if n > p.samples || wait(ctx, time.Until(start.Add(time.Duration(n)*time.Second/freshPolls))) != nil {
			return nil
		}
		buf = p.kinds[n%int64(len(p.kinds))](0, 0, buf[:0])
		got := poll{sent: time.Now()}
		body, err := w.send(buf)
		got.got = time.Now()
		var status *statusError
		switch {
		case errors.As(err, &status):
			got.failed = true
		case err != nil:
			return err
		default:
			var state struct {
				Seq   int64 `json:"seq"`
				Stale bool  `json:"stale"`
			}
			if err := json.Unmarshal(body, &state); err != nil {
				return err
			}
			got.seq, got.stale = state.Seq, state.Stale
		}
		p.mu.Lock()
		p.polls = append(p.polls, got)
		p.mu.Unlock()
	}
}

// freshness is the result of the polls under one fault.
type freshness struct {
	samples, stale, failed int
	back, backStale        int             // answers older than an answer that was there before their request; the stale ones among them
	ages                   []time.Duration // sorted, of answers that do not say that they are stale
	staleMax               time.Duration   // age of the oldest of the others
	commits                int
}

// freshnessOf compares polls with the commits that were acknowledged meanwhile.
func freshnessOf(polls []poll, acks []ack) *freshness {
	f := &freshness{samples: len(polls), commits: len(acks)}
	slices.SortFunc(acks, func(a, b ack) int { return int(a.seq - b.seq) })
	firstAfter := earliestAfter(acks)
	newest := newestBefore(polls)
	for _, p := range polls {
		if p.failed {
			f.failed++
			continue
		}
		if p.seq < newest(p.sent) {
			f.back++
			if p.stale {
				f.backStale++
			}
		}
		age := time.Duration(0)
		if at, ok := firstAfter(p.seq); ok {
			age = max(0, p.sent.Sub(at))
		}
		if p.stale {
			f.stale++
			f.staleMax = max(f.staleMax, age)
		} else {
			f.ages = append(f.ages, age)
		}
	}
	slices.Sort(f.ages)
	return f
}

// earliestAfter returns a function that returns the time of the first acknowledged commit after a seq. acks are in the
// order of their seqs; among several later commits the first acknowledgement counts.
func earliestAfter(acks []ack) func(seq int64) (time.Time, bool) {
	earliest := make([]time.Time, len(acks))
	for i := len(acks) - 1; i >= 0; i-- {
		earliest[i] = acks[i].at
		if i+1 < len(acks) && earliest[i+1].Before(earliest[i]) {
			earliest[i] = earliest[i+1]
		}
	}
	return func(seq int64) (time.Time, bool) {
		i, _ := slices.BinarySearchFunc(acks, seq+1, func(a ack, seq int64) int { return int(a.seq - seq) })
		if i == len(acks) {
			return time.Time{}, false
		}
		return earliest[i], true
	}
}

// newestBefore returns a function that says the highest seq of all answers that were there before a time.
func newestBefore(polls []poll) func(time.Time) int64 {
	byGot := slices.Clone(polls)
	slices.SortFunc(byGot, func(a, b poll) int { return a.got.Compare(b.got) })
	highest := int64(0)
	for i := range byGot {
		highest = max(highest, byGot[i].seq)
		byGot[i].seq = highest
	}
	return func(t time.Time) int64 {
		i, _ := slices.BinarySearchFunc(byGot, t, func(p poll, t time.Time) int { return p.got.Compare(t) })
		if i == 0 {
			return 0
		}
		return byGot[i-1].seq
	}
}

func (f *freshness) quantile(q float64) time.Duration { return quantile(f.ages, q) }

// row is the line of the table.
func (f *freshness) row(fault string) row {
	here := fmt.Sprintf("at most %s, p99 %s, p50 %s; %s answers", inMS(f.quantile(1)), inMS(f.quantile(0.99)), inMS(f.quantile(0.5)), thousands(f.samples))
	if f.stale+f.back+f.failed > 0 {
		here += fmt.Sprintf(": %d stale, %d back, %d errors", f.stale, f.back, f.failed)
	}
	if f.stale > 0 {
		here += fmt.Sprintf("; stale ones at most %s, %d of them back", inMS(f.staleMax), f.backStale)
	}
	return row{
		what: "Redis " + fault, here: here,
		goal: fmt.Sprintf("≤ %d ms", freshGoal.Milliseconds()),
		met:  yesNo(f.quantile(1) <= freshGoal && f.stale == 0 && f.back == 0 && f.failed == 0 && len(f.ages) > 0),
	}
}
