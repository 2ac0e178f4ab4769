package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

const (
	deadEndpoint  = "bench-dead"
	waitingEvents = 100_000
	eventRate     = 1000 // submits a second
	eventConns    = 64
	eventSeconds  = 4
	eventRounds   = 12
	eventSettles  = 1500 * time.Millisecond // until the server has noticed that an endpoint is on or off
	eventGoal     = "≤ 1.05"

	mover         = "mover"
	noticeRounds  = 7
	noticeSettles = 3 * time.Second // until the server has begun to read the log of a board
	moveEvery     = 500 * time.Millisecond
	stormRounds   = 4
)

// measureEvents measures what 100,000 events that wait for an endpoint that takes none cost the commits of submits.
func (w *world) measureEvents(ctx context.Context, rep *report) error {
	if err := w.serve(ctx, "--allow-private-addresses"); err != nil {
		return err
	}
	defer w.forgetEvents(ctx)
	endpoint := func(on bool) error {
		_, err := w.api.PutEndpoint(ctx, deadEndpoint, client.EndpointRequest{URL: "http://127.0.0.1:1/", Enabled: &on, AllowPrivate: true})
		return err
	}
	if err := endpoint(true); err != nil {
		return err
	}
	spread, err := w.enterEvents(ctx)
	if err != nil {
		return err
	}
	rep.add(row{what: fmt.Sprintf("%s events get their deliveries to an endpoint", thousands(int64(waitingEvents))), here: fmt.Sprintf("%.3g s", spread.Seconds())})
	all := map[bool][]time.Duration{}
	p99 := func(on bool) func() (float64, error) {
		return func() (float64, error) {
			if err := endpoint(on); err != nil {
				return 0, err
			}
			if err := wait(ctx, eventSettles); err != nil {
				return 0, err
			}
			result := w.pacedSubmits()
			all[on] = append(all[on], result.latencies...)
			return float64(result.quantile(0.99)), result.failure()
		}
	}
	if _, err := p99(true)(); err != nil { // warm
		return err
	}
	clear(all)
	a, b, ratio, err := paired(eventRounds, p99(true), p99(false))
	if err != nil {
		return fmt.Errorf("submits beside events: %w", err)
	}
	rep.add(row{
		what: fmt.Sprintf("%s single submits a second, %s events for a dead endpoint", thousands(int64(eventRate)), thousands(int64(waitingEvents))),
		here: fmt.Sprintf("p99 %s; all rounds: p50 %s, p99 %s", inMS(time.Duration(a)), inMS(quantile(all[true], 0.5)), inMS(quantile(all[true], 0.99))),
		yardstick: fmt.Sprintf("off: p99 %s; all rounds: p50 %s, p99 %s", inMS(time.Duration(b)),
			inMS(quantile(all[false], 0.5)), inMS(quantile(all[false], 0.99))),
		ratio: ratio, goal: eventGoal,
	})
	return nil
}

// pacedSubmits submits entries at a rate.
func (w *world) pacedSubmits() *loadResult {
	return load{
		addrs: []string{w.addr}, conns: eventConns, rate: eventRate, length: w.seconds(eventSeconds), request: submitRequest(benchBoard, w.members, 1),
	}.run()
}

