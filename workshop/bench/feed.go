package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"leaderboard/client"
)

const (
	feedChanges = 5000 // a second
	feedEntries = 5    // of a submit
	feedConns   = 64
	feedSeconds = 20
)

// measureFeed measures how long after their commit changes arrive at a program that follows the board, through the server
// that commits them and through another one, and the cost of the follower for the submits.
func (w *world) measureFeed(ctx context.Context, rep *report) error {
	if err := w.serveResident(ctx); err != nil {
		return err
	}
	if err := w.measureArrival(ctx, rep, "the server that commits", w.service); err != nil {
		return err
	}
	if err := w.measureFollowed(ctx, rep); err != nil {
		return err
	}
	other, err := w.start(ctx, w.redis.URL)
	if err != nil {
		return err
	}
	defer other.stop()
	if err := w.awaitResident(ctx, other); err != nil {
		return err
	}
	return w.measureArrival(ctx, rep, "another server", other)
}

// measureArrival follows the board through a server while changes are committed at a rate.
func (w *world) measureArrival(ctx context.Context, rep *report, through string, s *service) error {
	f, err := w.follow(ctx, s.api)
	if err != nil {
		return err
	}
	defer f.stop()
	submits := load{
		addrs: []string{w.addr}, conns: feedConns, rate: feedChanges / feedEntries, length: w.seconds(feedSeconds),
		request: submitRequest(benchBoard, w.members, feedEntries),
	}.run()
	if err := submits.failure(); err != nil {
		return fmt.Errorf("submits at a rate: %w", err)
	}
	if err := f.catchUp(ctx, w.service); err != nil {
		return err
	}
	rep.add(row{
		what: "from a commit to its change, through " + through,
		here: fmt.Sprintf("%s; %s changes, %s/s, each once and in order", f.arrival(), thousands(len(f.ages)), thousands(submits.perSecond()*feedEntries)),
		yardstick: fmt.Sprintf("from a submit of %d entries to its answer: p50 %s, p99 %s", feedEntries,
			inMS(submits.quantile(0.5)), inMS(submits.quantile(0.99))),
	})
	return nil
}

// measureFollowed compares submits to a board that a program follows with submits to a board without a follower.
func (w *world) measureFollowed(ctx context.Context, rep *report) error {
	for _, c := range []struct {
		what           string
		conns, entries int
	}{
		{fmt.Sprintf("single submits, %d connections, with a follower", submitConns), submitConns, 1},
		{fmt.Sprintf("submits of %d entries, %d connections, with a follower", bulkRows, batchConns), batchConns, bulkRows},
	} {
		plain := w.submits(c.conns, c.entries)
		var last *follower
		followed := func() (float64, error) {
			f, err := w.follow(ctx, w.api)
			if err != nil {
				return 0, err
			}
			defer f.stop()
			rate, err := plain()
			if err == nil {
				err = f.catchUp(ctx, w.service)
			}
			last = f
			return rate, err
		}
		a, b, ratio, err := paired(writeRounds, followed, plain)
		if err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
		rep.add(row{what: c.what, here: thousands(a) + " rows/s; changes after " + last.arrival(), yardstick: "without: " + thousands(b) + " rows/s", ratio: ratio})
	}
	return nil
}

// follower is a program that follows the board, as users write it, in this process.
type follower struct {
	cancel context.CancelFunc
	seq    atomic.Int64 // of the last change that came

	ended chan struct{}   // closed when the follower has everything
	ages  []time.Duration // of each change when it came: since the time that the database gave its commit, before it was written
	err   error
}

// follow begins to follow the board behind its present state.
func (w *world) follow(ctx context.Context, api *client.Client) (*follower, error) {
	seq, cursor, err := stateOf(ctx, api)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{cancel: cancel, ended: make(chan struct{})}
	f.seq.Store(seq)
	go func() {
		defer close(f.ended)
		for change, err := range api.Follow(ctx, benchBoard, client.ChangesQuery{After: cursor}) {
			if err == nil && change.Seq != f.seq.Load()+1 {
				err = fmt.Errorf("change %d comes after %d", change.Seq, f.seq.Load())
			}
			if err != nil {
				f.err = err
				return
			}
			f.ages = append(f.ages, time.Since(change.CommittedAt))
			f.seq.Store(change.Seq)
		}
	}()
	return f, nil
}

// stateOf returns the board's present seq, and the cursor of that state: the beginning of an export.
func stateOf(ctx context.Context, api *client.Client) (seq int64, cursor string, err error) {
	export, err := api.Export(ctx, benchBoard, client.FormatJSONL, client.ExportQuery{})
	if err != nil {
		return 0, "", err
	}
	return export.Seq, export.Cursor, export.Body.Close()
}

// catchUp waits until all commits have arrived, and ends the follower.
func (f *follower) catchUp(ctx context.Context, s *service) error {
	seq, _, err := stateOf(ctx, s.api)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for f.seq.Load() < seq {
		select {
		case <-f.ended:
			return fmt.Errorf("follow: %w", f.err)
		default:
		}
		if err := wait(ctx, time.Millisecond); err != nil {
			return fmt.Errorf("of the changes up to %d came those up to %d: %w", seq, f.seq.Load(), err)
		}
	}
	f.stop()
	slices.Sort(f.ages)
	return nil
}

// stop ends the follower.
func (f *follower) stop() {
	f.cancel()
	<-f.ended
}

// arrival returns how old changes were when they came.
func (f *follower) arrival() string {
	return fmt.Sprintf("p50 %s, p99 %s", inMS(quantile(f.ages, 0.5)), inMS(quantile(f.ages, 0.99)))
}
