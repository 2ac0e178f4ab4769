package cachetest

import (
	"context"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Stage answers commands in place of a server of Redis; it is a hook of a client. An error that it returns is the
// command's error. It does not play pipelines.
type Stage func(context.Context, redis.Cmder) error

// DialHook implements redis.Hook.
func (Stage) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (s Stage) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := s(ctx, cmd)
		cmd.SetErr(err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (Stage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// StagedReload is how often a client of a StagedCluster that is in use looks what the cluster is like.
const StagedReload = time.Second

// StagedCluster returns a client of a Redis Cluster that a test plays: look says which server has which slots, answer what a
// server, host:port, answers; nil where it is not asked. A command is tried once. No server is dialed and no name looked up, which
// would run outside of a test's bubble; go-redis does it for maintenance notifications even before it dials. Close the client
// in the bubble.
func StagedCluster(look func(context.Context) ([]redis.ClusterSlot, error), answer func(ctx context.Context, server string, cmd redis.Cmder) error) *redis.ClusterClient {
	return redis.NewClusterClient(&redis.ClusterOptions{
		ClusterSlots: look, ClusterStateReloadInterval: StagedReload,
		DisableRoutingPolicies: true, ContextTimeoutEnabled: true, MaxRetries: -1, MaxRedirects: -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return nil, redis.ErrClosed },
		NewClient: func(o *redis.Options) *redis.Client {
			client := redis.NewClient(o)
			client.AddHook(Stage(func(ctx context.Context, cmd redis.Cmder) error { return answer(ctx, o.Addr, cmd) }))
			return client
		},
	})
}

// Slots returns the answer of look for a StagedCluster in which each server, host:port, has the slots from its number
// up to the next server's number; the first number is 0.
func Slots(from map[int]string) []redis.ClusterSlot {
	var out []redis.ClusterSlot
	for _, start := range slices.Sorted(maps.Keys(from)) {
		if n := len(out); n > 0 {
			out[n-1].End = start - 1
		}
		out = append(out, redis.ClusterSlot{Start: start, End: 16383, Nodes: []redis.ClusterNode{{Addr: from[start]}}})
	}
	return out
}
