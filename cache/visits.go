package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/internal/trace"
)

// visitEvery is the time between two visits of a copy whose period the process answers for.
const visitEvery = 5 * time.Second

// maxVisits is how many periods may be due, for a Redis that is away.
const maxVisits = 10_000

// visits are the periods that were read and that the process answered for. Their copies in Redis, from which other servers
// start, would expire unnoticed; so they are visited now and then.
type visits struct {
	due  sync.Map     // int64 → leaderboard.PeriodRef
	many atomic.Int64 // about how many periods are in due
}

// visited notes periods for the next visit of their copies.
func (r *Reader) visited(refs []leaderboard.PeriodRef) {
	v := &r.visits
	for i := range refs {
		p := &refs[i]
		if _, ok := v.due.Load(p.ID); ok || p.Closed || r.redis == nil || v.many.Load() >= maxVisits {
			continue
		}
		v.due.Store(p.ID, *p)
		v.many.Add(1)
	}
}

// Run visits copies until ctx ends: it keeps them from expiring, and requests a build of those that are gone.
func (r *Reader) Run(ctx context.Context) {
	if r.redis == nil {
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

// visit reads an empty page from the copy of each period that is due. It is in no trace, because no reader waits for it.
// Periods whose server is not asked now stay due.
func (r *Reader) visit(ctx context.Context) {
	c := r.redis
	r.visits.due.Range(func(id, ref any) bool {
		if ctx.Err() != nil {
			return false
		}
		p := ref.(leaderboard.PeriodRef)
		ctx, cancel := context.WithTimeout(trace.With(ctx, trace.Span{}), c.opts.RedisDeadline)
		defer cancel()
		if server := c.servers.Of(ctx, p); server.Allow() {
			nothing := leaderboard.PageQuery{Query: leaderboard.Query{Mode: p.Rules.Mode}}
			_, _ = c.ask(ctx, &pageQuestion{about{p}, nothing}, server) // a failure is the breaker's
			r.visits.due.Delete(id)
			r.visits.many.Add(-1)
		}
		return true
	})
}
