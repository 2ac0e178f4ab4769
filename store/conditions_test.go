package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// TestFlagIsSwappedOnce: 64 callers through two servers sell one flag of each of some members, and add to the same entries
// meanwhile. Each flag is sold once, no amount is lost, and a repeated request gets the same answer.
func TestFlagIsSwappedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const callers, members = 64, 5
		servers := []*store.Store{open(t, dsn, nil), open(t, dsn, nil)}
		ref := dbtest.MakeBoard(t, servers[0], "b", leaderboard.Rules{
			Policy: leaderboard.PolicySum, Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "paid", Bits: 1}, {Name: "wins", Bits: 20, Order: leaderboard.OrderAsc}}},
		})
		var sold [members]atomic.Int64
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for m := range members {
					member := fmt.Sprint("m", m)
					add := leaderboard.Submission{Member: member, Score: int64(c), Edit: &leaderboard.Edit{Add: map[string]int64{"wins": 1}}}
					swap := leaderboard.Submission{
						Member: member, If: &leaderboard.Condition{Fields: map[string]int64{"paid": 0}}, Edit: &leaderboard.Edit{NoScore: true, Set: map[string]int64{"paid": 1}},
					}
					r := leaderboard.SubmitRequest{Board: "b", Key: fmt.Sprint(c, " ", m), Entries: []leaderboard.Submission{add, swap}}
					first, err := servers[c%2].Writer.Submit(t.Context(), r)
					if err != nil {
						t.Error(err)
						return
					}
					again, err := servers[(c+1)%2].Writer.Submit(t.Context(), r)
					if err != nil || again.Results[1].Status != first.Results[1].Status || *again.Results[1].Tiebreak != *first.Results[1].Tiebreak {
						t.Errorf("the same again: %+v, %v; the first was %+v", again.Results, err, first.Results)
					}
					switch status := first.Results[1].Status; status {
					case leaderboard.StatusApplied:
						sold[m].Add(1)
					case leaderboard.StatusUnmet:
					default:
						t.Errorf("a flag that may be sold is %s", status)
					}
				}
			})
		}
		wg.Wait()
		page, err := servers[0].Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 100})
		if err != nil || len(page.Entries) != members {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, e := range page.Entries {
			if f := ref.Rules.Tiebreak.Unpack(e.Tiebreak); e.Score != callers*(callers-1)/2 || f[0].Value != 1 || f[1].Value != callers {
				t.Errorf("%s has %d and %v after %d callers", e.Member, e.Score, f, callers)
			}
		}
		for m := range sold {
			if n := sold[m].Load(); n != 1 {
				t.Errorf("the flag of m%d was sold %d times", m, n)
			}
		}
		storetest.CheckLog(t, storetest.Of(servers[0], storetest.Added{}), ref)
	})
}
