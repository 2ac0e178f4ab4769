package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"leaderboard/leaderboard"
)

const (
	toldRate  = 2000 // submits a second
	toldConns = 64
	toldShare = 0.01 // of the standings that may come too late

	manyBoards       = leaderboard.MaxStandings
	standingsSeconds = 2
	manyLimit        = 3 * time.Minute // for all of them to get into memory: a server takes in two a second
)

// measureStandings measures the cost of returning the changes of a submit, how many standings come too late, and the cost
// of a member's standings on many boards at once.
func (w *world) measureStandings(ctx context.Context, rep *report) error {
	if err := w.serveResident(ctx); err != nil {
		return err
	}
	if err := w.measureTold(rep); err != nil {
		return err
	}
	boards, err := w.manyBoards(ctx)
	defer func() {
		for _, name := range boards {
			_ = w.api.DeleteBoard(ctx, name) // the next run makes the same
		}
	}()
	if err != nil {
		return err
	}
	each := max(500, w.members/manyBoards)
	if err := w.awaitLocal(ctx, w.service, standingsRequest(boards, each), manyLimit); err != nil {
		return err
	}
	if err := w.standingsOf(rep, "from memory", boards, each); err != nil {
		return err
	}
	if err := w.serve(ctx, withoutMemory()...); err != nil {
		return err
	}
	return w.standingsOf(rep, "without memory", boards, each)
}

// measureTold compares submits that ask for standings with submits that do not.
func (w *world) measureTold(rep *report) error {
	told := load{addrs: []string{w.addr}, conns: submitConns, length: w.seconds(writeSeconds), request: func(_, _ int, buf []byte) []byte {
		return appendTold(buf, benchBoard, w.members, 1)
	}}
	a, b, ratio, err := paired(writeRounds, func() (float64, error) {
		result := told.run()
		return result.perSecond(), result.failure()
	}, w.submits(submitConns, 1))
	if err != nil {
		return fmt.Errorf("submits with standings: %w", err)
	}
	rep.add(row{
		what: fmt.Sprintf("single submits with standings, %d connections", submitConns), here: thousands(a) + " rows/s",
		yardstick: "without: " + thousands(b) + " rows/s", ratio: ratio, goal: "≥ 0.8",
	})
	told.conns, told.rate, told.length = toldConns, toldRate, w.seconds(writeSeconds*writeRounds)
	paced := told.run()
	if err := paced.failure(); err != nil {
		return fmt.Errorf("submits with standings at a rate: %w", err)
	}
	share := float64(paced.untold) / float64(max(1, paced.answers))
	rep.add(row{
		what:      fmt.Sprintf("standings that come too late, %s submits a second", thousands(int64(toldRate))),
		here:      fmt.Sprintf("%s of %s, %.2f %%, at %s submits/s", thousands(paced.untold), thousands(paced.answers), 100*share, thousands(paced.perSecond())),
		yardstick: "all of them", goal: fmt.Sprintf("< %.0f %%", 100*toldShare), met: yesNo(share < toldShare),
	})
	return nil
}

// manyBoards makes boards with the same members, and returns the names of the boards made before an error.
func (w *world) manyBoards(ctx context.Context) (names []string, err error) {
	for i := range manyBoards {
		name := fmt.Sprintf("many-%03d", i)
		if _, _, err := w.api.PutBoard(ctx, name, leaderboard.Rules{Policy: leaderboard.PolicyLatest, Resident: leaderboard.ResidentAlways}); err != nil {
			return names, err
		}
		names = append(names, name)
		if err := w.fillOverHTTP(name, max(500, w.members/manyBoards), ""); err != nil {
			return names, err
		}
	}
	return names, nil
}

// standingsRequest asks where a random member stands on boards.
func standingsRequest(boards []string, members int) requester {
	rest := "/standings?boards=" + strings.Join(boards, ",") + getEnd
	return func(_, _ int, buf []byte) []byte {
		return append(appendMember(append(buf, getBegin+"/v1/members/"...), rand.IntN(members)), rest...)
	}
}

// oneOfRequest asks for the rank of a random member on a random one of boards.
func oneOfRequest(boards []string, members int) requester {
	return func(_, _ int, buf []byte) []byte {
		buf = append(append(buf, getBegin+"/v1/boards/"...), boards[rand.IntN(len(boards))]...)
		return append(appendMember(append(buf, "/members/"...), rand.IntN(members)), getEnd...)
	}
}

// standingsOf compares the p50 of a member's standings on all boards to the p50 of its rank on one, by one connection.
func (w *world) standingsOf(rep *report, from string, boards []string, members int) error {
	p50 := func(request requester) func() (float64, error) {
		return func() (float64, error) {
			result := load{addrs: []string{w.addr}, conns: 1, length: w.seconds(standingsSeconds), request: request}.run()
			return float64(result.quantile(0.5)), result.failure()
		}
	}
	many, one := p50(standingsRequest(boards, members)), p50(oneOfRequest(boards, members))
	for _, warm := range []func() (float64, error){many, one} {
		if _, err := warm(); err != nil {
			return fmt.Errorf("standings %s: %w", from, err)
		}
	}
	a, b, ratio, err := paired(writeRounds, many, one)
	if err != nil {
		return fmt.Errorf("standings %s: %w", from, err)
	}
	rep.add(row{
		what: fmt.Sprintf("a member's standings on %d boards, %s", len(boards), from), here: "p50 " + inMicros(time.Duration(a)),
		yardstick: "rank on one of them: p50 " + inMicros(time.Duration(b)), ratio: ratio, goal: "≤ 3",
	})
	return nil
}
