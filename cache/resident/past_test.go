package resident

import (
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// TestPastIsWhatEachPeriodSays: a member's entries in several periods at once equal the answers of each period alone.
func TestPastIsWhatEachPeriodSays(t *testing.T) {
	t.Parallel()
	var in []*Period
	var refs []leaderboard.PeriodRef
	for i, entries := range []int{3000, 1, 0, 700} {
		w := newWorld(t, leaderboard.Rules{}, entries, func(n int) int64 { return int64(n * (i + 1) / 5 % 97) }) // with ties
		in = append(in, w.period)
		refs = append(refs, leaderboard.PeriodRef{ID: int64(10 - i), Board: fmt.Sprint("board-", i%2), Rules: &w.rules})
	}
	for _, member := range []string{"member-000000", "member-000001", "member-000699", "member-000700", "member-002999", "nobody", ""} {
		got, err := Past(in, refs, member)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range in {
			s, err := p.Members(leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Members: []string{member}})
			if err != nil {
				t.Fatal(err)
			}
			want := leaderboard.PastEntry{State: s.State}
			if len(s.Entries) > 0 {
				want.Ranked = &s.Entries[0].Ranked
			}
			if !reflect.DeepEqual(got[i], want) {
				t.Errorf("%s in period %d: %+v, want %+v", member, i, got[i], want)
			}
		}
	}
	refs[1].LastSeq = in[1].At().Seq + 1
	if _, err := Past(in, refs, "nobody"); !errors.Is(err, leaderboard.ErrSeqAhead) {
		t.Errorf("of a period that is behind: %v", err)
	}
}

// TestPastOfMembersWithOneHash: a record whose member has the hash of another is not the other's.
func TestPastOfMembersWithOneHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t, leaderboard.Rules{}, 100, func(n int) int64 { return int64(n) })
	m := w.period.members
	n, _ := m.find([]byte("member-000007"))
	s, hash := m.shard(maphash.String(seed, "nobody"))
	s.grow(2*len(s.slots) + 1)
	s.put(n, hash)
	got, err := Past([]*Period{w.period}, []leaderboard.PeriodRef{{ID: 1, Rules: &w.rules}}, "nobody")
	if err != nil || got[0].Ranked != nil {
		t.Errorf("%+v, %v", got[0].Ranked, err)
	}
}

// TestReadersOfTheSamePeriodsDoNotWaitForEachOther: readers that name the same periods in different orders progress
// next to writers; they would not if a reader held a period while it waited for another.
func TestReadersOfTheSamePeriodsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	worlds := []*world{newWorld(t, leaderboard.Rules{}, 10, func(int) int64 { return 0 }), newWorld(t, leaderboard.Rules{}, 10, func(int) int64 { return 0 })}
	in := []*Period{worlds[0].period, worlds[1].period}
	refs := []leaderboard.PeriodRef{{ID: 1, Board: "a", Rules: &worlds[0].rules}, {ID: 2, Board: "a", Rules: &worlds[1].rules}}
	const rounds = 20_000
	var all sync.WaitGroup
	for i := range 4 {
		in, refs := slices.Clone(in), slices.Clone(refs)
		if i%2 == 1 {
			slices.Reverse(in)
			slices.Reverse(refs)
		}
		all.Go(func() {
			for range rounds {
				if _, err := Past(in, refs, "member-000001"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for _, w := range worlds {
		all.Go(func() {
			for n := range rounds {
				c := w.commit(map[string]*leaderboard.Entry{"member-000001": {Member: "member-000001", Score: int64(n)}})
				if err := w.period.Fold(&c); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		all.Wait()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("they wait for each other")
	}
}
