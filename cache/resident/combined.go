package resident

import (
	"context"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Combined is several periods, ranked as one: see leaderboard.CombinedRankings. They are given in the order of their
// boards' names, and their entries are ordered alike.
type Combined []*Period

// Page returns a page as leaderboard.CombinedRankings does.
func (c Combined) Page(refs []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (page *leaderboard.CombinedPage, err error) {
	err = c.read(refs, q.Around, func(all *rank.Combined) error {
		page, err = all.Page(context.Background(), &q)
		return err
	})
	return page, err
}

// Member returns all entries of a member as leaderboard.CombinedRankings does.
func (c Combined) Member(refs []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (out *leaderboard.CombinedStandings, err error) {
	err = c.read(refs, q.Member, func(all *rank.Combined) error {
		out, err = all.Standings(context.Background())
		return err
	})
	return out, err
}

// read calls f while no period changes. Errors: leaderboard.ErrSeqAhead when a period has not reached the state in its
// ref, rank.ErrDamaged.
func (c Combined) read(refs []leaderboard.PeriodRef, member string, f func(*rank.Combined) error) error {
	defer lock(c, refs)()
	const spare = 10
	all := rank.Combined{Periods: refs, Several: locked(c), Spare: spare}
	for i, p := range c {
		switch {
		case p.damaged:
			return rank.ErrDamaged
		case p.at.Seq < refs[i].LastSeq:
			return leaderboard.ErrSeqAhead
		}
		all.States = append(all.States, p.state())
		key := rank.Key("")
		if n, ok := p.members.find([]byte(member)); ok {
			key = p.key(p.slab.at(n))
		}
		all.Member = append(all.Member, key)
	}
	return f(&all)
}

// locked is periods whose locks are held. It implements rank.Several.
type locked []*Period

func (c locked) Ahead(_ context.Context, places []rank.Place) ([][]int64, error) {
	out := make([][]int64, len(places))
	for i, place := range places {
		for j, p := range c {
			out[i] = append(out[i], p.upTo(place.In(j)))
		}
	}
	return out, nil
}

func (c locked) Read(_ context.Context, runs []rank.Run) ([][]rank.Key, error) {
	out := make([][]rank.Key, len(runs))
	for i, run := range runs {
		p := c[run.Period]
		found := make([]entry, 0, run.Limit)
		for at := p.order.nth(run.Start); int64(len(found)) < run.Limit; at = p.order.next(at) {
			n, _ := p.order.record(at)
			found = append(found, entry{p.slab.at(n).head, n})
		}
		out[i] = p.keys(found)
	}
	return out, nil
}

// Near returns no bounds: counting takes no time here.
func (locked) Near(int64, int64) []rank.Place { return nil }
