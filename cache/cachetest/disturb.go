package cachetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
)

// onPeriod is something that happens to the copy of a period.
type onPeriod = func(context.Context, leaderboard.PeriodRef) error

// Disturbances returns the disturbances that a copy may meet at any moment, by name.
func Disturbances(client redis.UniversalClient, drop, build, catchUp onPeriod) map[string]onPeriod {
	lose := func(part string) onPeriod {
		return func(ctx context.Context, p leaderboard.PeriodRef) error {
			return client.Del(ctx, fmt.Sprintf("lb:{%d}:%x:%s", p.ID, uint64(p.Incarnation), part)).Err()
		}
	}
	return map[string]onPeriod{
		"flush": drop, "rebuild": build, "lose top": lose("top"), "lose hash": lose("key"),
		"catch up": func(ctx context.Context, p leaderboard.PeriodRef) error {
			if err := catchUp(ctx, p); !errors.Is(err, leaderboard.ErrNeedsBuild) {
				return err
			}
			return nil
		},
	}
}

// MetaFields returns the fields of a copy's meta.
func MetaFields() []string {
	return []string{"format", "seq", "as_of", "total", "n", "floor", "built_at", "build_started"}
}

// Rubbish returns values that no field ever has; nil stands for a field that is missing.
func Rubbish() []*string {
	return []*string{new("abc"), new(""), new("-1"), new("1e3"), new("007"), new("99999999999999999999"), nil}
}

// Damage sets a field of a copy's meta, or removes it.
func Damage(ctx context.Context, client redis.UniversalClient, p leaderboard.PeriodRef, field string, value *string) error {
	meta := fmt.Sprintf("lb:{%d}:%x:meta", p.ID, uint64(p.Incarnation))
	if value == nil {
		return client.HDel(ctx, meta, field).Err()
	}
	return client.HSet(ctx, meta, field, *value).Err()
}
