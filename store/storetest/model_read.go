package storetest

import (
	"context"
	"math/big"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// look is a period at its present state, sorted.
type look struct {
	rules  *leaderboard.Rules
	state  leaderboard.State
	sorted []leaderboard.Entry
}

// look enters the model; the caller leaves it.
func (m *Model) look(ctx context.Context, ref leaderboard.PeriodRef, minSeq int64) (*look, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	return m.lookAt(ref, minSeq)
}

// lookAt is look for who has entered.
func (m *Model) lookAt(ref leaderboard.PeriodRef, minSeq int64) (*look, error) {
	p := m.periods[ref.ID]
	if p == nil || p.History != ref.History {
		return nil, leaderboard.ErrPeriodNotFound
	}
	if p.LastSeq < minSeq {
		return nil, leaderboard.ErrSeqAhead
	}
	v := &look{rules: ref.Rules, state: leaderboard.State{
		Revision: p.Revision(), Total: int64(len(p.entries)), Source: leaderboard.SourceMySQL,
	}}
	for _, e := range p.entries {
		v.sorted = append(v.sorted, e)
	}
	slices.SortFunc(v.sorted, ref.Rules.Compare)
	return v, nil
}

// ranks returns the ranks of an entry that an answer in a mode tells.
func (v *look) ranks(e leaderboard.Entry, mode leaderboard.Mode) leaderboard.Ranks {
	r := leaderboard.Ranks{Strict: v.rank(e, leaderboard.ModeStrict), Tied: v.rank(e, leaderboard.ModeTied)}
	if mode.WithDense() {
		r.Dense = v.rank(e, leaderboard.ModeDense)
	}
	return r
}

// rank returns the rank of an entry by the definition of the mode: it counts.
func (v *look) rank(e leaderboard.Entry, mode leaderboard.Mode) int64 {
	n, last := int64(1), (*leaderboard.Entry)(nil)
	for i := range v.sorted {
		o := &v.sorted[i]
		switch mode {
		case leaderboard.ModeTied:
			if v.rules.Better(*o, e) {
				n++
			}
		case leaderboard.ModeDense:
			if v.rules.Better(*o, e) && (last == nil || v.rules.Better(*last, *o)) {
				n++
				last = o
			}
		default:
			if v.rules.Compare(*o, e) < 0 {
				n++
			}
		}
	}
	return n
}

func (v *look) place(member string) int {
	return slices.IndexFunc(v.sorted, func(e leaderboard.Entry) bool { return e.Member == member })
}

// Page does what store.Store.Page does.
func (m *Model) Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	defer m.leave()
	v, err := m.look(ctx, ref, q.MinSeq)
	if err != nil {
		return nil, err
	}
	total := len(v.sorted)
	start := int(min(q.Offset, int64(total)))
	switch {
	case q.Around != "":
		at := v.place(q.Around)
		if at < 0 {
			return nil, leaderboard.ErrNotRanked
		}
		start = max(0, min(at-q.Before, total-q.Limit))
	case q.After != "":
		start = 0
		for start < total && rank.CodecOf(ref.Rules).Key(v.sorted[start]) <= rank.Key(q.After) {
			start++
		}
	}
	stop := min(start+q.Limit, total)
	page := &leaderboard.Page{State: v.state, Entries: []leaderboard.Ranked{}}
	for _, e := range v.sorted[start:stop] {
		page.Entries = append(page.Entries, leaderboard.Ranked{Ranks: v.ranks(e, q.Mode), Entry: e})
	}
	if stop < total && stop > start {
		page.Next = string(rank.CodecOf(ref.Rules).Key(v.sorted[stop-1]))
	}
	return page, nil
}

// Members does what store.Store.Members does.
func (m *Model) Members(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	defer m.leave()
	v, err := m.look(ctx, ref, q.MinSeq)
	if err != nil {
		return nil, err
	}
	out := &leaderboard.Standings{State: v.state, Entries: []leaderboard.Standing{}}
	among := &look{rules: v.rules, sorted: slices.DeleteFunc(slices.Clone(v.sorted), func(e leaderboard.Entry) bool {
		return !slices.Contains(q.Members, e.Member)
	})}
	out.Ranked = len(among.sorted)
	for i, e := range among.sorted {
		ranked := leaderboard.Ranked{Ranks: v.ranks(e, q.Mode), Entry: e}
		one := leaderboard.Standing{Ranked: ranked, Position: among.ranks(e, leaderboard.ModeAll)}
		if i >= q.Offset && (q.Limit == 0 || i < q.Offset+q.Limit) {
			out.Entries = append(out.Entries, one)
		}
		if e.Member == q.Self {
			out.Self = &one
		}
	}
	for _, member := range q.Members {
		if v.place(member) < 0 {
			out.NotRanked = append(out.NotRanked, member)
		}
	}
	return out, nil
}

// ScoreRank does what store.Store.ScoreRank does.
func (m *Model) ScoreRank(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	defer m.leave()
	v, err := m.look(ctx, ref, q.MinSeq)
	if err != nil {
		return nil, err
	}
	// The newcomer arrives last and has the greatest of all members.
	newcomer := leaderboard.Entry{Member: "\xff", Score: q.Score, Tiebreak: q.Tiebreak, CreatedTime: leaderboard.Forever}
	return &leaderboard.ScoreRank{State: v.state, Ranks: v.ranks(newcomer, leaderboard.ModeStrict)}, nil
}

// Distribution does what store.Store.Distribution does, in whole numbers without a bound.
func (m *Model) Distribution(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	defer m.leave()
	v, err := m.look(ctx, ref, q.MinSeq)
	if err != nil {
		return nil, err
	}
	out := &leaderboard.Distribution{State: v.state}
	if len(v.sorted) == 0 {
		return out, nil
	}
	ends := []int64{v.sorted[0].Score, v.sorted[len(v.sorted)-1].Score}
	slices.Sort(ends)
	least, most := big.NewInt(ends[0]), big.NewInt(ends[1])
	// The least width with which q.Buckets buckets reach from the least score to the greatest.
	scores := new(big.Int).Add(new(big.Int).Sub(most, least), big.NewInt(1))
	n := big.NewInt(int64(q.Buckets))
	width := new(big.Int).Div(new(big.Int).Add(scores, new(big.Int).Sub(n, big.NewInt(1))), n)
	for from := least; from.Cmp(most) <= 0; from = new(big.Int).Add(from, width) {
		to := new(big.Int).Sub(new(big.Int).Add(from, width), big.NewInt(1))
		if to.Cmp(most) > 0 {
			to = most
		}
		b := leaderboard.Bucket{From: from.Int64(), To: to.Int64()}
		for _, e := range v.sorted {
			if e.Score >= b.From && e.Score <= b.To {
				b.Count++
			}
		}
		out.Buckets = append(out.Buckets, b)
	}
	return out, nil
}

// Ask does what store.Store.Ask does.
func (m *Model) Ask(ctx context.Context, ref leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	return leaderboard.AskEach(ctx, m, ref, questions), nil
}
