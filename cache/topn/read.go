package cache

import (
	"context"
	"fmt"
	"math"

	"github.com/redis/go-redis/v9"

	"leaderboard"
	"leaderboard/rank"
)

// run executes one reading script: one round trip.
func (c *Copies) run(ctx context.Context, s *redis.Script, p leaderboard.PeriodRef, args ...any) (head, error) {
	raw, err := s.RunRO(ctx, c.client, c.keys(p), args...).Slice()
	if err != nil {
		return head{}, fmt.Errorf("cache: copy of period %d: %w", p.ID, err)
	}
	h, err := parseHead(raw)
	if err != nil {
		return head{}, err
	}
	c.keepAlive(ctx, p, &h)
	return h, nil
}

// keepAlive puts the end of a copy off that is read. Only reading keeps one alive, and only one read in half a lifetime
// pays for it. That this may fail is fine.
func (c *Copies) keepAlive(ctx context.Context, p leaderboard.PeriodRef, h *head) {
	if ttl := p.Rules.TTL(); h.ttl >= 0 && h.ttl < ttl/2 {
		_ = c.scripts.touch.Run(ctx, c.client, c.keys(p), ttl.Milliseconds()).Err()
	}
}

// Page answers from the copy alone, or says why it cannot: ErrMissing, ErrDamaged, ErrUncovered, ErrBehind, else a
// failure of Redis. ErrNotRanked is an answer.
func (c *Copies) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	page, _, err := c.page(ctx, p, q)
	return page, err
}

func (c *Copies) page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, head, error) {
	kind, value := "offset", any(min(q.Offset, math.MaxInt32)) // no copy is longer
	switch {
	case q.Around != "":
		kind, value = "around", q.Around
	case q.After != "":
		kind, value = "after", q.After
	}
	h, err := c.run(ctx, c.scripts.page, p, format(p), string(q.Mode), q.Limit, kind, value, q.Before)
	if err != nil {
		return nil, h, err
	}
	start, first, keys := h.rest.int(), h.rest.int(), h.rest.keys()
	switch {
	case h.rest.err != nil:
		return nil, h, h.rest.err
	case h.Seq < q.MinSeq:
		return nil, h, ErrBehind
	case start < 0 && h.complete():
		return nil, h, leaderboard.ErrNotRanked
	case start < 0, !h.complete() && start+int64(q.Limit) > h.n:
		return nil, h, ErrUncovered
	}
	page := &leaderboard.Page{State: h.State}
	ranks := rank.Number(q.Mode, rank.Ranks{Strict: start + 1, Tied: first, Dense: first}, keys)
	if page.Entries, err = ranked(rank.CodecOf(p.Rules), keys, ranks); err != nil {
		return nil, h, ErrDamaged
	}
	if n := len(keys); n > 0 && start+int64(n) < h.Total {
		page.Next = string(keys[n-1])
	}
	return page, h, nil
}

func ranked(codec rank.Codec, keys []rank.Key, ranks []int64) ([]leaderboard.Ranked, error) {
	out := make([]leaderboard.Ranked, len(keys))
	for i, k := range keys {
		e, err := codec.Entry(k)
		if err != nil {
			return nil, err
		}
		out[i] = leaderboard.Ranked{Rank: ranks[i], Entry: e}
	}
	return out, nil
}

// Members answers from the copy alone, see Page for the errors. A member that an incomplete copy does not hold leaves
// the whole question uncovered.
func (c *Copies) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	if q.Narrow() {
		s, _, err := c.narrow(ctx, p, q)
		return s, err
	}
	pl, _, err := c.places(ctx, p, q.Mode, q.Members)
	if err != nil {
		return nil, err
	}
	return pl.standings(0, q)
}

// ScoreRank answers from the copy alone, see Page for the errors. An incomplete copy covers what is better than its
// last entry: at or below that, entries that are as good may lie outside.
func (c *Copies) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	r, _, err := c.scoreRank(ctx, p, q)
	return r, err
}

func (c *Copies) scoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, head, error) {
	prefix := rank.CodecOf(p.Rules).Prefix(q.Score, q.Tiebreak)
	h, err := c.run(ctx, c.scripts.score, p, format(p), string(prefix))
	if err != nil {
		return nil, h, err
	}
	better, asGood := h.rest.int(), h.rest.int()
	switch {
	case h.rest.err != nil:
		return nil, h, h.rest.err
	case h.Seq < q.MinSeq:
		return nil, h, ErrBehind
	case !h.complete() && (len(h.floor) < rank.PrefixLen || prefix >= h.floor.Prefix()):
		return nil, h, ErrUncovered
	}
	return &leaderboard.ScoreRank{State: h.State, Strict: asGood + 1, Tied: better + 1}, h, nil
}
