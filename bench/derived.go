package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"leaderboard"
)

const (
	derivedDatabase = "leaderboard_derived"
	derivedSource   = "runs"
	derivedBoard    = "week"
	derivedPath     = "/v1/boards/" + derivedBoard
	derivedMembers  = 100_000
	derivedDays     = 7
	followSeconds   = 10
	followRate      = 5000 // changes a second
	rollConns       = 8
	rollMaxWait     = 5 * time.Minute
)

// measureDerived lets a board of the last seven days, each of 100,000 members, follow its source, and then the day roll
// over.
func (w *world) measureDerived(ctx context.Context, rep *report, log io.Writer) error {
	defer w.stopService()
	b, err := w.fillDays(ctx, log)
	if err != nil {
		return err
	}
	defer func() { _ = b.db.Close() }()
	w.dsn = b.dsn
	if err := w.serve(ctx); err != nil {
		return err
	}
	start := time.Now()
	rule := &leaderboard.Derive{Last: fmt.Sprintf("%dd", derivedDays), From: []leaderboard.DeriveFrom{{Board: derivedSource}}}
	if _, _, err := w.api.PutBoard(ctx, derivedBoard, leaderboard.Rules{Derive: rule}); err != nil {
		return err
	}
	if _, err := w.awaitFollowing(ctx, start); err != nil {
		return err
	}
	rep.add(row{What: fmt.Sprintf("all entries of a board over %d × %s members computed", derivedDays, thousands(derivedMembers)), Here: inSeconds(time.Since(start))})
	if err := w.measureFollowing(ctx, rep); err != nil {
		return err
	}
	return w.measureRoll(ctx, b, rep)
}

// fillDays makes the source and its days, today's and those before it, without the service.
func (w *world) fillDays(ctx context.Context, log io.Writer) (*board, error) {
	if err := recreate(ctx, w.mysql.DSN, derivedDatabase); err != nil {
		return nil, err
	}
	b, err := newBoard(ctx, w.mysql.DSN+derivedDatabase, derivedMembers)
	if err != nil {
		return nil, err
	}
	made, _, err := b.store.PutBoard(ctx, derivedSource, leaderboard.Rules{Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowDay}})
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	bar := newProgress(log, fmt.Sprintf("filling %d days", derivedDays), derivedDays*derivedMembers)
	for day := range derivedDays {
		if day > 0 {
			err = b.exec(ctx, "INSERT INTO periods (board_id, window_name, incarnation, name, starts_at, ends_at, state, last_created_time, committed_at)"+
				" SELECT board_id, window_name, ?, DATE_FORMAT(starts_at - INTERVAL ? DAY, '%Y-%m-%d'), starts_at - INTERVAL ? DAY, ends_at - INTERVAL ? DAY, 'closed',"+
				" NOW(6), NOW(6) FROM periods WHERE board_id = ? AND state = 'open'", leaderboard.NewHistory(), day, day, day, made.ID)
		}
		if err == nil {
			err = b.db.QueryRowContext(ctx, "SELECT id FROM periods WHERE board_id = ? ORDER BY starts_at LIMIT 1", made.ID).Scan(&b.ref.ID)
		}
		if err == nil {
			err = b.insertAll(ctx, bar)
		}
		if err == nil {
			err = b.exec(ctx, "UPDATE periods SET entry_count = ?, last_seq = ? WHERE id = ?", derivedMembers, derivedMembers, b.ref.ID)
		}
		if err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	bar.end("ready")
	return b, b.closeStores()
}

