package app

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"leaderboard/cache"
	"leaderboard/cache/resident"
	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
)

const (
	// warmLimit is how long a server that has just started loads periods into memory before it is ready.
	warmLimit = 5 * time.Second
	// hotEvery is the time between two notes of the periods in memory, give or take hotJitter; hotTimeout bounds one note.
	hotEvery   = 10 * time.Second
	hotJitter  = time.Second
	hotTimeout = time.Second
)

// hot notes which periods are in memory here, for servers that start later. At its start it loads the periods that were noted
// before.
type hot struct {
	periods *resident.Periods
	catalog *cache.Catalog
	noted   *topn.Listings
	log     *slog.Logger
	loading atomic.Bool // at the start
}

// run loads the periods that were in memory before the start, and then notes the periods in memory, until ctx ends.
func (h *hot) run(ctx context.Context) {
	h.load(ctx)
	h.loading.Store(false)
	every(ctx, hotEvery, hotJitter, func() { h.note(ctx) })
	h.note(context.WithoutCancel(ctx))
}

// load loads the periods that were read most before the start, on this server or on another one.
func (h *hot) load(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, warmLimit)
	defer cancel()
	before, err := h.noted.Hot(ctx)
	if err != nil {
		h.log.InfoContext(ctx, "it is not known which periods were in memory", "error", err)
		return
	}
	began := time.Now()
	var refs []leaderboard.PeriodRef
	var reads []int64
	for _, p := range before {
		ref, _, err := h.catalog.Resolve(ctx, p.Board, string(p.Window), "")
		if err == nil && !ref.Stale {
			refs, reads = append(refs, ref), append(reads, p.Reads)
		}
		if errors.Is(err, leaderboard.ErrUnavailable) || ctx.Err() != nil {
			break
		}
	}
	h.periods.Bring(ctx, refs, reads)
	if periods, bytes := h.periods.Held(); periods > 0 {
		h.log.InfoContext(ctx, "periods were loaded into memory before the server is ready", "periods", periods, "bytes", bytes, "took", time.Since(began).Round(time.Millisecond).String())
	}
}

// note records the periods in memory here, for servers that start later.
func (h *hot) note(ctx context.Context) {
	now := h.periods.Hottest()
	if len(now) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, hotTimeout)
	defer cancel()
	_ = h.noted.SaveHot(ctx, now) // the next one comes soon
}
