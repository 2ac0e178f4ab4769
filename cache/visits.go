package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/cache/topn"
)

// visitEvery is the time between two visits of a copy whose period is answered for by the process.
const visitEvery = 5 * time.Second

// maxVisits is how many periods may be due, for a Redis that is away.
const maxVisits = 10_000

// visits are the periods that were read and answered for by the process. Nobody would notice that their copies in Redis,
// which other servers start from, have expired or are gone; so they are visited now and then.
type visits struct {
	due  sync.Map     // int64 → leaderboard.PeriodRef
	many atomic.Int64 // periods in it, about
}

// visited takes a period down for the next visit of its copy.
func (r *Reader) visited(p *leaderboard.PeriodRef) {
	v := &r.visits
	if _, ok := v.due.Load(p.ID); ok || p.Closed || r.copies == nil || v.many.Load() >= maxVisits {
		return
	}
	v.due.Store(p.ID, *p)
	v.many.Add(1)
}

// Run visits copies until ctx ends: it keeps them from expiring, and asks for a build of those that are gone.
func (r *Reader) Run(ctx context.Context) {
	if r.copies == nil {
		return
	}
	ticker := time.NewTicker(visitEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.visit(ctx)
		}
	}
}

// visit reads nothing from the copy of each period that is due. It is in no trace: nobody has asked for it.
func (r *Reader) visit(ctx context.Context) {
	r.visits.due.Range(func(id, ref any) bool {
		if ctx.Err() != nil {
			return false
		}
		p := ref.(leaderboard.PeriodRef)
		page := func(ctx context.Context) (*leaderboard.Page, bool, error) {
			return r.copies.Page(ctx, p, leaderboard.PageQuery{Query: leaderboard.Query{Mode: p.Rules.Mode}})
		}
		_, asked, _ := askRedis(ctx, r, p, func(ctx context.Context, server *topn.Breaker) (*leaderboard.Page, error) {
			return askUntraced(ctx, r, server, p, page) // a failure is the breaker's
		})
		if asked { // else it stays due, while those of other servers may do better
			r.visits.due.Delete(id)
			r.visits.many.Add(-1)
		}
		return true
	})
}
