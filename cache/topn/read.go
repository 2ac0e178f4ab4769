package topn

import (
	"context"
	"fmt"
	"math"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// The reads below answer from the copy alone, or return the reason why they cannot: ErrMissing, ErrDamaged,
// ErrUncovered, ErrBehind, otherwise a failure of Redis. ErrNotRanked is an answer, and comes with the state at which
// it is true. short reports, also with an error, that the copy has shrunk below top_n though the period has more: its
// answers are exact, and a rebuild is due.

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

// canAnswer reports whether a copy with this dense rank of an entry can answer in a mode. The rank is 0 if it is too deep
// to be counted.
func canAnswer(mode leaderboard.Mode, dense int64) bool {
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
	case start < 0, !h.complete() && start+int64(q.Limit) > h.n, len(keys) > 0 && !canAnswer(q.Mode, dense):
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

// Standings answers a query about the i-th of the members alone. Errors: ErrUncovered, ErrBehind.
func (m *MemberRanks) Standings(i int, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	held := m.keys[i] != ""
	switch {
	case m.Seq < q.MinSeq:
		return nil, ErrBehind
	case !held && m.complete():
		return &leaderboard.Standings{State: m.State, Entries: []leaderboard.Standing{}, NotRanked: []string{q.Members[0]}}, nil
	case !held, !canAnswer(m.mode, m.ranks[i].Dense): // maybe not in the top N, or too deep for the mode
		return nil, ErrUncovered
	}
	selection := rank.Select(&q, m.keys[i:i+1])
	s, err := selection.Standings(m.codec, m.ranks[i:i+1])
	if err != nil {
		return nil, ErrDamaged
	}
	s.State = m.State
	return s, nil
}

// read reads a part of a copy, see read.lua: one round trip.
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
