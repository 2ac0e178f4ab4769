package events

import (
	"math/rand/v2"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// TestEventsAboveMissNone: transactions that enter events commit and roll back in any order, while a reader reads on. It has each event of its
// kind that is committed, once, and its mark is never above an id whose transaction has not ended (promise B9).
func TestEventsAboveMissNone(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		o, pool := newOutbox(t, dsn)
		o.put(t, "e") // which gets all, so all are entered
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 1))
		kinds := []leaderboard.EventKind{leaderboard.EventKindMemberPassed, leaderboard.EventKindMemberPassed, leaderboard.EventKindBoardChanged}
		var open []entering
		mark, err := o.EventsMark(t.Context(), time.Minute)
		if err != nil || mark != 0 {
			t.Fatalf("the mark of an empty outbox: %d, %v", mark, err)
		}
		read, late, greatest := map[int64]bool{}, 0, int64(0)
		look := func() {
			t.Helper()
			events, next, err := o.EventsAbove(t.Context(), leaderboard.EventKindMemberPassed, mark, func(seq int64) bool { return read[seq] })
			if err != nil {
				t.Fatal(err)
			}
			for i := range events {
				if seq := events[i].Seq; read[seq] || events[i].Kind != leaderboard.EventKindMemberPassed {
					t.Fatalf("seed %d: event %d of kind %s is read again, or is of another kind", seed, seq, events[i].Kind)
				} else if read[seq] = true; seq < greatest {
					late++
				} else {
					greatest = seq
				}
			}
			for _, e := range open {
				if e.id <= next {
					t.Fatalf("seed %d: the mark is %d, and event %d is still to come", seed, next, e.id)
				}
			}
			mark = next
			for _, id := range ids(t, pool, "SELECT id FROM outbox WHERE kind = 'member.passed'") {
				if !read[id] {
					t.Fatalf("seed %d: event %d was not read", seed, id)
				}
			}
		}
		end := func(i int) {
			ends := open[i].tx.Commit
			if random.IntN(4) == 0 {
				ends = open[i].tx.Rollback
			}
			if err := ends(); err != nil {
				t.Fatal(err)
			}
			open = append(open[:i], open[i+1:]...)
		}
		for i := 0; i < 300 || late < 5 && i < 3000; i++ { // until some came late
			switch n := random.IntN(10); {
			case n < 4 && len(open) < 6:
				open = append(open, enter(t, pool, kinds[random.IntN(len(kinds))]))
			case n < 8 && len(open) > 0:
				end(random.IntN(len(open)))
			default:
				look()
			}
		}
		for len(open) > 0 {
			end(0)
		}
		look()
		if last := ids(t, pool, "SELECT MAX(id) FROM outbox")[0]; mark == 0 || late < 5 {
			t.Errorf("seed %d: the mark is %d of %d, %d came late: the test tells nothing", seed, mark, last, late)
		}
	})
}
