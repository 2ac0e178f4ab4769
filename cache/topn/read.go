package topn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/redis/go-redis/v9"

	"leaderboard"
	"leaderboard/rank"
)

// The reads below answer from the copy alone, or return why they cannot: ErrMissing, ErrDamaged, ErrUncovered, ErrBehind,
// otherwise a failure of Redis. ErrNotRanked is an answer, and comes with the state at which it is true. short reports, also
// beside an error, that the copy has shrunk below top_n though the period has more: its answers are exact, and a rebuild is
// due.

// Page reads a page in one round trip.
func (c *Copies) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (page *leaderboard.Page, short bool, err error) {
	what, args := "offset", []any{q.Limit, min(q.Offset, math.MaxInt32)} // no copy is longer
	switch {
	case q.Around != "":
		what, args = "around", []any{q.Limit, q.Around, q.Before}
	case q.After != "":
		what, args = "after", []any{q.Limit, q.After}
	}
	h, err := c.read(ctx, p, q.Mode, what, args...)
	if err != nil {
		return nil, false, err
	}
	page, err = h.page(p, q)
	return page, h.short(p), err
}

// Reaches reports whether a copy may have a part of a page. It does not ask Redis.
func (c *Copies) Reaches(p leaderboard.PeriodRef, q leaderboard.PageQuery) bool {
	return q.Around != "" || q.After != "" || q.Offset < int64(p.Rules.TopN+c.slack(p))
}

// tells reports whether a copy with this dense rank of an entry can answer in a mode. Too deep to be counted, the rank is 0.
func tells(mode leaderboard.Mode, dense int64) bool {
	return dense != 0 || mode != leaderboard.ModeDense
}

func (h *head) page(p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	start, tied, dense, keys := h.rest.int(), h.rest.int(), h.rest.int(), h.rest.keys()
	switch {
	case h.rest.err != nil:
		return nil, h.rest.err
	case h.Seq < q.MinSeq:
		return nil, ErrBehind
	case start < 0 && h.complete():
		return &leaderboard.Page{State: h.State}, leaderboard.ErrNotRanked
	case start < 0, !h.complete() && start+int64(q.Limit) > h.n, len(keys) > 0 && !tells(q.Mode, dense):
		return nil, ErrUncovered
	}
	page := &leaderboard.Page{State: h.State, Entries: make([]leaderboard.Ranked, len(keys))}
	codec := rank.CodecOf(p.Rules)
	ranks := rank.Number(leaderboard.Ranks{Strict: start + 1, Tied: tied, Dense: dense}, keys)
	for i, k := range keys {
		e, err := codec.Entry(k)
		if err != nil {
			return nil, ErrDamaged
		}
		page.Entries[i] = leaderboard.Ranked{Ranks: ranks[i], Entry: e}
	}
	if n := len(keys); n > 0 && start+int64(n) < h.Total {
		page.Next = string(keys[n-1])
	}
	return page, nil
}

// ScoreRank reads the rank of a score in one round trip. An incomplete copy covers the scores that are better than its last
// entry: at or below that, entries that are as good may be missing from the copy.
func (c *Copies) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (r *leaderboard.ScoreRank, short bool, err error) {
	prefix := rank.CodecOf(p.Rules).Prefix(q.Score, q.Tiebreak)
	h, err := c.read(ctx, p, "", "score", string(prefix))
	if err != nil {
		return nil, false, err
	}
	better, asGood := h.rest.int(), h.rest.int()
	switch {
	case h.rest.err != nil:
		return nil, h.short(p), h.rest.err
	case h.Seq < q.MinSeq:
		return nil, h.short(p), ErrBehind
	case !h.complete() && (len(h.floor) < rank.PrefixLen || prefix >= h.floor.Prefix()):
		return nil, h.short(p), ErrUncovered
	}
	return &leaderboard.ScoreRank{State: h.State, Ranks: leaderboard.Ranks{Strict: asGood + 1, Tied: better + 1}}, h.short(p), nil
}

