package cache

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/resident"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/storetest"
)

// slowLoads is a database whose periods are loaded only when the test allows it.
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

// slowAnswers is a database that takes a moment for each batch, and counts how many are under way at once.
type slowAnswers struct {
	*storetest.Model
	inside, most atomic.Int64
}

func (s *slowAnswers) Query(ctx context.Context, p leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	s.most.Store(max(s.most.Load(), s.inside.Add(1)))
	defer s.inside.Add(-1)
	time.Sleep(time.Millisecond)
	return s.Model.Query(ctx, p, questions)
}

// TestReadersWhileItIsLoaded: while a period is loaded, its readers are answered by the database, one batch at a time, which leaves it to
// the load (promise C7).
func TestReadersWhileItIsLoaded(t *testing.T) {
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
		answers := &slowAnswers{Model: source.Model}
		r := NewReader(nil, answers, ReaderOptions{Resident: periods, Observer: observed{answer: func(source leaderboard.Source, _ bool) {
			if source == leaderboard.SourceLocal {
				local.Add(1)
			} else {
				database.Add(1)
			}
		}}})
		periods.Get(&ref, members) // it is worth being loaded
		synctest.Wait()
		ask := func() {
			t.Helper()
			var readers sync.WaitGroup
			for i := range int64(members) {
				readers.Go(func() {
					q := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Members: []string{fmt.Sprint("m", i)}}
					if s, err := r.Members(ctx, ref, q); err != nil || s.Entries[0].Strict != members-i {
						t.Errorf("member %d: %+v, %v", i, s, err)
					}
				})
			}
			readers.Wait()
		}
		if ask(); database.Load() != members || local.Load() > 0 || answers.most.Load() != 1 {
			t.Errorf("%d answers from the database, %d from memory while the period is loaded; %d batches at once", database.Load(), local.Load(), answers.most.Load())
		}
		close(source.let)
		synctest.Wait()
		if ask(); local.Load() != members {
			t.Errorf("%d answers from memory", local.Load())
		}
	})
}
