package cache

import (
	"time"

	"leaderboard"
	"leaderboard/rank"
)

const (
	// lastPageLimit is the length of the pages that are remembered for an outage.
	lastPageLimit = 100
	// lastPagePeriods is of how many periods.
	lastPagePeriods = 1000
)

// firstPage says whether a page begins with the best entry and is not long.
func firstPage(q *leaderboard.PageQuery) bool {
	return fromTop(q) && q.Limit <= lastPageLimit
}

// fromTop says whether a page begins with the best entry.
func fromTop(q *leaderboard.PageQuery) bool {
	return q.Around == "" && q.After == "" && q.Offset <= 0
}

// lastPages remembers a good first page of each current period for an outage. No other answer pushes one out, however
// many are asked for.
type lastPages struct {
	kept  *lru[lastPageKey, *answer[*leaderboard.Page]]
	limit time.Duration // how long one is good for
	now   func() time.Time
}

type lastPageKey struct {
	periodKey
	mode  leaderboard.Mode
	short bool // two pages of each are remembered
}

func newLastPages(limit time.Duration, now func() time.Time) *lastPages {
	const bytes = lastPagePeriods * (answerBytes + lastPageLimit*entryBytes)
	return &lastPages{newLRU[lastPageKey, *answer[*leaderboard.Page]](lastPagePeriods, bytes), limit, now}
}

func lastPageKeyOf(p *leaderboard.PeriodRef, q *leaderboard.PageQuery) lastPageKey {
	return lastPageKey{periodKeyOf(*p), q.Mode, q.Limit <= leaderboard.DefaultLimit}
}

// remember takes a page that was kept.
func (l *lastPages) remember(p *leaderboard.PeriodRef, q *leaderboard.PageQuery, page *answer[*leaderboard.Page]) {
	if !firstPage(q) || p.Closed {
		return
	}
	l.kept.update(lastPageKeyOf(p, q), pageShape().bytes(page.value), func(last *answer[*leaderboard.Page], ok bool) *answer[*leaderboard.Page] {
		if ok && last.value.Revision == page.value.Revision && len(last.value.Entries) > len(page.value.Entries) {
			return last
		}
		return page
	})
}

// instead returns a page to give in the place of a failure, marked stale; nil when there is none.
func (l *lastPages) instead(p *leaderboard.PeriodRef, q *leaderboard.PageQuery) *leaderboard.Page {
	h, ok := l.kept.get(lastPageKeyOf(p, q))
	if !ok || !firstPage(q) || h.age(l.now()) > l.limit || h.seq < q.MinSeq {
		return nil
	}
	last := h.value
	if q.Limit == len(last.Entries) || q.Limit > len(last.Entries) && last.Next == "" {
		return h.marked(pageShape().stale)
	}
	if q.Limit > len(last.Entries) {
		return nil
	}
	cut := &leaderboard.Page{State: stale(last.State), Entries: last.Entries[:q.Limit]}
	if q.Limit > 0 {
		cut.Next = string(rank.CodecOf(p.Rules).Key(last.Entries[q.Limit-1].Entry))
	}
	return cut
}
