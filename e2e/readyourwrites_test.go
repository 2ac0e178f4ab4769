package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// TestTwoServersReadYourWrites: what one server has acknowledged, every other server knows at once when it is asked
// for with min_seq, in every kind of answer.
func TestTwoServersReadYourWrites(t *testing.T) {
	w := newWorld(t)
	a, b := w.serve(t, "server a"), w.serve(t, "server b")
	a.fill(t, "race", 2000, map[string]any{"policy": "latest"})
	const writers, rounds = 6, 60
	var mu sync.Mutex
	sources := map[string]int{}
	var all sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		all.Go(func() {
			member := fmt.Sprintf("writer-%d", i)
			for round := range rounds {
				// Ever better than all others in turn, so that the write moves the top.
				score := int64(1_000_000 + round*writers + i)
				source, err := writeAndRead(t.Context(), a.client, b.client, member, score)
				if err != nil {
					errs[i] = fmt.Errorf("%s, round %d: %w", member, round, err)
					return
				}
				mu.Lock()
				sources[source]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	t.Logf("top pages that had the write at once, by source: %v", sources)
	eventually(t, "the copy is right", func() error { _, err := b.verify(t.Context(), "race"); return err })
}

// writeAndRead writes at one server and looks for the write at the other: in its top, its member, its neighbourhood.
func writeAndRead(ctx context.Context, a, b *client, member string, score int64) (source string, err error) {
	answered, err := a.submit(ctx, "race", "", submission{member, score})
	var r receipt
	if err == nil {
		err = answered.decode(&r)
	}
	if err != nil {
		return "", fmt.Errorf("write: %w", err)
	}
	for _, path := range []string{"top?limit=10", "members/" + member + "?mode=tied", "members/" + member + "/around?before=2&after=2"} {
		var p page
		if err := b.get(ctx, fmt.Sprintf("/v1/boards/race/%s&min_seq=%d", path, r.Seq), &p); err != nil {
			return "", err
		}
		if p.Seq < r.Seq || p.Stale {
			return "", fmt.Errorf("%s: seq %d (stale: %t), want at least %d", path, p.Seq, p.Stale, r.Seq)
		}
		if p.Entries == nil {
			p.Entries = []entry{p.entry}
		} else if source == "" {
			source = p.Source
		}
		if !hasScore(p.Entries, member, score) {
			return "", fmt.Errorf("%s at seq %d: %s has not %d in %v", path, p.Seq, member, score, p.Entries)
		}
	}
	return source, nil
}

func hasScore(entries []entry, member string, score int64) bool {
	for _, e := range entries {
		if e.Member == member {
			return e.Score == score
		}
	}
	return false
}

// TestMinSeqAhead: a seq that the period has not reached is no reason to answer with less.
func TestMinSeqAhead(t *testing.T) {
	w := newWorld(t)
	s := w.serve(t, "server")
	s.fill(t, "race", 10, nil)
	a, err := s.call(t.Context(), http.MethodGet, "/v1/boards/race/top?min_seq=11", nil)
	if err != nil || a.status != http.StatusConflict || a.problem() != "/problems/seq-ahead" {
		t.Errorf("answer %d %s, %v, want 409 seq-ahead", a.status, a.body, err)
	}
}
