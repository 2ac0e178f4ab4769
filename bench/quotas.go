package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/store"
)

const (
	quietKeys    = 100
	quietRate    = 500 // requests a second of all of them
	benchQuota   = 10  // of each key, requests a second: twice what the quiet ones send
	noisyTimes   = 50  // as many does it send
	noisyConns   = 64
	quotaSeconds = 4 // of a round, with or without the noise
	quotaGoal    = "≤ 1.10"
	overGoal     = "≤ 1.05"
)

// quotaKeys makes the keys of the measurement and returns their texts, the noisy one first.
func (w *world) quotaKeys(ctx context.Context) ([]string, error) {
	s, err := store.Open(ctx, store.Config{DSN: w.dsn})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	texts := make([]string, 1+quietKeys)
	for i := range texts {
		k := leaderboard.Key{ID: leaderboard.NewKeyID(), Name: fmt.Sprintf("bench %d", i), Scope: leaderboard.ScopeRead}
		k.Quota.RequestsPerSecond = benchQuota
		text, hash := leaderboard.NewKeySecret(k.ID)
		if _, err := s.CreateKey(ctx, k, hash); err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

// topWithKey asks for the best 10 entries, each connection with the next of the keys.
func topWithKey(keys []string) requester {
	requests := make([][]byte, len(keys))
	for i, key := range keys {
		requests[i] = fmt.Appendf(nil, "GET %s/top HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n", boardPath, key)
	}
	return func(conn, _ int, buf []byte) []byte { return append(buf, requests[conn%len(requests)]...) }
}

// onBoth sends a load, half of it to each of two servers.
func onBoth(addrs [2]string, l load, of func(half int) requester) *loadResult {
	var halves [2]*loadResult
	var all sync.WaitGroup
	for i, addr := range addrs {
		half := l
		half.addr, half.conns, half.rate, half.request = addr, l.conns/2, l.rate/2, of(i)
		all.Go(func() { halves[i] = half.run() })
	}
	all.Wait()
	halves[0].add(halves[1])
	return halves[0]
}

// measureQuotas measures what a key that sends many times its quota does to others, through two servers, and how much of
// it is let through (promise E4).
func (w *world) measureQuotas(ctx context.Context, rep *report, _ io.Writer) error {
	other, err := w.start(ctx, w.redis.URL)
	if err != nil {
		return err
	}
	defer other.stop()
	keys, err := w.quotaKeys(ctx)
	if err != nil {
		return err
	}
	bare, err := startBare(ctx, w.dir, []byte(`{"type":"/problems/quota-exceeded"}`))
	if err != nil {
		return err
	}
	defer bare.stop()
	q := &quietAndNoisy{addrs: [2]string{w.addr, other.addr}, keys: keys, round: w.seconds(quotaSeconds)}
	var alone, elsewhere, beside, ratios []float64
	var through, refused int64
	var begin, end time.Time
	for i := range 1 + w.pairs {
		a, _, err := q.measure(nil)
		if err != nil {
			return err
		}
		if begin.IsZero() {
			begin = time.Now()
		}
		b, noise, err := q.measure(&q.addrs)
		if err != nil {
			return err
		}
		end = time.Now()
		through, refused = through+noise.answers-noise.failed, refused+noise.refused
		if noise.failed != noise.refused {
			return fmt.Errorf("the noisy key: %w", noise.failure())
		}
		if i > 0 { // the first round warms up
			alone, beside, ratios = append(alone, a), append(beside, b), append(ratios, b/a)
		}
	}
	for range w.pairs {
		e, _, err := q.measure(&[2]string{bare.addr, bare.addr})
		if err != nil {
			return err
		}
		elsewhere = append(elsewhere, e)
	}
	rep.add(row{
		What: fmt.Sprintf("p99 of %d quiet keys beside one at %d times its quota", quietKeys, noisyTimes), Here: fmt.Sprintf("%.2f ms", median(beside)),
		Yardstick: fmt.Sprintf("without it %.2f ms", median(alone)), Ratio: median(ratios), Goal: quotaGoal,
	})
	rep.add(row{
		What: "the same", Here: fmt.Sprintf("%.2f ms", median(beside)),
		Yardstick: fmt.Sprintf("while it floods a bare handler %.2f ms", median(elsewhere)), Ratio: median(beside) / median(elsewhere),
	})
	allowed := benchQuota * (leaderboard.QuotaWindow + end.Sub(begin)).Seconds()
	rep.add(row{
		What: "let through of the noisy key by two servers", Here: fmt.Sprintf("%s, %s refused", thousands(through), thousands(refused)),
		Yardstick: fmt.Sprintf("its quota: %s", thousands(allowed)), Ratio: float64(through) / allowed, Goal: overGoal,
	})
	return nil
}

// quietAndNoisy are the callers of the measurement.
type quietAndNoisy struct {
	addrs [2]string // of the servers
	keys  []string  // the noisy one first
	round time.Duration
}

// measure returns the p99 of the quiet keys in a round while the noisy one floods two addresses, or none, and what became
// of the noise.
func (q *quietAndNoisy) measure(flooded *[2]string) (p99 float64, noise *loadResult, err error) {
	var all sync.WaitGroup
	if flooded != nil {
		all.Go(func() {
			noise = onBoth(*flooded, load{conns: noisyConns, rate: benchQuota * noisyTimes, length: q.round}, func(int) requester { return topWithKey(q.keys[:1]) })
		})
	}
	seen := newSteady(q.round)
	calm := onBoth(q.addrs, load{conns: quietKeys, rate: quietRate, length: q.round, observe: seen.observe}, func(half int) requester {
		return topWithKey(q.keys[1+half*quietKeys/2 : 1+(half+1)*quietKeys/2])
	})
	all.Wait()
	if err := calm.failure(); err != nil {
		return 0, nil, fmt.Errorf("a quiet key: %w", err)
	}
	return seen.p99(), noise, nil
}

// steady takes down how long answers took once the connections of a round are there, which all are made at its start.
type steady struct {
	from time.Time

	mu        sync.Mutex
	latencies []time.Duration
}

func newSteady(round time.Duration) *steady { return &steady{from: time.Now().Add(round / 4)} }

func (s *steady) observe(begin, end time.Time, _ said) {
	if begin.Before(s.from) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latencies = append(s.latencies, end.Sub(begin))
}

// p99 returns that of them in milliseconds.
func (s *steady) p99() float64 {
	of := second{latencies: s.latencies}
	return float64(of.p99()) / float64(time.Millisecond)
}