// Members reads the standings of members. A member that an incomplete copy does not hold leaves the whole query
// uncovered.
func (c *Copies) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (s *leaderboard.Standings, short bool, err error) {
	if q.Subset() {
		return c.subset(ctx, p, q)
	}
	ranks, short, err := c.MemberRanks(ctx, p, q.Mode, q.Members)
	if err != nil {
		return nil, short, err
	}
	s, err = ranks.Standings(0, q)
	return s, short, err
}

// MemberRanks are the ranks of members in the copy, in the order of the query.
type MemberRanks struct {
	head
	codec rank.Codec
	mode  leaderboard.Mode
	keys  []rank.Key          // "" for members that the copy does not hold
	ranks []leaderboard.Ranks // Dense is 0 when it is too deep to count
}

// MemberRanks looks any number of members up in one round trip.
func (c *Copies) MemberRanks(ctx context.Context, p leaderboard.PeriodRef, mode leaderboard.Mode, members []string) (m *MemberRanks, short bool, err error) {
	args := make([]any, len(members))
	for i, m := range members {
		args[i] = m
	}
	h, err := c.read(ctx, p, mode, "members", args...)
	if err != nil {
		return nil, false, err
	}
	m = &MemberRanks{head: h, codec: rank.CodecOf(p.Rules), mode: mode, keys: h.rest.keys(), ranks: make([]leaderboard.Ranks, len(members))}
	at, tied, dense := h.rest.ints(), h.rest.ints(), h.rest.ints()
	if h.rest.err != nil {
		return nil, h.short(p), h.rest.err
	}
	for i, k := range m.keys {
		if k == "" {
			continue
		}
		if !k.Valid() {
			return nil, h.short(p), ErrDamaged
		}
		m.ranks[i] = leaderboard.Ranks{Strict: at[i] + 1, Tied: tied[i], Dense: dense[i]}
	}
	return m, h.short(p), nil
}

// Standings answers q, which asks for no subset and whose members are those from the given place on. Errors:
// ErrUncovered, ErrBehind.
func (m *MemberRanks) Standings(from int, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	if m.Seq < q.MinSeq {
		return nil, ErrBehind
	}
	var notRanked []string
	held := make([]int, 0, len(q.Members))
	for i := from; i < from+len(q.Members); i++ {
		switch {
		case m.keys[i] != "" && tells(m.mode, m.ranks[i].Dense):
			held = append(held, i)
		case m.keys[i] == "" && m.complete():
			notRanked = append(notRanked, q.Members[i-from])
		default:
			return nil, ErrUncovered // too deep for the mode, or maybe not in the top N
		}
	}
	slices.SortFunc(held, func(a, b int) int { return cmp.Compare(m.keys[a], m.keys[b]) })
	keys, ranks := make([]rank.Key, len(held)), make([]leaderboard.Ranks, len(held))
	for i, at := range held {
		keys[i], ranks[i] = m.keys[at], m.ranks[at]
	}
	selection := rank.Select(&q, keys)
	s, err := selection.Standings(m.codec, ranks)
	if err != nil {
		return nil, ErrDamaged
	}
	s.State, s.NotRanked = m.State, notRanked
	return s, nil
}

// subsetAttempts bounds how often the two halves of a subset are read again because the copy moved between them.
const subsetAttempts = 3

