package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

const (
	loadingRounds  = 3
	loadingLimit   = 40 * time.Second
	capacitySecond = 2 // of the load that half load is half of
	beforeSeconds  = 5 // of half load before a board is loaded
	aloneGoal      = 4 * time.Second
	busyGoal       = 10 * time.Second
	busyTailGoal   = 2.0
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

// loadingAlone lets one connection ask for random members.
func (w *world) loadingAlone(ctx context.Context, rep *report) error {
	var times []time.Duration
	for range loadingRounds {
		if err := w.serve(ctx); err != nil {
			return err
		}
		took, ok, err := w.awaitResident(ctx, benchBoard, w.members, loadingLimit)
		if err != nil {
			return err
		}
		if !ok {
			rep.add(neverResident("alone", aloneGoal))
			return nil
		}
		times = append(times, took)
	}
	took := median(times)
	rep.add(row{
		What: fmt.Sprintf("%s entries resident after the first read, alone", thousands(w.members)), Here: inSeconds(took),
		Goal: "≤ 4 s per million", Met: yesNo(w.perMillion(took) <= aloneGoal),
	})
	return nil
}

func neverResident(how string, goal time.Duration) row {
	return row{
		What: "entries resident after the first read, " + how, Here: fmt.Sprintf("not within %.0f s", loadingLimit.Seconds()),
		Goal: fmt.Sprintf("≤ %.0f s per million", goal.Seconds()), Met: yesNo(false),
	}
}

// perMillion returns the time that a million entries would have taken.
func (w *world) perMillion(d time.Duration) time.Duration {
	return time.Duration(float64(d) * 1e6 / float64(w.members))
}

// busyRound is one loading beside readers.
type busyRound struct {
	took         time.Duration
	before, then *loadResult // what the readers of the other board saw
}

// loadingBusy lets one connection ask for random members of the board while others read another one.
func (w *world) loadingBusy(ctx context.Context, rep *report, log io.Writer, other string) error {
	var times, befores, thens []time.Duration
	var ratios []float64
	for range loadingRounds {
		r, ok, err := w.loadBesideReaders(ctx, log, other)
		if err != nil {
			return err
		}
		if !ok {
			rep.add(neverResident("at half load", busyGoal))
			return nil
		}
		before, then := r.before.quantile(0.99), r.then.quantile(0.99)
		times, befores, thens = append(times, r.took), append(befores, before), append(thens, then)
		ratios = append(ratios, float64(then)/float64(max(1, before)))
	}
	took := median(times)
	rep.add(row{
		What: fmt.Sprintf("%s entries resident after the first read, at half load", thousands(w.members)), Here: inSeconds(took),
		Goal: "≤ 10 s per million", Met: yesNo(w.perMillion(took) <= busyGoal),
	})
	rep.add(row{
		What: "readers of another board meanwhile, p99", Here: inMS(median(thens)), Yardstick: "before: " + inMS(median(befores)),
		Ratio: median(ratios), Goal: "≤ 2", Met: yesNo(median(ratios) <= busyTailGoal),
	})
	return nil
}

// loadBesideReaders starts a server, makes the other board resident, reads it at half load, and times the loading of the
// board; ok says whether both got there.
func (w *world) loadBesideReaders(ctx context.Context, log io.Writer, other string) (*busyRound, bool, error) {
	if err := w.serve(ctx); err != nil {
		return nil, false, err
	}
	if _, ok, err := w.awaitResident(ctx, other, w.members, loadingLimit); err != nil || !ok {
		return nil, false, err
	}
	readers := load{addr: w.addr, conns: readConns, length: w.seconds(capacitySecond), request: memberRequest(other, w.members)}
	full := readers.run()
	readers.rate = full.perSecond() / 2
	readers.length = w.seconds(beforeSeconds)
	r := &busyRound{before: readers.run()}
	fmt.Fprintf(log, "half load: %s/s\n", thousands(readers.rate))

	stop, ended := make(chan struct{}), make(chan *loadResult, 1)
	readers.length, readers.stop = loadingLimit+answerLimit, stop
	go func() { ended <- readers.run() }()
	took, ok, err := w.awaitResident(ctx, benchBoard, w.members, loadingLimit)
	close(stop)
	r.took, r.then = took, <-ended
	for _, result := range []*loadResult{full, r.before, r.then} {
		if err == nil {
			err = result.failure()
		}
	}
	return r, ok, err
}
