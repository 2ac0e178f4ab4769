package topn

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
)

// Health returns the states of the copies of periods, in their order, nil for copies that cannot be read, in one round
// trip, or in one for each server of a cluster. It does not count as reading them. It fails when no server of Redis
// answers.
func (c *Copies) Health(ctx context.Context, periods []leaderboard.PeriodRef) ([]*leaderboard.CopyHealth, error) {
	heads, err := c.heads(ctx, periods, c.scripts.info.EvalShaRO)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		heads, err = c.heads(ctx, periods, c.scripts.info.EvalRO)
	}
	if err != nil {
		return nil, fmt.Errorf("topn: copies of %d periods: %w", len(periods), err)
	}
	return heads, nil
}

// eval runs a script that only reads: by its hash, or by its text when the server does not know it yet, as after a
// failover in a cluster.
type eval func(ctx context.Context, to redis.Scripter, keys []string, args ...any) *redis.Cmd

func (c *Copies) heads(ctx context.Context, periods []leaderboard.PeriodRef, run eval) ([]*leaderboard.CopyHealth, error) {
	pipe := c.background.Pipeline()
	replies := make([]*redis.Cmd, len(periods))
	for i, p := range periods {
		replies[i] = run(ctx, pipe, c.keys(p), format(p))
	}
	_, _ = pipe.Exec(ctx) // each reply has its own
	out, failed := make([]*leaderboard.CopyHealth, len(periods)), 0
	var away error
	for i, reply := range replies {
		raw, err := reply.Slice()
		switch {
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			return nil, err
		case err != nil:
			away = err
			failed++
			continue
		}
		if _, h, err := parseInfo(raw, periods[i]); err == nil { // otherwise it cannot be read
			out[i] = &leaderboard.CopyHealth{Seq: h.Seq, Entries: h.n}
		}
	}
	if failed == len(periods) {
		return nil, away
	}
	return out, nil
}

// probe runs a script that reads on one server, of whatever period, in the time that a read has: an error means that reads from that
// server would fail.
func (c *Copies) probe(ctx context.Context, server Client, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	none := leaderboard.PeriodRef{Rules: &leaderboard.Rules{}}
	err := c.scripts.info.RunRO(ctx, server, c.keys(none), format(none)).Err()
	if IsMoving(err) { // in a cluster it has the slots of others
		return nil
	}
	return err
}
