package cache

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"leaderboard"
	"leaderboard/cache/resident"
	"leaderboard/rank"
	"leaderboard/store/storetest"
)

// slowLoads is a database of which periods are loaded once it is let.
type slowLoads struct {
	*storetest.Model
	let chan struct{}
}

func (s slowLoads) Snapshot(ctx context.Context, p leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	return s.Model.Snapshot(ctx, p, limit, begin, func(keys []rank.Key) error {
		<-s.let
		return rows(keys)
	})
}

// filled makes a board b whose members m0, m1 … have the scores 0, 1 …
func filled(t *testing.T, m *storetest.Model, rules leaderboard.Rules, members int64) leaderboard.PeriodRef {
	t.Helper()
	b, _, err := m.PutBoard(t.Context(), "b", rules)
	if err != nil {
		t.Fatal(err)
	}
	for i := range members {
		entries := []leaderboard.Submission{{Member: fmt.Sprint("m", i), Score: i}}
		if _, err := m.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := m.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
	if err != nil {
		t.Fatal(err)
	}
	return p.Ref(&b)
}

// TestReadersWaitForALoad: of many readers of a period that is being loaded some ask the database, and the others get their answers from
// memory once it is there.
func TestReadersWaitForALoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := slowLoads{storetest.NewModel(), make(chan struct{})}
		const members = 1000
		ref := filled(t, source.Model, leaderboard.Rules{}.WithDefaults(), members)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		periods := resident.NewPeriods(source, resident.Options{Memory: 1 << 20})
		go periods.Run(ctx)
		var local, database atomic.Int64
		r := NewReader(nil, source.Model, ReaderOptions{Resident: periods, OnAnswer: func(source leaderboard.Source, _ bool) {
			if source == leaderboard.SourceLocal {
				local.Add(1)
			} else {
				database.Add(1)
			}
		}})
		periods.Get(&ref, members) // it is worth being loaded
		synctest.Wait()
		var readers sync.WaitGroup
		for i := range int64(members) {
			readers.Go(func() {
				q := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Members: []string{fmt.Sprint("m", i)}}
				if s, err := r.Members(ctx, ref, q); err != nil || s.Entries[0].Strict != members-i {
					t.Errorf("member %d: %+v, %v", i, s, err)
				}
			})
		}
		synctest.Wait()
		if n := database.Load(); n == 0 || n > members/10 || local.Load() > 0 {
			t.Errorf("%d answers from the database, %d from memory while the period is loaded", n, local.Load())
		}
		close(source.let)
		readers.Wait()
		if database.Load()+local.Load() != members || database.Load() > members/10 {
			t.Errorf("%d answers from the database, %d from memory", database.Load(), local.Load())
		}
	})
}