// awaitFollowing waits until the board reflects all that its sources have, and returns how long it took since start and
// what the greatest lag was.
func (w *world) awaitFollowing(ctx context.Context, start time.Time) (lag int64, err error) {
	for time.Since(start) < rollMaxWait {
		s, err := w.api.Sources(ctx, derivedBoard)
		if err != nil {
			return 0, err
		}
		if lag = max(lag, s.Lag); s.State == "following" && s.Lag == 0 {
			return lag, nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("the derived board does not get there")
}

// measureFollowing changes today's entries at a steady rate and watches how far the board is behind.
func (w *world) measureFollowing(ctx context.Context, rep *report) error {
	length := w.seconds(followSeconds)
	sent := make(chan error, 1)
	start := time.Now()
	batches := int(length.Seconds() * followRate / bulkRows)
	var took time.Duration
	go func() {
		tick := time.NewTicker(time.Second * bulkRows / followRate)
		defer tick.Stop()
		var err error
		for range batches {
			<-tick.C
			if err == nil {
				err = w.submit(ctx, derivedSource, randomEntries(derivedMembers, bulkRows))
			}
		}
		took = time.Since(start)
		sent <- err
	}()
	lags := []int64{}
	for done := false; !done; {
		select {
		case err := <-sent:
			if err != nil {
				return err
			}
			done = true
		case <-time.After(100 * time.Millisecond):
			s, err := w.api.Sources(ctx, derivedBoard)
			if err != nil {
				return err
			}
			lags = append(lags, s.Lag)
		}
	}
	end := time.Now()
	if _, err := w.awaitFollowing(ctx, end); err != nil {
		return err
	}
	behind := time.Since(end)
	worst := int64(0)
	for _, lag := range lags {
		worst = max(worst, lag)
	}
	rate := float64(batches*bulkRows) / took.Seconds()
	rep.add(row{
		What: fmt.Sprintf("behind %s changes/s of its source, in submits of %d", thousands(rate), bulkRows),
		Here: fmt.Sprintf("median %s, at most %s changes behind; caught up %d ms after the last", thousands(median(lags)), thousands(worst), behind.Milliseconds()),
		Goal: "5,000/s, caught up within 1 s", Met: yesNo(rate >= 0.95*followRate && behind <= time.Second),
	})
	return nil
}

// measureRoll lets the days of the source be a day older, which is what midnight does to the board, and reads members
// of the board before and meanwhile.
func (w *world) measureRoll(ctx context.Context, b *board, rep *report) error {
	read := func(length time.Duration) (answers int64, took time.Duration, err error) {
		r := load{addr: w.addr, conns: rollConns, length: length, request: func(_, _ int, buf []byte) []byte {
			if rand.IntN(2) == 0 {
				return fmt.Appendf(buf, getTemplate, derivedPath+"/top")
			}
			return fmt.Appendf(buf, getTemplate, derivedPath+"/members/"+randomMember(derivedMembers))
		}}.run()
		return r.answers, r.took, r.failure()
	}
	if _, _, err := read(w.seconds(3)); err != nil { // the index is built by the first reads
		return err
	}
	before, beforeTook, err := read(w.seconds(10))
	if err != nil {
		return err
	}
	start := time.Now()
	if err := b.exec(ctx, "UPDATE periods SET starts_at = starts_at - INTERVAL 1 DAY, ends_at = ends_at - INTERVAL 1 DAY,"+
		" name = DATE_FORMAT(starts_at, '%Y-%m-%d'), state = 'closed' WHERE window_name = 'day' ORDER BY starts_at"); err != nil {
		return err
	}
	var (
		during     int64
		duringTook time.Duration
		rolled     = make(chan error, 1)
		rollTook   time.Duration
	)
	go func() {
		_, err := w.awaitFollowing(ctx, start)
		rollTook = time.Since(start)
		rolled <- err
	}()
	for done := false; !done; {
		n, took, err := read(time.Second)
		if err != nil {
			return err
		}
		during, duringTook = during+n, duringTook+took
		select {
		case err := <-rolled:
			if err != nil {
				return err
			}
			done = true
		default:
		}
	}
	rep.add(row{What: "the day turns: 100,000 members leave", Here: inSeconds(rollTook), Goal: "60 s at most", Met: yesNo(rollTook <= time.Minute)})
	rate, was := float64(during)/duringTook.Seconds(), float64(before)/beforeTook.Seconds()
	rep.add(row{
		What: "reads meanwhile: the top, and ranks of random members", Here: thousands(rate) + "/s", Yardstick: "before it: " + thousands(was) + "/s",
		Ratio: rate / was, Goal: "≥ 0.8", Met: yesNo(rate >= 0.8*was),
	})
	return nil
}
