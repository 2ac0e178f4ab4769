package read

import (
	"context"
	"fmt"
	"slices"

	"leaderboard/internal/entries"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/index"
)

// maxPage is the greatest limit of a page: a slice around a member with both sides at their greatest.
const maxPage = 2*leaderboard.MaxAroundSide + 1

// stretch is consecutive entries: at most limit entries after the first start.
type stretch struct {
	view  *view
	start int64
	limit int
	keys  []rank.Key
}

// fill reads stretches. last: this is the last statement of the transaction.
func fill(ctx context.Context, stretches []*stretch, last bool) error {
	var parts []entries.Part
	var of []*stretch
	for _, s := range stretches {
		if s.start >= s.view.state.Total || s.limit <= 0 {
			continue
		}
		sc, err := s.view.locate(ctx, s)
		if err != nil {
			return s.view.fault(err)
		}
		parts, of = append(parts, entries.Part{Scan: sc, PeriodID: s.view.ref.ID}), append(of, s)
	}
	if len(parts) == 0 {
		return nil
	}
	l, end := of[0].view.looking, func() {}
	if last {
		end = l.last
	}
	keys, err := entries.ReadParts(ctx, l.reader.db, l.q, parts, end)
	if err != nil {
		return err
	}
	for i, s := range of {
		s.keys = keys[i]
		if want := min(int64(s.limit), s.view.state.Total-s.start); s.view.index != nil && int64(len(s.keys)) != want {
			return s.view.fault(fmt.Errorf("%w: %d entries from number %d on, there are %d", rank.ErrDamaged, len(s.keys), s.start, want))
		}
	}
	return nil
}

// locate returns the scan that reads a stretch, from the start of the bucket with its first entry; without an index, from the
// last place before it that was counted. The range ends soon after the stretch, only for speed: the optimizer samples a range,
// which takes as long as reading a hundred entries when the range is the rest of a large period.
func (v *view) locate(ctx context.Context, s *stretch) (sc entries.Scan, err error) {
	if err := prepare(ctx, []*view{v}); err != nil {
		return sc, err
	}
	end, from, to := s.start+int64(s.limit), rank.Span{}, rank.Key("")
	if v.index == nil {
		n, _ := slices.BinarySearch(v.known.ahead, s.start+1)
		from = v.known.last(n)
		if n, _ = slices.BinarySearch(v.known.ahead, end); n < len(v.known.keys) {
			to = v.known.keys[n]
		}
		if s.start-from.Before > int64(v.reader.target) { // less deep entries are skipped
			err = v.mayScan()
		}
	} else {
		at := index.RankState(v.state)
		if from.From, from.Before, err = v.index.Nth(s.start, at); err == nil {
			to, err = v.index.Until(end, at)
		}
	}
	if err != nil {
		return sc, err
	}
	sc = entries.Scan{Range: entries.Everything(), Offset: s.start - from.Before, Limit: s.limit}
	if sc.Range.From, err = entries.BeforeKey(from.From); err == nil && to != "" {
		sc.Range.To, err = entries.BeforeKey(to)
	}
	return sc, err
}

// lead is the number of entries ahead of a page that are read with it: they usually include the first entry tied with the
// first entry of the page, so that its tied rank needs no count. Reading them costs a third of a count.
const lead = 16

// tiedIn returns the number of entries that are better than the first entry of a page of s, if s knows it; page is the
// number of entries ahead of the page.
func (s *stretch) tiedIn(page int64) (better int64, ok bool) {
	at := int(page - s.start)
	for i := at; i > 0; i-- {
		if !rank.Tied(s.keys[i-1], s.keys[at]) {
			return s.start + int64(i), true
		}
	}
	return 0, s.start == 0
}

// page numbers the entries of a page; first are the ranks of the first one.
func (v *view) page(keys []rank.Key, first leaderboard.Ranks) (*leaderboard.Page, error) {
	page := &leaderboard.Page{State: v.state, Entries: make([]leaderboard.Ranked, len(keys))}
	for i, r := range rank.Number(first, keys) {
		e, err := v.codec.Entry(keys[i])
		if err != nil {
			return nil, err
		}
		page.Entries[i] = leaderboard.Ranked{Ranks: r, Entry: e}
	}
	if n := int64(len(keys)); n > 0 && first.Strict-1+n < v.state.Total {
		page.Next = string(keys[n-1])
	}
	return page, nil
}
