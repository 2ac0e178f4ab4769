package cachetest

import (
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Oracle answers for one state of a World, by the definitions.
type Oracle struct {
	Rules  *leaderboard.Rules
	Name   leaderboard.Revision
	Sorted []leaderboard.Entry
}

// State returns the state as an answer from a source shows it.
func (o Oracle) State(source leaderboard.Source) leaderboard.State {
	return leaderboard.State{Revision: o.Name, Total: int64(len(o.Sorted)), Source: source}
}

// Ranks returns the ranks that an answer in a mode has for the entry at a position from 0.
func (o Oracle) Ranks(i int, mode leaderboard.Mode) leaderboard.Ranks {
	better, distinct := int64(0), map[[2]int64]bool{}
	for _, e := range o.Sorted {
		if o.Rules.Better(e, o.Sorted[i]) {
			better++
			distinct[[2]int64{e.Score, e.Tiebreak}] = true
		}
	}
	r := leaderboard.Ranks{Strict: int64(i) + 1, Tied: better + 1}
	if mode.WithDense() {
		r.Dense = int64(len(distinct)) + 1
	}
	return r
}

// Position returns the position of a member from 0, -1 when there is no such entry.
func (o Oracle) Position(member string) int {
	return slices.IndexFunc(o.Sorted, func(e leaderboard.Entry) bool { return e.Member == member })
}

// Page answers as leaderboard.Rankings does.
func (o Oracle) Page(q leaderboard.PageQuery, source leaderboard.Source) (*leaderboard.Page, error) {
	codec, total := rank.CodecOf(o.Rules), len(o.Sorted)
	start := int(min(q.Offset, int64(total)))
	switch {
	case q.Around != "":
		at := o.Position(q.Around)
		if at < 0 {
			return nil, leaderboard.ErrNotRanked
		}
		start = max(0, min(at-q.Before, total-q.Limit))
	case q.After != "":
		start = slices.IndexFunc(o.Sorted, func(e leaderboard.Entry) bool { return codec.Key(e) > rank.Key(q.After) })
		if start < 0 {
			start = total
		}
	}
	page := &leaderboard.Page{State: o.State(source), Entries: []leaderboard.Ranked{}}
	end := min(start+q.Limit, total)
	for i := start; i < end; i++ {
		page.Entries = append(page.Entries, leaderboard.Ranked{Ranks: o.Ranks(i, q.Mode), Entry: o.Sorted[i]})
	}
	if end < total && end > start {
		page.Next = string(codec.Key(o.Sorted[end-1]))
	}
	return page, nil
}

// Members answers as leaderboard.Rankings does.
func (o Oracle) Members(q leaderboard.MembersQuery, source leaderboard.Source) *leaderboard.Standings {
	s := &leaderboard.Standings{State: o.State(source), Entries: []leaderboard.Standing{}}
	among := Oracle{Rules: o.Rules}
	for i, e := range o.Sorted {
		if !slices.Contains(q.Members, e.Member) {
			continue
		}
		among.Sorted = append(among.Sorted, e)
		s.Ranked++
		one := leaderboard.Standing{
			Ranked: leaderboard.Ranked{Ranks: o.Ranks(i, q.Mode), Entry: e}, Position: among.Ranks(s.Ranked-1, leaderboard.ModeAll),
		}
		if s.Ranked > q.Offset && (q.Limit == 0 || s.Ranked <= q.Offset+q.Limit) {
			s.Entries = append(s.Entries, one)
		}
		if e.Member == q.Self {
			s.Self = &one
		}
	}
	for _, m := range q.Members {
		if o.Position(m) < 0 {
			s.NotRanked = append(s.NotRanked, m)
		}
	}
	return s
}

// ScoreRank answers as leaderboard.Rankings does.
func (o Oracle) ScoreRank(q leaderboard.ScoreQuery, source leaderboard.Source) *leaderboard.ScoreRank {
	s := &leaderboard.ScoreRank{State: o.State(source), Ranks: leaderboard.Ranks{Strict: 1, Tied: 1}}
	newcomer := leaderboard.Entry{Score: q.Score, Tiebreak: q.Tiebreak}
	for _, e := range o.Sorted {
		if o.Rules.Better(e, newcomer) {
			s.Tied++
		}
		if !o.Rules.Better(newcomer, e) {
			s.Strict++
		}
	}
	return s
}
