package topn

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"leaderboard"
)

// Health returns how far the copies of periods are, in their order, nil for those that cannot be read: one round trip for
// all of them. It counts as no read. The error is that of Redis.
func (c *Copies) Health(ctx context.Context, periods []leaderboard.PeriodRef) ([]*leaderboard.CopyHealth, error) {
	heads, err := c.heads(ctx, periods)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err = c.scripts.held.Load(ctx, c.background).Err(); err == nil {
			heads, err = c.heads(ctx, periods)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("topn: copies of %d periods: %w", len(periods), err)
	}
	return heads, nil
}

func (c *Copies) heads(ctx context.Context, periods []leaderboard.PeriodRef) ([]*leaderboard.CopyHealth, error) {
	pipe := c.background.Pipeline()
	for _, p := range periods {
		pipe.EvalShaRO(ctx, c.scripts.held.Hash(), c.keys(p), format(p))
	}
	replies, err := pipe.Exec(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]*leaderboard.CopyHealth, len(periods))
	for i, reply := range replies {
		raw, err := reply.(*redis.Cmd).Slice()
		if err != nil {
			return nil, err
		}
		if h, err := parseHead(raw, periods[i]); err == nil { // otherwise there is none to use
			out[i] = &leaderboard.CopyHealth{Seq: h.Seq, Entries: h.n}
		}
	}
	return out, nil
}
