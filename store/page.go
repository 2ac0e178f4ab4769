package store

import (
	"context"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// maxPage is the greatest limit of a page: a slice around a member with both sides at their greatest.
const maxPage = 2*leaderboard.MaxAroundSide + 1

// Page implements leaderboard.Rankings. A page by offset or cursor in strict mode is one statement, one around a member
// two; tied ranks take one more, dense ranks a transaction.
func (s *Store) Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	q.Limit, q.Offset = min(max(q.Limit, 0), maxPage), max(q.Offset, 0)
	var page *leaderboard.Page
	err := s.read(ctx, ref, q.MinSeq, func(v *view) error {
		keys, start, err := v.run(ctx, q)
		if err != nil {
			return err
		}
		page, err = v.page(ctx, q.Mode, keys, start)
		return err
	})
	if err != nil {
		return nil, db.Translate(ctx, "page", err)
	}
	return page, nil
}

// page numbers the entries of a page.
func (v *view) page(ctx context.Context, mode leaderboard.Mode, keys []rank.Key, start int64) (*leaderboard.Page, error) {
	first := rank.Ranks{Strict: start + 1, Tied: 1, Dense: 1}
	if len(keys) > 0 && start > 0 && (mode == leaderboard.ModeTied || mode == leaderboard.ModeDense) {
		group := []rank.Key{keys[0].Prefix()}
		better, err := v.before(ctx, group)
		if err != nil {
			return nil, err
		}
		first.Tied = better[0] + 1
		if mode == leaderboard.ModeDense {
			values, err := v.dense(ctx, group, better[0])
			if err != nil {
				return nil, err
			}
			first.Dense = values[0] + 1
		}
	}
	page := &leaderboard.Page{State: v.state, Entries: make([]leaderboard.Ranked, len(keys))}
	for i, r := range rank.Number(mode, first, keys) {
		e, err := v.codec.Entry(keys[i])
		if err != nil {
			return nil, err
		}
		page.Entries[i] = leaderboard.Ranked{Rank: r, Entry: e}
	}
	if n := int64(len(keys)); n > 0 && start+n < v.state.Total {
		page.Next = string(keys[n-1])
	}
	return page, nil
}
