package cache

import (
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// oracle answers for one state of a world, by the definitions.
type oracle struct {
	rules  *leaderboard.Rules
	name   stateName
	sorted []leaderboard.Entry
}

func (o oracle) state(source leaderboard.Source) leaderboard.State {
	return leaderboard.State{Seq: o.name.seq, AsOf: o.name.asOf, Total: int64(len(o.sorted)), Source: source}
}

func (o oracle) rank(i int, mode leaderboard.Mode) int64 {
	better, distinct := int64(0), map[[2]int64]bool{}
	for _, e := range o.sorted {
		if o.rules.Better(e, o.sorted[i]) {
			better++
			distinct[[2]int64{e.Score, e.Tiebreak}] = true
		}
	}
	switch mode {
	case leaderboard.ModeTied:
		return better + 1
	case leaderboard.ModeDense:
		return int64(len(distinct)) + 1
	default:
		return int64(i) + 1
	}
}

func (o oracle) place(member string) int {
	return slices.IndexFunc(o.sorted, func(e leaderboard.Entry) bool { return e.Member == member })
}

func (o oracle) page(q leaderboard.PageQuery, source leaderboard.Source) (*leaderboard.Page, error) {
	codec, total := rank.CodecOf(o.rules), len(o.sorted)
	start := int(min(q.Offset, int64(total)))
	switch {
	case q.Around != "":
		at := o.place(q.Around)
		if at < 0 {
			return nil, leaderboard.ErrNotRanked
		}
		start = max(0, min(at-q.Before, total-q.Limit))
	case q.After != "":
		start = slices.IndexFunc(o.sorted, func(e leaderboard.Entry) bool { return codec.Key(e) > rank.Key(q.After) })
		if start < 0 {
			start = total
		}
	}
	page := &leaderboard.Page{State: o.state(source), Entries: []leaderboard.Ranked{}}
	end := min(start+q.Limit, total)
	for i := start; i < end; i++ {
		page.Entries = append(page.Entries, leaderboard.Ranked{Rank: o.rank(i, q.Mode), Entry: o.sorted[i]})
	}
	if end < total && end > start {
		page.Next = string(codec.Key(o.sorted[end-1]))
	}
	return page, nil
}

func (o oracle) members(q leaderboard.MembersQuery, source leaderboard.Source) *leaderboard.Standings {
	s := &leaderboard.Standings{State: o.state(source), Entries: []leaderboard.Standing{}}
	among := oracle{rules: o.rules}
	for i, e := range o.sorted {
		if !slices.Contains(q.Members, e.Member) {
			continue
		}
		among.sorted = append(among.sorted, e)
		s.Ranked++
		one := leaderboard.Standing{
			Ranked: leaderboard.Ranked{Rank: o.rank(i, q.Mode), Entry: e}, Tied: o.rank(i, leaderboard.ModeTied), Position: among.rank(s.Ranked-1, q.Mode),
		}
		if s.Ranked > q.Offset && (q.Limit == 0 || s.Ranked <= q.Offset+q.Limit) {
			s.Entries = append(s.Entries, one)
		}
		if e.Member == q.Self {
			s.Self = &one
		}
	}
	for _, m := range q.Members {
		if o.place(m) < 0 {
			s.NotRanked = append(s.NotRanked, m)
		}
	}
	return s
}

func (o oracle) scoreRank(q leaderboard.ScoreQuery, source leaderboard.Source) *leaderboard.ScoreRank {
	s := &leaderboard.ScoreRank{State: o.state(source), Strict: 1, Tied: 1}
	newcomer := leaderboard.Entry{Score: q.Score, Tiebreak: q.Tiebreak}
	for _, e := range o.sorted {
		if o.rules.Better(e, newcomer) {
			s.Tied++
		}
		if !o.rules.Better(newcomer, e) {
			s.Strict++
		}
	}
	return s
}