// subset answers a query that shows some of many members: first it reads the keys of all, which decide who is shown, then
// the ranks of those at the same state. A copy that moves on all the time is ErrUncovered.
func (c *Copies) subset(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (s *leaderboard.Standings, short bool, err error) {
	for range subsetAttempts {
		keys, h, err := c.held(ctx, p, q.Members)
		switch {
		case err != nil:
			return nil, h.short(p), err
		case h.Seq < q.MinSeq:
			return nil, h.short(p), ErrBehind
		}
		var absent []string
		for i, k := range keys {
			if k == "" {
				absent = append(absent, q.Members[i])
			}
		}
		if absent != nil && !h.complete() {
			return nil, h.short(p), ErrUncovered
		}
		keys = slices.DeleteFunc(keys, func(k rank.Key) bool { return k == "" })
		slices.Sort(keys)
		s, same, err := c.shown(ctx, p, &q, keys, h.State)
		if err != nil {
			return nil, h.short(p), err
		}
		if same {
			s.State, s.NotRanked = h.State, absent
			return s, h.short(p), nil
		}
	}
	return nil, false, ErrUncovered
}

// shown reads the ranks of the members that a query shows; same is false when the copy is no longer at the given state.
func (c *Copies) shown(ctx context.Context, p leaderboard.PeriodRef, q *leaderboard.MembersQuery, keys []rank.Key,
	at leaderboard.State,
) (s *leaderboard.Standings, same bool, err error) {
	selection := rank.Select(q, keys)
	shown := selection.Keys()
	ranks := make([]leaderboard.Ranks, len(shown))
	if len(shown) > 0 {
		members := make([]string, len(shown))
		for i, k := range shown {
			members[i] = k.Member()
		}
		m, _, err := c.MemberRanks(ctx, p, q.Mode, members)
		if err != nil || m.State != at {
			return nil, false, err
		}
		for i, r := range m.ranks {
			if m.keys[i] != shown[i] || !tells(q.Mode, r.Dense) { // trimmed since, or rebuilt: a shorter copy at the same state
				return nil, false, ErrUncovered
			}
		}
		ranks = m.ranks
	}
	s, err = selection.Standings(rank.CodecOf(p.Rules), ranks)
	if err != nil {
		return nil, false, ErrDamaged
	}
	return s, true, nil
}

// held reads the keys of members in the order of the query, "" for those that the copy does not hold: one round trip. The
// keys are read beside the script, in one transaction: to take a thousand values through Lua costs Redis more than to look
// them up.
func (c *Copies) held(ctx context.Context, p leaderboard.PeriodRef, members []string) ([]rank.Key, head, error) {
	raw, values, err := c.heldOnce(ctx, p, members, c.scripts.info.EvalShaRO)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		raw, values, err = c.heldOnce(ctx, p, members, c.scripts.info.EvalRO)
	}
	if err != nil {
		return nil, head{}, fmt.Errorf("topn: copy of period %d: %w", p.ID, err)
	}
	_, h, err := parseInfo(raw, p)
	if err != nil {
		return nil, head{}, err
	}
	if len(values) != len(members) {
		return nil, h, ErrDamaged // not a hash, or gone
	}
	c.keepAlive(ctx, p, &h)
	keys := make([]rank.Key, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok {
			if keys[i] = rank.Key(s); !keys[i].Valid() {
				return nil, h, ErrDamaged
			}
		}
	}
	return keys, h, nil
}

// heldOnce reads the state and the keys in one transaction. The error is that of the state.
func (c *Copies) heldOnce(ctx context.Context, p leaderboard.PeriodRef, members []string, run eval) (state, values []any, err error) {
	keys := c.keys(p)
	tx := c.client.TxPipeline()
	stateCmd := run(ctx, tx, keys, format(p))
	valuesCmd := tx.HMGet(ctx, keys[1], members...)
	if _, err := tx.Exec(ctx); err != nil && stateCmd.Err() == nil && valuesCmd.Err() == nil {
		return nil, nil, err
	}
	state, err = stateCmd.Slice()
	return state, valuesCmd.Val(), err
}

// read asks for a part of a copy, see read.lua: one round trip.
func (c *Copies) read(ctx context.Context, p leaderboard.PeriodRef, mode leaderboard.Mode, what string, args ...any) (head, error) {
	args = append([]any{format(p), string(mode), what}, args...)
	raw, err := c.scripts.read.RunRO(ctx, c.client, c.keys(p), args...).Slice()
	if err != nil {
		return head{}, fmt.Errorf("topn: copy of period %d: %w", p.ID, err)
	}
	h, err := parseHead(raw, p)
	if err != nil {
		return head{}, err
	}
	c.keepAlive(ctx, p, &h)
	return h, nil
}

// keepAlive extends the TTL of a copy that is read. Only reading keeps a copy alive, and only one read in half a
// lifetime costs a command. It may fail.
func (c *Copies) keepAlive(ctx context.Context, p leaderboard.PeriodRef, h *head) {
	if ttl := p.Rules.TTL(); h.ttl >= 0 && h.ttl < ttl/2 {
		_ = c.scripts.touch.Run(ctx, c.client, c.keys(p), ttl.Milliseconds()).Err()
	}
}
