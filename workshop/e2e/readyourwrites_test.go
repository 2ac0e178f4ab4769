package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// TestTwoServersReadYourWrites: a write that one server has acknowledged is in every kind of answer of another server with
// min_seq, at once.
func TestTwoServersReadYourWrites(t *testing.T) {
	w := newWorld(t)
	a, b := w.serve(t, "server a"), w.serve(t, "server b")
	a.fill(t, "race", 2000, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	const writers, rounds = 6, 60
	var mu sync.Mutex
	sources, late := map[leaderboard.Source]int{}, 0
	var all sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		all.Go(func() {
			member := fmt.Sprintf("writer-%d", i)
			for round := range rounds {
				// Ever better than all others in turn, so that the write moves the top.
				score := int64(1_000_000 + round*writers + i)
				source, stale, err := writeAndRead(t.Context(), a.api, b.api, member, score)
				if err != nil {
					errs[i] = fmt.Errorf("%s, round %d: %w", member, round, err)
					return
				}
				mu.Lock()
				sources[source]++
				if stale {
					late++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if late > writers*rounds/10 {
		t.Errorf("%d of %d writes were read in stale answers", late, writers*rounds)
	}
	t.Logf("top pages that had the write at once, by source: %v", sources)
	eventually(t, "the copy is right", func() error { _, err := b.verify(t.Context(), "race"); return err })
}

// writeAndRead writes at one server and reads at the other: the top, the member, the entries around it. stale reports whether one
// of these was marked stale, as any answer may be on a busy machine.
func writeAndRead(ctx context.Context, a, b *api, member string, score int64) (source leaderboard.Source, stale bool, err error) {
	r, err := a.submit(ctx, "race", "", scored(member, score))
	if err != nil {
		return "", false, fmt.Errorf("write: %w", err)
	}
	query := client.ReadQuery{MinSeq: r.Seq}
	top, err := b.Top(ctx, "race", client.TopQuery{Limit: 10, ReadQuery: query})
	if err == nil {
		err = checkWritten(&top.State, top.Entries, r.Seq, member, score)
	}
	if err != nil {
		return "", false, fmt.Errorf("top: %w", err)
	}
	around, err := b.Around(ctx, "race", member, 2, 2, query)
	if err == nil {
		err = checkWritten(&around.State, around.Entries, r.Seq, member, score)
	}
	if err != nil {
		return "", false, fmt.Errorf("around: %w", err)
	}
	query.Mode = leaderboard.ModeTied
	one, err := b.Member(ctx, "race", member, query)
	if err == nil {
		err = checkWritten(&one.State, []client.Entry{one.Entry}, r.Seq, member, score)
	}
	if err != nil {
		return "", false, fmt.Errorf("member: %w", err)
	}
	return top.Source, top.Stale || around.Stale || one.Stale, nil
}

// checkWritten looks for a write in an answer, which has it even if it is stale.
func checkWritten(s *client.State, entries []client.Entry, seq int64, member string, score int64) error {
	if s.Seq < seq {
		return fmt.Errorf("seq %d (stale: %t), want at least %d", s.Seq, s.Stale, seq)
	}
	i := slices.IndexFunc(entries, func(e client.Entry) bool { return e.Member == member })
	if i < 0 || entries[i].Score != score {
		return fmt.Errorf("at seq %d %s has not %d in %v", s.Seq, member, score, entriesOf(entries))
	}
	return nil
}

// TestMinSeqAhead: a read with a min_seq that the period has not reached fails, and is not answered with less.
func TestMinSeqAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server")
	s.fill(t, "race", 10, leaderboard.Rules{})
	p, err := s.Top(t.Context(), "race", client.TopQuery{ReadQuery: client.ReadQuery{MinSeq: 11}})
	if status(err) != http.StatusConflict || !errors.Is(err, leaderboard.ErrSeqAhead) {
		t.Errorf("answer %+v, %v, want 409 seq-ahead", p, err)
	}
}

// TestKilledRightAfterTheAnswer: a server acknowledges a write and dies before it updates the copy in Redis. The others show
// the write when it is max_age old at the latest.
func TestKilledRightAfterTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.serve(t, "server b")
	b.fill(t, "race", 100, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	b.mustRebuild(t, "race")
	for round := range 3 {
		a := (&world{dsn: w.dsn}).serve(t, "server a without Redis")
		score := int64(1_000_000 + round)
		a.mustSubmit(t, "race", scored("last", score))
		acknowledged := time.Now()
		a.kill9(t)
		for shown := false; !shown; {
			sent := time.Now()
			p, err := b.top(t.Context(), "race", 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			shown = p.Entries[0].Score == score
			if age := sent.Sub(acknowledged); !shown && !p.Stale && age > ageLimit {
				t.Fatalf("round %d: asked for %s after the acknowledgement, the answer lacks the write", round, age)
			}
		}
	}
}
