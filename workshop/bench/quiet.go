package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"leaderboard/features/keys"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

const (
	quietKeys    = 100
	quietRate    = 500 // requests a second of all of them
	quietQuota   = 10  // of each key, requests a second: twice what the quiet ones send
	noisyTimes   = 50  // as many does the noisy one send
	noisyConns   = 64
	quietRounds  = 7
	quietSeconds = 4 // of a round
)

// measureQuiet measures, through two servers, the effect of a key that sends many times its quota on other keys, and how much
// of its requests is let through (promise E4).
func (w *world) measureQuiet(ctx context.Context, rep *report) error {
	if err := w.serve(ctx); err != nil {
		return err
	}
	other, err := w.start(ctx, w.redis.URL)
	if err != nil {
		return err
	}
	defer other.stop()
	keys, err := w.quotaKeys(ctx)
	if err != nil {
		return err
	}
	quiet := load{
		addrs: []string{w.addr, other.addr}, conns: quietKeys, rate: quietRate, length: w.seconds(quietSeconds), warm: w.seconds(quietSeconds) / 4,
		request: topWithKey(keys[1:]),
	}
	noisy := load{addrs: quiet.addrs, conns: noisyConns, rate: quietQuota * noisyTimes, length: quiet.length, request: topWithKey(keys[:1])}
	var noise loadResult
	start := time.Now()
	beside := func() (float64, error) {
		var both sync.WaitGroup
		both.Go(func() { noise.add(noisy.run()) })
		got := quiet.run()
		both.Wait()
		return float64(got.quantile(0.99)), errors.Join(got.failure(), noise.broken())
	}
	if _, err := beside(); err != nil { // warms up
		return err
	}
	there, alone, ratio, err := paired(quietRounds, beside, func() (float64, error) {
		got := quiet.run()
		return float64(got.quantile(0.99)), got.failure()
	})
	if err != nil {
		return err
	}
	allowed := quietQuota * (leaderboard.QuotaWindow + time.Since(start)).Seconds()
	rep.add(row{
		what: fmt.Sprintf("p99 of %d quiet keys beside one at %d times its quota, through two servers", quietKeys, noisyTimes),
		here: inMS(time.Duration(there)), yardstick: "without it " + inMS(time.Duration(alone)), ratio: ratio, goal: "≤ 1.10",
	})
	through := noise.answers - noise.failed
	rep.add(row{
		what: "let through of that key", here: fmt.Sprintf("%s, %s refused", thousands(through), thousands(noise.refused)),
		yardstick: "its quota: " + thousands(allowed), ratio: float64(through) / allowed, goal: "≤ 1.05",
	})
	return nil
}

// quotaKeys makes the keys of the measurement and returns their secrets, the noisy key's first.
func (w *world) quotaKeys(ctx context.Context) ([]string, error) {
	s, err := store.Open(ctx, store.Config{DSN: w.board.dsn})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	secrets := make([]string, 1+quietKeys)
	for i := range secrets {
		k := leaderboard.Key{ID: leaderboard.NewKeyID(), Name: fmt.Sprintf("bench %d", i), Scope: leaderboard.ScopeRead}
		k.Quota.RequestsPerSecond = quietQuota
		secret, hash := leaderboard.NewKeySecret(k.ID)
		if _, err := keys.NewStore(s.Database()).CreateKey(ctx, k, hash); err != nil {
			return nil, err
		}
		secrets[i] = secret
	}
	return secrets, nil
}

// topWithKey asks for the best 10 entries, each connection with the next of the keys.
func topWithKey(keys []string) requester {
	requests := make([][]byte, len(keys))
	for i, key := range keys {
		requests[i] = fmt.Appendf(nil, "GET %s/top HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n", boardPath, key)
	}
	return func(conn, _ int, buf []byte) []byte { return append(buf, requests[conn%len(requests)]...) }
}
