package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	loadingRounds   = 3
	loadingLimit    = 40 * time.Second
	capacitySeconds = 2 // of the load that half load is half of
	beforeSeconds   = 5 // of half load before a board is loaded
	aloneGoal       = 4 * time.Second
	busyGoal        = 10 * time.Second
)

// measureLoading times how long a new server takes to have a board in memory, from the first read on: alone, and while
// another board that it has in memory is read at half of what the server can do.
func (w *world) measureLoading(ctx context.Context, rep *report, log io.Writer) error {
	defer w.stopService() // the next section has one that is not full of boards
	other := combinedBoards()[0]
	if err := w.copyBoard(ctx, other, log); err != nil {
		return err
	}
	if err := w.loadingAlone(ctx, rep); err != nil {
		return err
	}
	return w.loadingBusy(ctx, rep, log, other)
}

// loaded is one loading of a board.
type loaded struct {
	visible      time.Duration // from the first read on to answers from memory
	itself       time.Duration // as the server says
	before, then *loadResult   // what readers of the other board saw; nil when there are none
}

// load reads the board until it is resident; ok says whether it came to that.
func (w *world) load(ctx context.Context) (got loaded, ok bool, err error) {
	already, err := w.loading(ctx)
	if err != nil {
		return got, false, err
	}
	if got.visible, ok, err = w.awaitResident(ctx, benchBoard, w.members, loadingLimit); err != nil || !ok {
		return got, false, err
	}
	got.itself, err = w.loading(ctx)
	got.itself -= already
	return got, true, err
}

// loadingAlone lets one connection ask a new server for random members.
func (w *world) loadingAlone(ctx context.Context, rep *report) error {
	var rounds []loaded
	for range loadingRounds {
		if err := w.serve(ctx); err != nil {
			return err
		}
		got, ok, err := w.load(ctx)
		if err != nil {
			return err
		}
		if ok {
			rounds = append(rounds, got)
		}
	}
	rep.add(w.loadingRow("alone", aloneGoal, rounds))
	return nil
}

// loadingRow is the line of the table; rounds are those in which the board became resident.
func (w *world) loadingRow(how string, goal time.Duration, rounds []loaded) row {
	r := row{
		What: fmt.Sprintf("%s entries loaded, %s", thousands(w.members), how), Here: fmt.Sprintf("not within %.0f s", loadingLimit.Seconds()),
		Goal: fmt.Sprintf("≤ %.0f s per million", goal.Seconds()), Met: yesNo(false),
	}
	if len(rounds) < loadingRounds {
		return r
	}
	var visible, itself []time.Duration
	for _, got := range rounds {
		visible, itself = append(visible, got.visible), append(itself, got.itself)
	}
	took := median(itself)
	r.Here = fmt.Sprintf("%.2f s; answers from memory %.2f s after the first read", took.Seconds(), median(visible).Seconds())
	r.Met = yesNo(float64(took)*1e6/float64(w.members) <= float64(goal))
	return r
}

// loadingBusy lets one connection ask for random members of the board while others read another one.
func (w *world) loadingBusy(ctx context.Context, rep *report, log io.Writer, other string) error {
	var rounds []loaded
	var befores, thens []time.Duration
	var ratios []float64
	for range loadingRounds {
		got, ok, err := w.loadBesideReaders(ctx, log, other)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		rounds = append(rounds, got)
		before, then := got.before.quantile(0.99), got.then.quantile(0.99)
		befores, thens, ratios = append(befores, before), append(thens, then), append(ratios, float64(then)/float64(max(1, before)))
	}
	rep.add(w.loadingRow("at half load", busyGoal, rounds))
	if len(rounds) > 0 {
		rep.add(row{
			What: "readers of another board meanwhile, p99", Here: inMS(median(thens)), Yardstick: "before: " + inMS(median(befores)),
			Ratio: median(ratios), Goal: "≤ 2",
		})
	}
	return nil
}

// loadBesideReaders starts a server, makes the other board resident, reads it at half load, and loads the board; ok says
// whether both became resident.
func (w *world) loadBesideReaders(ctx context.Context, log io.Writer, other string) (got loaded, ok bool, err error) {
	if err := w.serve(ctx); err != nil {
		return got, false, err
	}
	if _, ok, err := w.awaitResident(ctx, other, w.members, loadingLimit); err != nil || !ok {
		return got, false, err
	}
	readers := load{addr: w.addr, conns: readConns, length: w.seconds(capacitySeconds), request: memberRequest(other, w.members)}
	full := readers.run()
	readers.rate, readers.length = full.perSecond()/2, w.seconds(beforeSeconds)
	before := readers.run()

	stop, ended := make(chan struct{}), make(chan *loadResult, 1)
	readers.length, readers.stop = loadingLimit+answerLimit, stop
	go func() { ended <- readers.run() }()
	got, ok, err = w.load(ctx)
	close(stop)
	got.before, got.then = before, <-ended
	fmt.Fprintf(log, "half load is %s/s; p99 %s before, %s meanwhile\n", thousands(readers.rate), inMS(before.quantile(0.99)), inMS(got.then.quantile(0.99)))
	return got, ok, errors.Join(err, full.failure(), before.failure(), got.then.failure())
}
