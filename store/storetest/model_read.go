package storetest

import (
	"context"
	"math/big"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// look is a period at its present state, sorted.
type look struct {
	rules  *leaderboard.Rules
	state  leaderboard.State
	sorted []leaderboard.Entry
	bodies map[string]string // metadata by member
}

// look enters the model; the caller leaves it.
func (m *Model) look(ctx context.Context, method string, ref leaderboard.PeriodRef, minSeq int64) (*look, error) {
	if err := m.enter(ctx, method); err != nil {
		return nil, err
	}
	return m.answer(ref, minSeq)
}

// answer is lookAt for an answer about one period.
func (m *Model) answer(ref leaderboard.PeriodRef, minSeq int64) (*look, error) {
	v, err := m.lookAt(ref, minSeq)
	if err == nil && m.OnState != nil {
		m.OnState(&v.state)
	}
	return v, err
}

// lookAt is look with the model locked.
func (m *Model) lookAt(ref leaderboard.PeriodRef, minSeq int64) (*look, error) {
	if !ref.HasRow() {
		return lookAtNothing(ref, minSeq)
	}
	p := m.periods[ref.ID]
	if p == nil || p.Incarnation != ref.Incarnation {
		return nil, leaderboard.ErrPeriodNotFound
	}
	if p.LastSeq < minSeq {
		return nil, leaderboard.ErrSeqAhead
	}
	v := &look{rules: ref.Rules, state: leaderboard.State{
		Revision: p.Revision(), Total: int64(len(p.entries)), Source: leaderboard.SourceMySQL,
	}, bodies: p.metadata}
	for _, e := range p.entries {
		v.sorted = append(v.sorted, e)
	}
	slices.SortFunc(v.sorted, ref.Rules.Compare)
	return v, nil
}

func lookAtNothing(ref leaderboard.PeriodRef, minSeq int64) (*look, error) {
	if minSeq > 0 {
		return nil, leaderboard.ErrSeqAhead
	}
	return &look{rules: ref.Rules, state: leaderboard.StateWithoutRow(&ref)}, nil
}

// ranks returns the ranks of an entry that an answer in a mode has.
func (v *look) ranks(e leaderboard.Entry, mode leaderboard.Mode) leaderboard.Ranks {
	r := leaderboard.Ranks{Strict: v.rank(e, leaderboard.ModeStrict), Tied: v.rank(e, leaderboard.ModeTied)}
	if mode.WithDense() {
		r.Dense = v.rank(e, leaderboard.ModeDense)
	}
	return r
}

// ranked returns an entry as the answer to a query has it.
func (v *look) ranked(e leaderboard.Entry, q leaderboard.Query) leaderboard.Ranked {
	out := leaderboard.Ranked{Ranks: v.ranks(e, q.Mode), Entry: e}
	if q.Metadata {
		out.Metadata = v.bodies[e.Member]
	}
	return out
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

// Page is the model of store.Entries.Page.
func (m *Model) Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	defer m.leave()
	v, err := m.look(ctx, "Page", ref, q.MinSeq)
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
		page.Entries = append(page.Entries, v.ranked(e, q.Query))
	}
	if stop < total && stop > start {
		page.Next = string(rank.CodecOf(ref.Rules).Key(v.sorted[stop-1]))
	}
	return page, nil
}

