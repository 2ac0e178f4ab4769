package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

// maxPage is the greatest limit of a page: a slice around a member with both sides at their greatest.
const maxPage = 2*leaderboard.MaxAroundSide + 1

// Page implements leaderboard.Rankings. A page from the top, or one in strict mode by offset, is one statement.
func (s *Store) Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	q.Limit, q.Offset = min(max(q.Limit, 0), maxPage), max(q.Offset, 0)
	var (
		page *leaderboard.Page
		err  error
	)
	if q.Around == "" && q.After == "" && (q.Mode == leaderboard.Strict || q.Offset == 0) {
		page, err = s.plainPage(ctx, ref, q)
	} else {
		err = s.view(ctx, ref, q.MinSeq, func(v *view) error {
			page, err = v.page(ctx, q)
			return err
		})
	}
	if err != nil {
		return nil, translate(ctx, "page", err)
	}
	return page, nil
}

// plainPage reads the period's row and the entries in one statement, which under READ COMMITTED sees one state.
func (s *Store) plainPage(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	t := (&text{}).str("SELECT " + stateColumns + ", e.member, e.score, e.tiebreak, e.created_time FROM periods p LEFT JOIN (")
	t.str(scanQuery(ref.ID, interval{beginning(), end()}, orderBy, q.Offset, q.Limit))
	t.str(") e ON TRUE WHERE p.id = ").int(ref.ID).str(" AND p.state <> 'deleting'")
	rows, err := s.db.DB.QueryContext(ctx, s.limited(t.String()))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	codec, found := rank.CodecOf(ref.Rules), false
	state := leaderboard.State{Source: leaderboard.SourceMySQL}
	keys := make([]rank.Key, 0, q.Limit)
	for rows.Next() {
		var (
			asOf            time.Time
			member          *[]byte
			score, tiebreak *int64
			created         *time.Time
		)
		if err := rows.Scan(&state.Seq, &asOf, &state.Total, &member, &score, &tiebreak, &created); err != nil {
			return nil, err
		}
		state.AsOf, found = micros(asOf), true
		if member != nil {
			e := leaderboard.Entry{Member: string(*member), CreatedTime: micros(*created)}
			e.Score, e.Tiebreak = codec.Stored(*score, *tiebreak)
			keys = append(keys, codec.Key(e))
		}
	}
	switch err := rows.Err(); {
	case err != nil:
		return nil, err
	case !found:
		return nil, leaderboard.ErrPeriodNotFound
	case state.Seq < q.MinSeq:
		return nil, fmt.Errorf("%w: it is at %d, not at %d", leaderboard.ErrSeqAhead, state.Seq, q.MinSeq)
	}
	slices.Sort(keys) // a join promises no order
	first := rank.Top()
	first.Strict += q.Offset
	return newPage(state, codec, q.Mode, first, keys)
}

// newPage numbers the entries of a page; first are the ranks of its first entry.
func newPage(state leaderboard.State, codec rank.Codec, mode leaderboard.Mode, first rank.Ranks, keys []rank.Key) (*leaderboard.Page, error) {
	page := &leaderboard.Page{State: state, Entries: make([]leaderboard.Ranked, len(keys))}
	for i, r := range rank.Number(mode, first, keys) {
		e, err := codec.Entry(keys[i])
		if err != nil {
			return nil, err
		}
		page.Entries[i] = leaderboard.Ranked{Rank: r, Entry: e}
	}
	if n := int64(len(keys)); n > 0 && first.Strict-1+n < state.Total {
		page.Next = string(keys[n-1])
	}
	return page, nil
}

// page reads the pages that take several statements.
func (v *view) page(ctx context.Context, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	var (
		es    []leaderboard.Entry
		start = int64(-1) // entries before the page, when that is known already
		err   error
	)
	switch {
	case q.Around != "":
		es, start, err = v.around(ctx, q)
	case q.After != "":
		var from cut
		if from, err = keyCut(rank.Key(q.After), true); err != nil {
			return nil, err
		}
		es, err = v.entries(ctx, interval{from, end()}, 0, q.Limit)
	default:
		es, err = v.entries(ctx, interval{beginning(), end()}, q.Offset, q.Limit)
		start = q.Offset
	}
	if err != nil {
		return nil, err
	}
	keys := make([]rank.Key, len(es))
	for i, e := range es {
		keys[i] = v.codec.Key(e)
	}
	first := rank.Top()
	if len(keys) > 0 {
		if first, err = v.ranks(ctx, keys[0], q.Mode, start); err != nil {
			return nil, err
		}
	}
	return newPage(v.state, v.codec, q.Mode, first, keys)
}

// around reads the page around a member: Before entries ahead of it when there are that many, filled up to Limit at
// both ends. start is the number of entries before the page.
func (v *view) around(ctx context.Context, q leaderboard.PageQuery) (es []leaderboard.Entry, start int64, err error) {
	key, err := v.member(ctx, q.Around)
	if err != nil {
		return nil, 0, err
	}
	here, err := keyCut(key, false)
	if err != nil {
		return nil, 0, err
	}
	counts, err := v.store.counter.count(ctx, v.q, v.ref.ID, []interval{{beginning(), here}})
	if err != nil {
		return nil, 0, err
	}
	limit := int64(q.Limit)
	start = max(0, min(counts[0]-int64(max(q.Before, 0)), v.state.Total-limit))
	ahead := min(counts[0]-start, limit)
	if es, err = v.lastEntries(ctx, interval{beginning(), here}, int(counts[0]-start)); err != nil {
		return nil, 0, err
	}
	rest, err := v.entries(ctx, interval{here, end()}, 0, int(limit-ahead))
	return append(es[:ahead], rest...), start, err
}

// ranks are the ranks of an entry; start is the number of entries before it, -1 when it is not known. Only what the
// mode needs is counted.
func (v *view) ranks(ctx context.Context, key rank.Key, mode leaderboard.Mode, start int64) (rank.Ranks, error) {
	here, err := keyCut(key, false)
	if err != nil {
		return rank.Ranks{}, err
	}
	group := groupCut(here.score, here.tiebreak, false)
	if start < 0 {
		counts, err := v.store.counter.count(ctx, v.q, v.ref.ID, []interval{{beginning(), here}})
		if err != nil {
			return rank.Ranks{}, err
		}
		start = counts[0]
	}
	r := rank.Ranks{Strict: start + 1}
	switch mode {
	case leaderboard.Tied:
		counts, err := v.store.counter.count(ctx, v.q, v.ref.ID, []interval{{group, here}})
		if err != nil {
			return r, err
		}
		r.Tied = r.Strict - counts[0]
	case leaderboard.Dense:
		counts, err := v.store.counter.distinct(ctx, v.q, v.ref.ID, []interval{{beginning(), group}})
		if err != nil {
			return r, err
		}
		r.Dense = 1 + counts[0]
	}
	return r, nil
}
