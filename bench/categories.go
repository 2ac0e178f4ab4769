package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"leaderboard"
	"leaderboard/client"
)

const (
	combinedRounds  = 7
	combinedSeconds = 2
	combinedPaths   = 50_000 // different queries of a kind
	copyRows        = 50_000 // of one INSERT
	indexWait       = 2 * time.Minute
)

// combinedBoards returns the boards beside the first one: its members with other scores.
func combinedBoards() []string { return []string{"categories-2", "categories-3"} }

// measureCategories holds queries of three boards against the same ones of one of them.
func (w *world) measureCategories(ctx context.Context, rep *report, log io.Writer) error {
	query := "?boards=" + benchBoard
	for _, name := range combinedBoards() {
		if err := w.copyBoard(ctx, name, log); err != nil {
			return err
		}
		query += "," + name
	}
	members, depths := make([][2]string, combinedPaths), make([][2]string, combinedPaths)
	for i := range members {
		member, offset := randomMember(w.members), rand.IntN(w.members)
		members[i] = [2]string{"/v1/rankings/members/" + member + query, boardPath + "/members/" + member}
		depths[i] = [2]string{
			fmt.Sprintf("/v1/rankings/top%s&offset=%d", query, 3*offset), fmt.Sprintf("%s/top?offset=%d", boardPath, offset),
		}
	}
	if err := w.warmUp(ctx, log, append(combinedBoards(), benchBoard)...); err != nil {
		return err
	}
	for _, m := range []struct {
		what, goal string
		paths      [][2]string
		conns      int
	}{
		{"page of the top 10", "", [][2]string{{"/v1/rankings/top" + query, boardPath + "/top"}}, 1},
		{"entries of a random member", "", members, 1},
		{"page of 10 at a random depth", "", depths, 1},
		{"page of 10 at a random depth, 16 connections", "≤ 3", depths, 16},
	} {
		if err := w.measureCombined(rep, m.what, m.goal, m.conns, m.paths); err != nil {
			return err
		}
	}
	return nil
}

// measureCombined sends both kinds of queries in turn and compares the times of the one in the middle.
func (w *world) measureCombined(rep *report, what, goal string, conns int, paths [][2]string) error {
	side := func(kind int) func() (float64, error) {
		return func() (float64, error) {
			r := load{addr: w.addr, conns: conns, length: w.seconds(combinedSeconds), request: func(_, _ int, buf []byte) []byte {
				return fmt.Appendf(buf, getTemplate, paths[rand.IntN(len(paths))][kind])
			}}.run()
			return ms(r.quantile(0.5)), r.failure()
		}
	}
	three, one, ratio, err := paired(combinedRounds, side(0), side(1))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	rep.add(row{What: what, Here: fmt.Sprintf("%.2f ms", three), Yardstick: fmt.Sprintf("one board: %.2f ms", one), Ratio: ratio, Goal: goal})
	return nil
}

// copyBoard makes a board of the members of the first one, past the service, unless a run before did, and waits until
// it has its index.
func (w *world) copyBoard(ctx context.Context, name string, log io.Writer) error {
	if _, _, err := w.api.PutBoard(ctx, name, leaderboard.Rules{Policy: leaderboard.PolicyLatest}); err != nil {
		return err
	}
	const period = "SELECT p.id, p.entry_count FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = ?"
	var from, to, have int64
	if err := errors.Join(w.db.QueryRowContext(ctx, period, benchBoard).Scan(&from, &have), w.db.QueryRowContext(ctx, period, name).Scan(&to, &have)); err != nil {
		return err
	}
	if have != int64(w.members) {
		bar := newProgress(log, "filling "+name, w.members)
		for i := 0; i < w.members; i += copyRows {
			end := "n" // after all members
			if i+copyRows < w.members {
				end = string(appendMember(nil, i+copyRows))
			}
			_, err := w.db.ExecContext(ctx, "INSERT INTO entries "+entryRow+" SELECT ?, member, score + CRC32(CONCAT(member, ?)) MOD 1000, 0, created_time"+
				" FROM entries WHERE period_id = ? AND member >= ? AND member < ?",
				to, name, from, string(appendMember(nil, i)), end)
			if err != nil {
				return fmt.Errorf("fill %s: %w", name, err)
			}
			bar.add(min(copyRows, w.members-i))
		}
		bar.end("ready")
		const update = "UPDATE periods SET entry_count = ?, last_seq = ?, committed_at = NOW(6), last_created_time = NOW(6) WHERE id = ?"
		if _, err := w.db.ExecContext(ctx, update, w.members, w.members, to); err != nil {
			return err
		}
	}
	return w.awaitIndex(ctx, name)
}

// awaitIndex asks for a rank in the depth of a board until it is quick: then its index is there.
func (w *world) awaitIndex(ctx context.Context, name string) error {
	for start := time.Now(); time.Since(start) < indexWait; {
		asked := time.Now()
		_, err := w.api.Top(ctx, name, client.TopQuery{Offset: int64(w.members - 1 - rand.IntN(w.members/10))})
		if err != nil {
			return err
		}
		if time.Since(asked) < 5*time.Millisecond {
			return nil
		}
	}
	return fmt.Errorf("board %s has no index after %s", name, indexWait)
}
