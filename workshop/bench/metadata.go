package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"leaderboard/leaderboard"
)

const (
	metadataBoard  = "metadata"
	metadataPath   = "/v1/boards/" + metadataBoard
	metadataBytes  = 200 // of one entry
	metadataConns  = 16
	metadataParam  = "metadata=true"
	metadataRounds = 5
	metadataWrites = 500             // submits a second during the rows with writes
	metadataLimit  = 3 * time.Minute // for the board to get into memory
)

// measureMetadata measures the cost of metadata: submits with metadata, submits without metadata to a board with the rule,
// and answers that show it, from a board in memory where each entry has some.
func (w *world) measureMetadata(ctx context.Context, rep *report) error {
	if err := w.serveResident(ctx); err != nil {
		return err
	}
	defer func() { _ = w.api.DeleteBoard(ctx, metadataBoard) }() // the next run makes the same
	rules := leaderboard.Rules{Policy: leaderboard.PolicyLatest, Resident: leaderboard.ResidentAlways, Metadata: &leaderboard.Metadata{MaxBytes: metadataBytes}}
	if _, _, err := w.api.PutBoard(ctx, metadataBoard, rules); err != nil {
		return err
	}
	if err := w.fillOverHTTP(metadataBoard, w.members, ""); err != nil {
		return err
	}
	if err := w.awaitLocal(ctx, w.service, metadataTop(""), metadataLimit); err != nil {
		return err
	}
	if err := w.submitMetadata(rep); err != nil {
		return err
	}
	if err := w.fillOverHTTP(metadataBoard, w.members, metadataOf(metadataBytes)); err != nil { // so that each entry has some
		return err
	}
	return w.readMetadata(rep)
}

// metadataOf returns metadata of n bytes as a member of the JSON of an entry.
func metadataOf(n int) string {
	const begin, end = `{"replay":"`, `"}`
	return `,"metadata":` + begin + strings.Repeat("r", n-len(begin)-len(end)) + end
}

// submitMetadata measures submits, first while no entry of the board has metadata.
func (w *world) submitMetadata(rep *report) error {
	submits := func(board, more string) func() (float64, error) {
		return func() (float64, error) {
			result := load{addrs: []string{w.addr}, conns: submitConns, length: w.seconds(writeSeconds), request: func(_, _ int, buf []byte) []byte {
				return appendScores(buf, board, "", 1, more, func(int) int { return rand.IntN(w.members) })
			}}.run()
			return result.perSecond(), result.failure()
		}
	}
	without := submits(metadataBoard, "")
	for _, c := range []struct {
		what, yardstick, goal string
		here, there           func() (float64, error)
	}{
		{"without metadata, to a board with the rule", "to a board without it", "≥ 0.95", without, submits(benchBoard, "")},
		{fmt.Sprintf("with metadata of %d bytes", metadataBytes), "without, to the same board", "", submits(metadataBoard, metadataOf(metadataBytes)), without},
	} {
		a, b, ratio, err := paired(metadataRounds, c.here, c.there)
		if err != nil {
			return fmt.Errorf("submits %s: %w", c.what, err)
		}
		rep.add(row{
			what: fmt.Sprintf("single submits %s, %d connections", c.what, submitConns), here: thousands(a) + " rows/s",
			yardstick: c.yardstick + ": " + thousands(b) + " rows/s", ratio: ratio, goal: c.goal,
		})
	}
	return nil
}

// metadataTop reads the best entries of the board, and metadataMember a random member. query is appended to the address.
func metadataTop(query string) requester {
	request := getBegin + metadataPath + "/top?limit=" + strconv.Itoa(pageOf) + query + getEnd
	return func(_, _ int, buf []byte) []byte { return append(buf, request...) }
}

func metadataMember(members int, query string) requester {
	return func(_, _ int, buf []byte) []byte {
		buf = appendMember(append(buf, getBegin+metadataPath+"/members/"...), rand.IntN(members))
		return append(append(buf, query...), getEnd...)
	}
}

// readMetadata compares answers with metadata to the same answers without it, on a board that rests and during submits to
// it. At first no metadata is in memory; ranks are measured then, and after each entry was shown once.
func (w *world) readMetadata(rep *report) error {
	for _, c := range []struct {
		what, goal  string
		before      func() error
		rounds      int
		writes      []float64
		shown, bare requester
	}{
		{"first ranks of random members", "", nil, 1, []float64{0}, metadataMember(w.members, "?"+metadataParam), metadataMember(w.members, "")},
		{"page of the top 100", "≥ 0.5", nil, metadataRounds, []float64{0, metadataWrites}, metadataTop("&" + metadataParam), metadataTop("")},
		{"rank of a random member", "≥ 0.7", w.showAll, metadataRounds, []float64{0, metadataWrites}, metadataMember(w.members, "?"+metadataParam), metadataMember(w.members, "")},
	} {
		if c.before != nil {
			if err := c.before(); err != nil {
				return err
			}
		}
		for _, writes := range c.writes {
			a, b, ratio, err := paired(c.rounds, w.besideSubmits(c.shown, writes), w.besideSubmits(c.bare, writes))
			if err != nil {
				return fmt.Errorf("%s with metadata: %w", c.what, err)
			}
			what := fmt.Sprintf("%s with %s, %d connections", c.what, metadataParam, metadataConns)
			if writes > 0 {
				what += fmt.Sprintf(", beside %s submits/s with metadata", thousands(writes))
			}
			rep.add(row{what: what, here: thousands(a) + "/s", yardstick: "without: " + thousands(b) + "/s", ratio: ratio, goal: c.goal})
		}
	}
	return nil
}

// showAll asks for all entries with their metadata.
func (w *world) showAll() error {
	conn, err := dial(w.addr, answerLimit)
	if err != nil {
		return err
	}
	defer conn.close()
	const each = 1000
	for offset := 0; offset < w.members; offset += each {
		request := fmt.Sprintf("%s%s/top?limit=%d&offset=%d&%s%s", getBegin, metadataPath, each, offset, metadataParam, getEnd)
		if _, err := conn.skim([]byte(request)); err != nil {
			return err
		}
	}
	return nil
}

// besideSubmits returns a measurement of reads during a number of submits a second to the board, each with metadata.
func (w *world) besideSubmits(request requester, writes float64) func() (float64, error) {
	return func() (float64, error) {
		reads := load{addrs: []string{w.addr}, conns: metadataConns, length: w.seconds(readSeconds), request: request}
		if writes == 0 {
			result := reads.run()
			return result.perSecond(), result.failure()
		}
		submits := load{addrs: []string{w.addr}, conns: metadataConns, rate: writes, length: reads.length, request: func(_, _ int, buf []byte) []byte {
			return appendScores(buf, metadataBoard, "", 1, metadataOf(metadataBytes), func(int) int { return rand.IntN(w.members) })
		}}
		var written, read *loadResult
		var both sync.WaitGroup
		both.Go(func() { written = submits.run() })
		both.Go(func() { read = reads.run() })
		both.Wait()
		return read.perSecond(), errors.Join(read.failure(), written.failure())
	}
}
