package app

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"leaderboard"
	"leaderboard/store"
)

const (
	// DemoBoard is the name of the demo board.
	DemoBoard = "demo"
	// DemoShown is the number of the member that examples look for.
	DemoShown = 7
)

const (
	demoBest  = 5000 // the game's highest score, which several reach
	demoSpan  = 30 * 24 * time.Hour
	demoBatch = 1000
)

// LoadDemo fills the demo board, unless it has entries already. The members and scores are the same on every machine;
// the times lie within the last 30 days. progress hears how many more are in.
func (a *App) LoadDemo(ctx context.Context, members int, progress func(more int)) error {
	rules := leaderboard.Rules{Title: "Demo", TopN: 1000}.WithDefaults()
	board, _, err := a.store.PutBoard(ctx, DemoBoard, rules)
	if err != nil {
		return err
	}
	period, err := a.store.CurrentPeriod(ctx, board, board.Rules.Windows[0])
	if err != nil || period.EntryCount > 0 {
		return err
	}
	now, err := a.store.Now(ctx)
	if err != nil {
		return err
	}
	for from := 0; from < members; from += demoBatch {
		entries := demoEntries(from, min(from+demoBatch, members), now)
		if _, err := a.store.Submit(ctx, store.SubmitRequest{Board: DemoBoard, Entries: entries}); err != nil {
			return err
		}
		progress(len(entries))
	}
	return nil
}

// demoEntries returns the members from to to-1. Scores follow a log-normal law, as those of games do: most are modest,
// few are great. They come in steps, and the best possible score is reached by several, so there are ties at every
// height.
func demoEntries(from, to int, now leaderboard.Micros) []leaderboard.Submission {
	entries := make([]leaderboard.Submission, 0, to-from)
	for i := from; i < to; i++ {
		r := rand.New(rand.NewPCG(uint64(i), 2026))
		raw := math.Exp(6.5 + 0.7*r.NormFloat64())
		step := 10.0
		if raw > 1000 {
			step = 50
		}
		score := int64(min(math.Round(raw/step)*step, demoBest))
		created := now - leaderboard.Micros(r.Int64N(demoSpan.Microseconds()))
		entries = append(entries, leaderboard.Submission{Member: DemoMember(i), Score: score, CreatedTime: &created})
	}
	return entries
}

// DemoMember returns the id of the i-th member, such as calm-otter-8.
func DemoMember(i int) string {
	kinds := [...]string{"bold", "calm", "deft", "eager", "fair", "glad", "keen", "lucky", "merry", "nimble", "proud", "quick", "swift"}
	animals := [...]string{"badger", "crane", "dolphin", "eagle", "falcon", "gecko", "heron", "ibex", "lynx", "marten", "otter"}
	return fmt.Sprintf("%s-%s-%d", kinds[i%len(kinds)], animals[i%len(animals)], i+1)
}