// enterEvents enters waitingEvents events and returns how long it takes until each has its delivery to the endpoint.
func (w *world) enterEvents(ctx context.Context) (time.Duration, error) {
	const digits = "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	_, err := w.board.db.ExecContext(ctx, "INSERT INTO outbox (dedupe, kind, board, payload, created_at) SELECT CONCAT('evt_bench_', a.d, b.d, c.d, d.d, e.d), 'board.changed', 'bench', '{}', NOW(6) FROM "+
		digits+" a, "+digits+" b, "+digits+" c, "+digits+" d, "+digits+" e")
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for {
		e, err := w.api.GetEndpoint(ctx, deadEndpoint)
		if err != nil || e.Waiting >= waitingEvents {
			return time.Since(start), err
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// forgetEvents restores the database for the next run.
func (w *world) forgetEvents(ctx context.Context) {
	_ = w.api.DeleteEndpoint(ctx, deadEndpoint)
	for _, table := range []string{"deliveries", "outbox_members", "outbox", "friends"} {
		_, _ = w.board.db.ExecContext(ctx, "DELETE FROM "+table)
	}
}

// measureNotices measures how soon after one member has passed all others the notices are in the outbox, and the cost for
// the submits.
func (w *world) measureNotices(ctx context.Context, rep *report) error {
	if err := w.serve(ctx); err != nil {
		return err
	}
	defer w.forgetEvents(ctx)
	defer func() { _ = w.notify(ctx, "") }()
	if _, err := w.board.db.ExecContext(ctx, "INSERT IGNORE INTO friends (member, friend) SELECT member, '"+mover+"' FROM entries WHERE period_id = ?", w.board.ref.ID); err != nil {
		return err
	}
	for _, passed := range []leaderboard.NotifyPassed{leaderboard.NotifyPassedTop, leaderboard.NotifyPassedFriends} {
		if err := w.notify(ctx, passed); err != nil {
			return err
		}
		if err := w.measureStorm(ctx, rep, passed); err != nil {
			return fmt.Errorf("notices to %s: %w", passed, err)
		}
	}
	for _, passed := range []leaderboard.NotifyPassed{leaderboard.NotifyPassedTop, leaderboard.NotifyPassedFriends} {
		a, b, ratio, err := paired(stormRounds, w.stormy(ctx, passed), w.stormy(ctx, ""))
		if err != nil {
			return fmt.Errorf("submits beside notices to %s: %w", passed, err)
		}
		rep.add(row{
			what: fmt.Sprintf("single submits, %d connections, while a member passes all others twice a second, notices to %s", submitConns, passed),
			here: thousands(a) + "/s", yardstick: "without the rule: " + thousands(b) + "/s", ratio: ratio,
		})
	}
	return nil
}

// notify gives the board the rule, none for "", and waits until the server follows it.
func (w *world) notify(ctx context.Context, passed leaderboard.NotifyPassed) error {
	rules := benchRules(benchTopN)
	if passed != "" {
		rules.Notify = &leaderboard.Notify{Passed: passed, Within: leaderboard.MaxNotifyWithin}
	}
	if _, _, err := w.api.PutBoard(ctx, benchBoard, rules); err != nil {
		return err
	}
	return wait(ctx, noticeSettles)
}

// move gives the mover a score that is behind all others, or ahead of them.
func (w *world) move(ctx context.Context, ahead bool) error {
	score := int64(math.MinInt64)
	if ahead {
		score = math.MaxInt64
	}
	_, err := w.api.Submit(ctx, benchBoard, []leaderboard.Submission{{Member: mover, Score: score}})
	return err
}

// measureStorm lets one member pass all others, again and again, while nothing else happens.
func (w *world) measureStorm(ctx context.Context, rep *report, passed leaderboard.NotifyPassed) error {
	var took, answered []time.Duration
	for range noticeRounds {
		if _, err := w.board.db.ExecContext(ctx, "DELETE FROM outbox"); err != nil { // otherwise a member gets one notice per minute
			return err
		}
		if err := w.move(ctx, false); err != nil {
			return err
		}
		if err := wait(ctx, noticeSettles); err != nil {
			return err
		}
		start := time.Now()
		if err := w.move(ctx, true); err != nil {
			return err
		}
		answered = append(answered, time.Since(start))
		if err := w.awaitNotices(ctx, leaderboard.MaxNotifyWithin); err != nil {
			return err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	slices.Sort(answered)
	rep.add(row{
		what:      fmt.Sprintf("one member passes %s; until the %d notices to %s are in the outbox", thousands(w.members), leaderboard.MaxNotifyWithin, passed),
		here:      fmt.Sprintf("p50 %s, at most %s", inMS(median(took)), inMS(took[len(took)-1])),
		yardstick: "until the submit is answered: p50 " + inMS(median(answered)),
	})
	return nil
}

// awaitNotices waits until a number of notices are in the outbox.
func (w *world) awaitNotices(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for n := 0; ; {
		err := w.board.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM outbox WHERE kind = 'member.passed'").Scan(&n)
		if err != nil {
			return fmt.Errorf("%d of %d notices are there: %w", n, want, err)
		}
		if n >= want {
			return nil
		}
		_ = wait(ctx, 2*time.Millisecond)
	}
}

// stormy returns a load of submits while a member passes all others again and again, with the rule or without.
func (w *world) stormy(ctx context.Context, passed leaderboard.NotifyPassed) func() (float64, error) {
	return func() (float64, error) {
		if err := w.notify(ctx, passed); err != nil {
			return 0, err
		}
		storm, stop := context.WithCancel(ctx)
		var moving sync.WaitGroup
		var failed error
		moving.Go(func() {
			for ahead := true; failed == nil && wait(storm, moveEvery/2) == nil; ahead = !ahead {
				failed = w.move(ctx, ahead)
			}
		})
		rate, err := w.submits(submitConns, 1)()
		stop()
		moving.Wait()
		if err == nil {
			err = failed
		}
		return rate, err
	}
}
