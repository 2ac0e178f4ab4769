package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// crowd is a board that several writers and readers of two processes work on at once.
type crowd struct {
	stores  []*store.Store
	ref     leaderboard.PeriodRef
	members int
	score   func(*rand.Rand) int64

	mu      sync.Mutex
	answers []observed
}

func newCrowd(t *testing.T, dsn string, rules leaderboard.Rules, change func(*store.Config)) *crowd {
	t.Helper()
	c := &crowd{
		stores: []*store.Store{open(t, dsn, change), open(t, dsn, change)}, members: 300,
		score: func(rng *rand.Rand) int64 {
			if rng.IntN(10) < 3 {
				return 50 // thirty per cent have the same score
			}
			return rng.Int64N(100)
		},
	}
	b, _, err := c.stores[0].Boards.PutBoard(t.Context(), "crowd", rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.stores[0].Boards.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
	if err != nil {
		t.Fatal(err)
	}
	c.ref = p.Ref(&b)
	return c
}

func (c *crowd) member(rng *rand.Rand) string { return fmt.Sprintf("m%d", rng.IntN(c.members)) }

// write submits batches of scores and removes members.
func (c *crowd) write(ctx context.Context, s *store.Store, rng *rand.Rand, batches int) error {
	for range batches {
		if rng.IntN(5) == 0 {
			if _, err := s.Writer.Remove(ctx, leaderboard.RemoveRequest{Board: c.ref.Board, Member: c.member(rng)}); err != nil && !errors.Is(err, leaderboard.ErrNotRanked) {
				return err
			}
		}
		entries := make([]leaderboard.Submission, 1+rng.IntN(20))
		for i := range entries {
			tiebreak := rng.Int64N(2)
			entries[i] = leaderboard.Submission{Member: c.member(rng), Score: c.score(rng), Tiebreak: &tiebreak}
		}
		if _, err := s.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: c.ref.Board, Entries: entries}); err != nil {
			return err
		}
	}
	return nil
}

// among is a store that is asked each question among others.
type among struct {
	*store.Entries
	others []leaderboard.Question
}

func (a among) query(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.Question) leaderboard.Answer {
	answers, err := a.Entries.Query(ctx, ref, append([]leaderboard.Question{q}, a.others...))
	if err != nil {
		return leaderboard.Answer{Err: err}
	}
	return answers[0]
}

func (a among) Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	got := a.query(ctx, ref, leaderboard.Question{Page: &q})
	return got.Page, got.Err
}

func (a among) Members(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	got := a.query(ctx, ref, leaderboard.Question{Members: &q})
	return got.Members, got.Err
}

func (a among) ScoreRank(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	got := a.query(ctx, ref, leaderboard.Question{Score: &q})
	return got.Score, got.Err
}

func (a among) Moves(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	got := a.query(ctx, ref, leaderboard.Question{Moves: &q})
	return got.Moves, got.Err
}