// Members is the model of store.Entries.Members.
func (m *Model) Members(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	defer m.leave()
	v, err := m.look(ctx, "Members", ref, q.MinSeq)
	if err != nil {
		return nil, err
	}
	out := &leaderboard.Standings{State: v.state, Entries: []leaderboard.Standing{}}
	among := &look{rules: v.rules, sorted: slices.DeleteFunc(slices.Clone(v.sorted), func(e leaderboard.Entry) bool {
		return !slices.Contains(q.Members, e.Member)
	})}
	out.Ranked = len(among.sorted)
	for i, e := range among.sorted {
		ranked := v.ranked(e, q.Query)
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

// Metadata looks up the metadata of entries.
func (m *Model) Metadata(ctx context.Context, of []leaderboard.MetadataQuery) ([][]leaderboard.EntryMetadata, error) {
	defer m.leave()
	if err := m.enter(ctx, "Metadata"); err != nil {
		return nil, err
	}
	out := make([][]leaderboard.EntryMetadata, len(of))
	for i, q := range of {
		out[i] = make([]leaderboard.EntryMetadata, len(q.Entries))
		p := m.periods[q.Period.ID]
		if p == nil {
			continue
		}
		for j, e := range q.Entries {
			body, some := p.metadata[e.Member]
			is, visible := p.entries[e.Member]
			if !visible {
				is = p.hiddenEntries[e.Member]
			}
			switch {
			case some && is == e:
				out[i][j].Body = body
			case some:
				out[i][j].Moved = true
			}
		}
	}
	return out, nil
}

// ScoreRank is the model of store.Entries.ScoreRank.
func (m *Model) ScoreRank(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	defer m.leave()
	v, err := m.look(ctx, "ScoreRank", ref, q.MinSeq)
	if err != nil {
		return nil, err
	}
	// The newcomer arrives last and has the greatest of all members.
	newcomer := leaderboard.Entry{Member: "\xff", Score: q.Score, Tiebreak: q.Tiebreak, CreatedTime: leaderboard.Forever}
	return &leaderboard.ScoreRank{State: v.state, Ranks: v.ranks(newcomer, leaderboard.ModeStrict)}, nil
}

// Distribution is the model of store.Entries.Distribution, in whole numbers without a bound.
func (m *Model) Distribution(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	defer m.leave()
	v, err := m.look(ctx, "Distribution", ref, q.MinSeq)
	if err != nil {
		return nil, err
	}
	out := &leaderboard.Distribution{State: v.state}
	if len(v.sorted) == 0 {
		return out, nil
	}
	var scores []*big.Int
	for _, e := range v.sorted {
		scores = append(scores, big.NewInt(e.Score))
	}
	slices.SortFunc(scores, (*big.Int).Cmp)
	for _, edges := range histogram(scores, int64(q.Buckets)) {
		b := leaderboard.Bucket{From: edges[0].Int64(), To: edges[1].Int64()}
		for _, e := range v.sorted {
			if e.Score >= b.From && e.Score <= b.To {
				b.Count++
			}
		}
		out.Buckets = append(out.Buckets, b)
	}
	return out, nil
}

// Moves is the model of store.Entries.Moves: it takes the member's entry out and counts.
func (m *Model) Moves(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	defer m.leave()
	v, err := m.look(ctx, "Moves", ref, q.MinSeq)
	if err != nil {
		return nil, err
	}
	out := &leaderboard.Moves{State: v.state, Moved: make([]*leaderboard.Moved, len(q.Moves))}
	for i, move := range q.Moves {
		if at := v.place(move.Member); at >= 0 {
			others := &look{rules: v.rules, sorted: slices.Delete(slices.Clone(v.sorted), at, at+1)}
			out.Moved[i] = others.moved(move, v.sorted[at], q.Mode)
		}
	}
	return out, nil
}

// moved returns the answer to a move among the others; now is the member's entry.
func (v *look) moved(move leaderboard.Move, now leaderboard.Entry, mode leaderboard.Mode) *leaderboard.Moved {
	if move.New == nil {
		return &leaderboard.Moved{Ranks: v.ranks(now, mode)}
	}
	out := &leaderboard.Moved{Ranks: v.ranks(*move.New, mode), Replaced: v.rules.Compare(*move.New, now) != 0}
	if move.Old == nil {
		return out
	}
	previous := v.ranks(*move.Old, mode)
	out.Previous = &previous
	for _, e := range v.sorted {
		passed := v.rules.Compare(*move.New, e) < 0 && v.rules.Compare(e, *move.Old) < 0
		if passed && slices.Contains(move.Friends, e.Member) && len(out.Passed) < leaderboard.MaxPassed {
			out.Passed = append(out.Passed, e.Member)
		}
	}
	return out
}

// histogram returns the first and the last score of each of at most n buckets. They have the same width, except for a
// bucket at an end where an entry is more than four times as far from the others as their spread: it has all entries
// further out than that spread. "The others" are all entries without a hundredth at each end, or up to three.
func histogram(scores []*big.Int, n int64) (edges [][2]*big.Int) {
	one, last := big.NewInt(1), len(scores)-1
	beyond := max(len(scores)/100, min(len(scores)/4, 3))
	from, to, others := scores[0], scores[last], new(big.Int).Sub(scores[last-beyond], scores[beyond])
	far := func(a, b *big.Int) bool { // in whole multiples
		d := new(big.Int).Sub(b, a)
		return d.Div(d, big.NewInt(4)).Cmp(others) > 0
	}
	var above [][2]*big.Int
	if n >= 4 && new(big.Int).Sub(to, from).Cmp(big.NewInt(n)) >= 0 {
		if far(scores[0], scores[beyond]) {
			from = new(big.Int).Sub(scores[beyond], others)
			edges = append(edges, [2]*big.Int{scores[0], new(big.Int).Sub(from, one)})
		}
		if far(scores[last-beyond], scores[last]) {
			to = new(big.Int).Add(scores[last-beyond], others)
			above = append(above, [2]*big.Int{new(big.Int).Add(to, one), scores[last]})
		}
		n -= int64(len(edges) + len(above))
	}
	// The least width with which n buckets span both.
	width := new(big.Int).Add(new(big.Int).Sub(to, from), big.NewInt(n))
	width.Div(width, big.NewInt(n))
	for ; from.Cmp(to) <= 0; from = new(big.Int).Add(from, width) {
		end := new(big.Int).Sub(new(big.Int).Add(from, width), one)
		if end.Cmp(to) > 0 {
			end = to
		}
		edges = append(edges, [2]*big.Int{from, end})
	}
	return append(edges, above...)
}

// Query is the model of store.Entries.Query.
func (m *Model) Query(ctx context.Context, ref leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	return QueryEach(ctx, m, ref, questions), nil
}
