package topn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
)

// hotTTL is how long it is remembered which periods were read most.
const hotTTL = 24 * time.Hour

func (l *Listings) hotKey() string { return l.prefix + "hot" }

// SaveHot saves which periods a process has in memory, in place of the last saved list.
func (l *Listings) SaveHot(ctx context.Context, hot []leaderboard.HotPeriod) error {
	value, err := json.Marshal(hot)
	if err == nil {
		err = l.client.Set(ctx, l.hotKey(), value, hotTTL).Err()
	}
	if err != nil {
		return fmt.Errorf("topn: periods in memory: %w", err)
	}
	return nil
}

// Hot returns the last saved list, empty after hotTTL.
func (l *Listings) Hot(ctx context.Context) (hot []leaderboard.HotPeriod, err error) {
	value, err := l.client.Get(ctx, l.hotKey()).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &hot)
	}
	if err != nil {
		return nil, fmt.Errorf("topn: periods in memory: %w", err)
	}
	return hot, nil
}
