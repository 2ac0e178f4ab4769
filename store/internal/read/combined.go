package read

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// CombinedPage implements leaderboard.CombinedRankings.
func (s *Reader) CombinedPage(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (page *leaderboard.CombinedPage, err error) {
	err = s.combined(ctx, periods, q.Mode, q.Around, func(c *rank.Combined) error {
		page, err = c.Page(ctx, &q)
		return err
	})
	return page, mysql.Translate(ctx, "page of several boards", err)
}

// CombinedMember implements leaderboard.CombinedRankings.
func (s *Reader) CombinedMember(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (out *leaderboard.CombinedStandings, err error) {
	err = s.combined(ctx, periods, q.Mode, q.Member, func(c *rank.Combined) error {
		out, err = c.Standings(ctx)
		return err
	})
	return out, mysql.Translate(ctx, "member of several boards", err)
}

// combined runs fn on one state of all periods.
func (s *Reader) combined(ctx context.Context, periods []leaderboard.PeriodRef, mode leaderboard.Mode, member string, fn func(*rank.Combined) error) error {
	if broken := leaderboard.CheckCombined(periods, mode); broken != nil {
		return broken
	}
	return s.look(ctx, periods, func(views []*view) error {
		keys, err := lookAll(ctx, views, member)
		if err == nil {
			err = prepare(ctx, views)
		}
		if err != nil {
			return err
		}
		c := rank.Combined{Periods: periods, States: make([]leaderboard.State, len(views)), Member: keys, Several: manyViews(views), Spare: int64(s.target / 2)}
		for i, v := range views {
			c.States[i] = v.state
		}
		if err = fn(&c); errors.Is(err, rank.ErrDamaged) && !errors.Is(err, errMoved) {
			err = fmt.Errorf("%w: %w", errMoved, err) // the counts contradict each other
		}
		return err
	})
}

// manyViews implements rank.Several.
type manyViews []*view

func (m manyViews) Ahead(ctx context.Context, places []rank.Place) ([][]int64, error) {
	keys := make([][]rank.Key, len(m))
	for i := range m {
		for _, p := range places {
			keys[i] = append(keys[i], p.In(i))
		}
	}
	c, err := count(ctx, m, keys, false)
	if err != nil {
		return nil, err
	}
	out := make([][]int64, len(places))
	for i, p := range places {
		for j := range m {
			out[i] = append(out[i], c[j].before(p.In(j)))
		}
	}
	return out, nil
}

func (m manyViews) Read(ctx context.Context, runs []rank.Run) ([][]rank.Key, error) {
	stretches := make([]*stretch, len(runs))
	for i, r := range runs {
		stretches[i] = &stretch{view: m[r.Period], start: r.Start, limit: int(r.Limit)}
	}
	err := fill(ctx, stretches, false)
	out := make([][]rank.Key, len(runs))
	for i, s := range stretches {
		out[i] = s.keys
	}
	return out, err
}

// Near uses the indexes: it returns about the last boundary of a bucket with at most from entries ahead of it, and about
// the first with at least to entries ahead of it. A period without an index is assumed to be spread like the periods with
// an index.
func (m manyViews) Near(from, to int64) []rank.Place {
	var all, indexed int64
	for _, v := range m {
		if all += v.state.Total; v.index != nil {
			indexed += v.state.Total
		}
	}
	share := float64(indexed) / float64(all)
	below, _ := m.edge(float64(from)*share, 1)
	_, above := m.edge(float64(to)*share, -1)
	places := []rank.Place{{Key: below}, {Key: above}}
	return slices.DeleteFunc(places, func(p rank.Place) bool { return p.Key == "" })
}

// edge returns the last boundary of a bucket with at most n entries ahead of it, and the first with more, by guesses that
// err on one side only; "" without such a boundary.
func (m manyViews) edge(n, side float64) (below, above rank.Key) {
	for _, v := range m {
		if v.index == nil {
			continue
		}
		for from, to := int64(0), v.index.At().Total-1; from <= to; {
			span, ok := v.index.Span((from + to) / 2)
			switch {
			case !ok:
				to = -1 // it has become shorter
			case span.From <= below:
				from = span.Before + span.Count
			case above != "" && span.From >= above:
				to = span.Before - 1
			case m.guess(span.From, side) <= n:
				below, from = span.From, span.Before+span.Count
			default:
				above, to = span.From, span.Before-1
			}
		}
	}
	return below, above
}

// guess returns about how many entries are ahead of a key: it counts half of each bucket around the key, and adds side times
// the standard deviation of that.
func (m manyViews) guess(k rank.Key, side float64) float64 {
	var n, variance float64
	for _, v := range m {
		if v.index == nil {
			continue
		}
		span := v.index.Bucket(k)
		if n += float64(span.Before); span.From != k {
			n += float64(span.Count) / 2
			variance += float64(span.Count) * float64(span.Count) / 12
		}
	}
	return n + side*math.Sqrt(variance)
}
