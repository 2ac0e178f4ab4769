package main

import (
	"context"
	"errors"
	"fmt"
)

const (
	copiesConns   = 16
	copiesSeconds = 10
	copiesRounds  = 5
	leaveCopies   = "--fault=leave:copies" // no commit is written to a copy before a reader finds it old
)

// measureCopies reads the top of a board that no server has in memory through two servers, while one of them takes commits: once as
// servers are, which write each commit to the copy in Redis, and once with copies that move only when a reader finds them old.
func (w *world) measureCopies(ctx context.Context, rep *report) error {
	redis, err := w.ownRedis(ctx, "copies")
	if err != nil {
		return err
	}
	defer func() { _ = redis.Stop(context.Background()) }()
	pushed, err := w.startTwo(ctx, redis.URL, withoutMemory()...)
	if err != nil {
		return err
	}
	defer pushed.stop()
	pulled, err := w.startTwo(ctx, redis.URL, append(withoutMemory(), leaveCopies)...)
	if err != nil {
		return err
	}
	defer pulled.stop()
	reads := func(of *two) func() (float64, error) { return func() (float64, error) { return w.readBeside(ctx, of) } }
	a, b, ratio, err := paired(copiesRounds, reads(pushed), reads(pulled))
	if err != nil {
		return err
	}
	rep.add(row{
		what:      fmt.Sprintf("top 100 through two servers, %d connections, %d commits/s", copiesConns, steadyCommits),
		here:      thousands(a) + "/s, commits written to the copy at once",
		yardstick: "copies moved when they are found old: " + thousands(b) + "/s",
		ratio:     ratio,
	})
	for _, of := range []*two{pushed, pulled} {
		seen, err := w.agesOf(ctx, of)
		if err != nil {
			return err
		}
		line := seen.row("healthy")
		line.what, line.goal = "age of the other server's top 10, commits written to the copy at once", fmt.Sprintf("≤ %d ms", freshGoal.Milliseconds())
		if of == pulled {
			line.what = "the same, copies moved when they are found old"
		}
		rep.add(line)
	}
	return nil
}

// readBeside returns the reads a second of both servers while one takes commits.
func (w *world) readBeside(ctx context.Context, of *two) (float64, error) {
	written := of.writing.write(ctx, w.members)
	result := load{addrs: []string{of.writing.addr, of.reading.addr}, conns: copiesConns, length: w.seconds(copiesSeconds), request: topRequest(100)}.run()
	return result.perSecond(), errors.Join(result.failure(), written.finish())
}

// agesOf polls one server while the other takes commits.
func (w *world) agesOf(ctx context.Context, of *two) (*freshness, error) {
	written := of.writing.write(ctx, w.members)
	polls := pollers{addr: of.reading.addr, samples: int64(float64(freshSamples) * min(1, w.pace)), kinds: []requester{topRequest(10)}}
	err := errors.Join(polls.run(ctx), written.finish())
	if err != nil {
		return nil, err
	}
	return freshnessOf(polls.polls, written.acks), nil
}