// read asks one question of each kind and keeps the answers.
func (c *crowd) read(ctx context.Context, of *store.Store, rng *rand.Rand) error {
	var s leaderboard.Rankings = of.Entries
	if rng.IntN(2) == 0 {
		s = among{of.Entries, []leaderboard.Question{
			{Page: &leaderboard.PageQuery{Around: c.member(rng), Before: 3, Limit: 7}},
			{Page: &leaderboard.PageQuery{Offset: 70, Limit: 7}},
			{Members: &leaderboard.MembersQuery{Members: []string{c.member(rng)}}},
			{Score: &leaderboard.ScoreQuery{Score: c.score(rng)}},
		}}
	}
	mode := leaderboard.Query{Mode: []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense, leaderboard.ModeAll}[rng.IntN(4)]}
	after := leaderboard.Entry{Member: c.member(rng), Score: c.score(rng), CreatedTime: 1}
	if page, err := s.Page(ctx, c.ref, leaderboard.PageQuery{Query: mode, Offset: rng.Int64N(int64(c.members)), Limit: 1}); err == nil && len(page.Entries) > 0 {
		after = page.Entries[0].Entry
	}
	members := []string{c.member(rng)}
	for range rng.IntN(40) {
		if m := fmt.Sprintf("m%d", len(members)*7); m != members[0] {
			members = append(members, m)
		}
	}
	for _, ask := range []func() (observed, error){
		func() (observed, error) {
			return observeMembers(ctx, s, c.ref, leaderboard.MembersQuery{Query: mode, Members: members})
		},
		func() (observed, error) {
			return observePage(ctx, s, c.ref, leaderboard.PageQuery{Query: mode, Offset: rng.Int64N(int64(c.members)), Limit: rng.IntN(20)})
		},
		func() (observed, error) {
			return observePage(ctx, s, c.ref, leaderboard.PageQuery{Query: mode, Around: c.member(rng), Before: rng.IntN(9), Limit: 9 + rng.IntN(9)})
		},
		func() (observed, error) {
			key := string(rank.CodecOf(c.ref.Rules).Key(after))
			return observePage(ctx, s, c.ref, leaderboard.PageQuery{Query: mode, After: key, Limit: 1 + rng.IntN(20)})
		},
		func() (observed, error) {
			return observeScore(ctx, s, c.ref, leaderboard.ScoreQuery{Score: c.score(rng), Tiebreak: rng.Int64N(2)})
		},
		func() (observed, error) {
			return observeDistribution(ctx, s, c.ref, leaderboard.DistributionQuery{Buckets: 1 + rng.IntN(60)})
		},
	} {
		o, err := ask()
		if errors.Is(err, leaderboard.ErrNotRanked) || errors.Is(err, leaderboard.ErrOverloaded) {
			continue
		}
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.answers = append(c.answers, o)
		c.mu.Unlock()
	}
	return nil
}

// run has writers and readers on both stores at once, and judges every answer.
func (c *crowd) run(t *testing.T, writers, batches, readers int) {
	t.Helper()
	var writing, reading sync.WaitGroup
	written := make(chan struct{})
	for i := range writers {
		writing.Go(func() {
			if err := c.write(t.Context(), c.stores[i%2], rand.New(rand.NewPCG(1, uint64(i))), batches); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range readers {
		reading.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(i)))
			for {
				if err := c.read(t.Context(), c.stores[i%2], rng); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-written:
					if _, _, ok := c.stores[i%2].IndexMark(c.ref); ok { // on a busy machine it may come late
						return
					}
				default:
				}
			}
		})
	}
	writing.Wait()
	close(written)
	reading.Wait()
	t.Logf("%d answers", len(c.answers))
	checkReplay(t, c.stores[0], c.ref, c.answers)
	for i, s := range c.stores {
		at, buckets, ok := s.IndexMark(c.ref)
		t.Logf("store %d: index at seq %d with %d buckets (%t); %+v", i, at.Seq, buckets, ok, s.Entries.Reads())
		if !ok || buckets < 10 {
			t.Errorf("store %d did not use an index", i)
		}
	}
}

// TestIndexExactness: during all other work every answer is correct at the state that it names.
func TestIndexExactness(t *testing.T) {
	t.Parallel()
	equal := func(*rand.Rand) int64 { return 7 }
	for name, c := range map[string]struct {
		rules leaderboard.Rules
		score func(*rand.Rand) int64
	}{
		"desc":      {rules: leaderboard.Rules{Policy: leaderboard.PolicyLatest}},
		"asc":       {rules: leaderboard.Rules{Policy: leaderboard.PolicyLatest, Order: leaderboard.OrderAsc, Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderAsc}}},
		"all equal": {rules: leaderboard.Rules{Policy: leaderboard.PolicyLatest}, score: equal},
		"sum":       {rules: leaderboard.Rules{Policy: leaderboard.PolicySum, Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderAsc}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Dialects(t, func(t *testing.T, dsn string) {
				crowd := newCrowd(t, dsn, c.rules, everywhere)
				if c.score != nil {
					crowd.score = c.score
				}
				crowd.run(t, 4, 40, 4)
			})
		})
	}
}
