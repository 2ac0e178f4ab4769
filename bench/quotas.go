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
	addrs := [2]string{w.addr, other.addr}
	quiet := func(half int) requester { return topWithKey(keys[1+half*quietKeys/2 : 1+(half+1)*quietKeys/2]) }
	noisy := func(int) requester { return topWithKey(keys[:1]) }
	round := w.seconds(quotaSeconds)
	var alone, beside, ratios []float64
	var through, refused int64
	var begin, end time.Time
	for i := range 1 + w.pairs {
		before := newSteady(round)
		calm := onBoth(addrs, load{conns: quietKeys, rate: quietRate, length: round, observe: before.observe}, quiet)
		if begin.IsZero() {
			begin = time.Now()
		}
		var noise *loadResult
		var all sync.WaitGroup
		all.Go(func() {
			noise = onBoth(addrs, load{conns: noisyConns, rate: benchQuota * noisyTimes, length: round}, noisy)
		})
		after := newSteady(round)
		disturbed := onBoth(addrs, load{conns: quietKeys, rate: quietRate, length: round, observe: after.observe}, quiet)
		all.Wait()
		end = time.Now()
		for _, r := range []*loadResult{calm, disturbed} {
			if err := r.failure(); err != nil {
				return fmt.Errorf("a quiet key: %w", err)
			}
		}
		through, refused = through+noise.answers-noise.failed, refused+noise.refused
		if noise.failed != noise.refused {
			return fmt.Errorf("the noisy key: %w", noise.failure())
		}
		if a, b := before.p99(), after.p99(); i > 0 { // the first round warms up
			alone, beside, ratios = append(alone, a), append(beside, b), append(ratios, b/a)
		}
	}
	rep.add(row{
		What: fmt.Sprintf("p99 of %d quiet keys beside one at %d times its quota", quietKeys, noisyTimes), Here: fmt.Sprintf("%.2f ms", median(beside)),
		Yardstick: fmt.Sprintf("without it %.2f ms", median(alone)), Ratio: median(ratios), Goal: quotaGoal,
	})
	allowed := benchQuota * (leaderboard.QuotaWindow + end.Sub(begin)).Seconds()
	rep.add(row{
		What: "let through of the noisy key by two servers", Here: fmt.Sprintf("%s, %s refused", thousands(through), thousands(refused)),
		Yardstick: fmt.Sprintf("its quota: %s", thousands(allowed)), Ratio: float64(through) / allowed, Goal: overGoal,
	})
	return nil
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
