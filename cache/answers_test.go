package cache

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
	"leaderboard/cache/cachetest"
)

// TestAnswerCacheAsksAgainBehindMinSeq: a layer that is behind what the caller has seen is asked again for what it
// needs: nothing is down, so nothing is stale.
func TestAnswerCacheAsksAgainBehindMinSeq(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := testAnswerCache(), &source{seq: 6}
		ask(t, k, s, 6)
		time.Sleep(2 * time.Second)
		lagging := func(ctx context.Context, minSeq int64) (*leaderboard.Page, error) {
			if minSeq == 0 {
				return &leaderboard.Page{State: leaderboard.State{Revision: leaderboard.Revision{Seq: 5}, Source: leaderboard.SourceRedis}}, nil
			}
			return s.load(ctx, minSeq)
		}
		want(t, cachetest.Must(k.get(t.Context(), "k", 6, lagging))(t), 6, leaderboard.SourceRedis, false)
	})
}
