package topn

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
)

// lease is a key in Redis that ends with its term unless a heartbeat renews it. Work that must never happen twice is
// fenced by seq, because no lease can stop a process that was paused and continues. On a failure:
//
//   - the holder dies: the lease ends with its term, without cleaning up;
//   - the holder is paused beyond the term: another may take the lease; the holder learns that it is lost at its next
//     heartbeat, or at once when its own clock says that the term is over;
//   - Redis does not answer: the holder trusts the lease for two thirds of the term since the last heartbeat that
//     succeeded, then counts it as lost;
//   - Redis loses the lease (flush, failover): the next heartbeat finds it lost.
type lease struct {
	copies *Copies
	key    string
	token  string
	ttl    time.Duration
	lost   chan struct{}
	cancel context.CancelFunc
	done   chan struct{} // the heartbeat has ended
	once   sync.Once
}

// Lease tries to take the lease of a period, without waiting. It returns nil and no error when another process has it.
func (c *Copies) Lease(ctx context.Context, p leaderboard.PeriodRef, ttl time.Duration) (leaderboard.Lease, error) {
	l := &lease{copies: c, key: c.base(p) + "lease", token: rand.Text(), ttl: ttl, lost: make(chan struct{}), done: make(chan struct{})}
	start := time.Now()
	// The client repeats a command whose answer was lost: then the lease that is in the way may be this one.
	err := c.background.SetArgs(ctx, l.key, l.token, redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if errors.Is(err, redis.Nil) {
		var held bool
		if held, err = l.Held(ctx); err == nil && !held {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("topn: lease of period %d: %w", p.ID, err)
	}
	beat, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	go l.heartbeat(beat, start)
	return l, nil
}

// Lost implements leaderboard.Lease.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release implements leaderboard.Lease. It gives back only this lease, never another holder's.
func (l *lease) Release(ctx context.Context) error {
	var err error
	l.once.Do(func() {
		l.cancel()
		<-l.done
		err = l.copies.scripts.release.Run(ctx, l.copies.background, []string{l.key}, l.token).Err()
	})
	if err != nil {
		return fmt.Errorf("topn: release a lease: %w", err)
	}
	return nil
}

// Held implements leaderboard.Lease.
func (l *lease) Held(ctx context.Context) (bool, error) {
	n, err := l.copies.scripts.extend.Run(ctx, l.copies.background, []string{l.key}, l.token, l.ttl.Milliseconds()).Int()
	return n == 1, err
}

// heartbeat renews the lease three times a term. renewed is when the last renewal that succeeded was sent: the term in
// Redis began no earlier.
func (l *lease) heartbeat(ctx context.Context, renewed time.Time) {
	defer close(l.done)
	trust := l.ttl * 2 / 3
	tick := time.NewTicker(l.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		sent := time.Now()
		call, cancel := context.WithDeadline(ctx, renewed.Add(trust))
		held, err := l.Held(call)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && held:
			renewed = sent
		case err == nil, time.Since(renewed) >= trust:
			close(l.lost)
			return
		}
	}
}
