package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"leaderboard/cache/topn"
	"leaderboard/internal/transfer"
)

const (
	// zsetPage is how many members are asked for at once. zsetTimeout bounds the answer, which may come from far away.
	zsetPage    = 1000
	zsetTimeout = 10 * time.Second
)

// openZset makes a client for a sorted set in a Redis. It does not connect.
func openZset(address, key string) (*redisZset, error) {
	server, err := topn.OpenFar(address, zsetTimeout)
	if err != nil {
		return nil, err
	}
	return &redisZset{server, key}, nil
}

// redisError is an error of the Redis that an import reads.
type redisError struct{ err error }

func (r *redisError) Error() string { return r.err.Error() }
func (r *redisError) Unwrap() error { return r.err }

// redisZset is a sorted set in a Redis.
type redisZset struct {
	server topn.Client
	key    string
}

// Size implements transfer.Zset.
func (z *redisZset) Size(ctx context.Context) (int64, error) {
	size, err := z.server.ZCard(ctx, z.key).Result()
	if err != nil {
		return 0, &redisError{err}
	}
	return size, nil
}

// Scan implements transfer.Zset.
func (z *redisZset) Scan(ctx context.Context, from uint64) ([]transfer.ZsetMember, uint64, error) {
	pairs, next, err := z.server.ZScan(ctx, z.key, from, "", zsetPage).Result()
	if err != nil {
		return nil, 0, &redisError{err}
	}
	members := make([]transfer.ZsetMember, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		score, err := strconv.ParseFloat(pairs[i+1], 64)
		if err != nil {
			return nil, 0, fmt.Errorf("a score is no number: %w", err)
		}
		members = append(members, transfer.ZsetMember{Member: pairs[i], Score: score})
	}
	return members, next, nil
}
