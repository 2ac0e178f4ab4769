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
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// combinedCrowd is several boards that writers and readers of two processes work on at once.
type combinedCrowd struct {
	stores  []*store.Store
	refs    []leaderboard.PeriodRef
	members int

	mu      sync.Mutex
	answers []combinedAnswer
}

// combinedAnswer is a question with its answer, a page or a member's standings.
type combinedAnswer struct {
	query  leaderboard.CombinedQuery
	page   *leaderboard.CombinedPage
	member *leaderboard.CombinedStandings
}

func newCombinedCrowd(t *testing.T, dsn string, rules leaderboard.Rules, change func(*store.Config)) *combinedCrowd {
	t.Helper()
	c := &combinedCrowd{stores: []*store.Store{open(t, dsn, change), open(t, dsn, change)}, members: 300}
	rules.Policy = leaderboard.PolicyLatest
	for _, name := range []string{"card", "moba", "rpg"} {
		c.refs = append(c.refs, dbtest.MakeBoard(t, c.stores[0], name, rules))
	}
	return c
}

func (c *combinedCrowd) name(rng *rand.Rand) string { return fmt.Sprintf("m%d", rng.IntN(c.members)) }

// write submits batches to one board, or the same batch to all, and removes members.
func (c *combinedCrowd) write(ctx context.Context, s *store.Store, rng *rand.Rand, batches int) error {
	for range batches {
		boards := []leaderboard.PeriodRef{c.refs[rng.IntN(len(c.refs))]}
		if rng.IntN(5) == 0 {
			if _, err := s.Writer.Remove(ctx, leaderboard.RemoveRequest{Board: boards[0].Board, Member: c.name(rng)}); err != nil && !errors.Is(err, leaderboard.ErrNotRanked) {
				return err
			}
		}
		same := rng.IntN(3) == 0
		if same {
			boards = c.refs
		}
		entries := make([]leaderboard.Submission, 1+rng.IntN(20))
		for i := range entries {
			tiebreak, created := rng.Int64N(2), leaderboard.Micros(1+rng.Int64N(3))
			entries[i] = leaderboard.Submission{Member: c.name(rng), Score: rng.Int64N(30), Tiebreak: &tiebreak}
			if same {
				entries[i].CreatedTime = &created
			}
		}
		for _, b := range boards {
			if _, err := s.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: b.Board, Entries: entries}); err != nil {
				return err
			}
		}
	}
	return nil
}

// read asks one question of each kind and keeps the answers.
func (c *combinedCrowd) read(ctx context.Context, s *store.Store, rng *rand.Rand) error {
	mode := []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied}[rng.IntN(2)]
	after := leaderboard.Entry{Member: c.name(rng), Score: rng.Int64N(30), CreatedTime: leaderboard.Micros(rng.Int64N(3))}
	key := string(rank.CodecOf(c.refs[0].Rules).Key(after))
	for _, q := range []leaderboard.CombinedQuery{
		{Offset: rng.Int64N(int64(3 * c.members)), Limit: rng.IntN(20)},
		{After: key, AfterBoard: c.refs[rng.IntN(3)].Board, Limit: 1 + rng.IntN(20)},
		{Around: c.name(rng), Before: rng.IntN(9), Limit: 9 + rng.IntN(9)},
	} {
		q.Mode = mode
		page, err := s.Entries.CombinedPage(ctx, c.refs, q)
		if err := c.keep(combinedAnswer{query: q, page: page}, err); err != nil {
			return err
		}
	}
	q := leaderboard.CombinedQuery{Mode: mode, Around: c.name(rng)}
	standings, err := s.Entries.CombinedMember(ctx, c.refs, leaderboard.CombinedMemberQuery{Mode: mode, Member: q.Around})
	return c.keep(combinedAnswer{query: q, member: standings}, err)
}

func (c *combinedCrowd) keep(a combinedAnswer, err error) error {
	if errors.Is(err, leaderboard.ErrNotRanked) || errors.Is(err, leaderboard.ErrOverloaded) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, a)
	return err
}

// run has writers and readers on both stores at once, and judges every answer.
func (c *combinedCrowd) run(t *testing.T) {
	t.Helper()
	var writing, reading sync.WaitGroup
	written := make(chan struct{})
	for i := range 4 {
		writing.Go(func() {
			if err := c.write(t.Context(), c.stores[i%2], rand.New(rand.NewPCG(1, uint64(i))), 40); err != nil {
				t.Error(err)
			}
		})
		reading.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(i)))
			for {
				if err := c.read(t.Context(), c.stores[i%2], rng); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-written:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(written)
	reading.Wait()
	c.check(t)
}

// check holds every answer against a naive merge of the states that it names.
func (c *combinedCrowd) check(t *testing.T) {
	t.Helper()
	oracle, err := storetest.NewCombinedOracle(t.Context(), storetest.Of(c.stores[0], storetest.Added{}), c.refs)
	if err != nil {
		t.Fatal(err)
	}
	vectors := map[string]bool{}
	for _, a := range c.answers {
		var states []leaderboard.State
		if a.page != nil {
			states, err = a.page.States, oracle.CheckPage(a.query, a.page)
		} else {
			states, err = a.member.States, oracle.CheckMember(a.query.Mode, a.query.Around, a.member)
		}
		if err != nil {
			t.Fatal(err)
		}
		vectors[fmt.Sprint(states[0].Seq, states[1].Seq, states[2].Seq)] = true
	}
	t.Logf("%d answers at %d combinations of states", len(c.answers), len(vectors))
	if len(c.answers) < 50 || len(vectors) < 10 {
		t.Error("the test tests little")
	}
}

// TestCombinedExactness: during all other work every answer is correct at the states that it names.
func TestCombinedExactness(t *testing.T) {
	t.Parallel()
	asc := leaderboard.Rules{Order: leaderboard.OrderAsc, Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderAsc}}
	for name, rules := range map[string]leaderboard.Rules{"desc": {}, "asc": asc} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Dialects(t, func(t *testing.T, dsn string) { newCombinedCrowd(t, dsn, rules, everywhere).run(t) })
		})
	}
}
