package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"leaderboard/cache"
	"leaderboard/cache/resident"
	"leaderboard/cache/topn"
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// wireReader puts the layers of reading in front of the store.
func (a *App) wireReader() {
	a.reader = cache.NewReader(a.copies, a.store.Entries, cache.ReaderOptions{
		StaleLimit:    a.cfg.StaleLimit,
		RedisDeadline: a.cfg.readerWait, StaleWait: a.cfg.readerWait,
		FallbackConcurrent: a.cfg.FallbackConcurrent, ReadWait: a.cfg.ReadWait,
		Feed: a.feed, Resident: a.resident, Demand: a.demand(),
		Observer: readings{a.metrics, a}, Old: a.oldCopy,
	})
}

// wireResident makes the memory for whole periods.
func (a *App) wireResident() {
	memory := a.cfg.residentMemory()
	a.resident = resident.NewPeriods(a.store.Entries, resident.Options{
		Memory: memory, Tail: a.feed.Tail, Logger: a.log, Observer: heldPeriods{a.metrics, a, memory},
		Folding: func(period int64, commits []leaderboard.Commit) {
			for _, k := range a.keepers {
				k.Folding(period, commits)
			}
		},
	})
}

// keeper is a feature that keeps something with the periods in memory.
type keeper interface {
	// Folding hears of commits of a period in memory, see resident.Options.
	Folding(period int64, commits []leaderboard.Commit)
	// Keep lets the feature use up to within bytes, for periods in memory only, and returns how many it uses.
	Keep(within int64, inMemory func(period int64) bool) int64
}

// heldPeriods counts the periods in memory, whose bytes the collector of garbage must know.
type heldPeriods struct {
	*metrics
	app    *App
	memory int64
}

// PeriodsHeld implements resident.Observer. Keepers get what periods leave of their memory, half of it at most.
func (h heldPeriods) PeriodsHeld(periods int, bytes int64) {
	h.metrics.PeriodsHeld(periods, bytes)
	left := min(h.memory/2, h.memory-bytes)
	for _, k := range h.app.keepers {
		took := k.Keep(max(0, left), h.app.resident.Holds)
		left, bytes = left-took, bytes+took
	}
	h.app.collector.holdPeriods(bytes)
}

// wireCatalog makes the catalog. Each board that is read here is passed on to the refresher and to the listings in Redis.
func (a *App) wireCatalog() {
	opts := cache.CatalogOptions{Feed: a.feed, Gate: a.gate, OnRead: func(l leaderboard.Listing, clock leaderboard.Micros) {
		a.refresher.Follow(l)
		if a.listings != nil {
			l.Clock = clock
			a.listings.Looked(l)
		}
	}}
	if a.redis != nil {
		a.listings = topn.NewListings(a.redisBackground, "", a.cfg.StaleLimit)
		opts.LastKnown = a.listings.Find
	}
	a.catalog = cache.NewCatalog(a.store.Boards, opts)
	a.rules = newUnknownRules(a.store.Boards.Boards, a.unknownSources, a.feed, a.catalog, a.log)
	if a.listings != nil {
		a.hot = &hot{periods: a.resident, catalog: a.catalog, noted: a.listings, log: a.log}
	}
}

// oldCopy brings a copy up to date that a reader found too old.
func (a *App) oldCopy(ref leaderboard.PeriodRef) { a.follower.CatchUp(ref) }

// readings counts the answers of readers, and logs when the breaker of a Redis server opens or closes.
type readings struct {
	*metrics
	app *App
}

// BreakerTurned implements cache.Observer.
func (r readings) BreakerTurned(server string, open bool) {
	r.metrics.BreakerTurned(server, open)
	switch log := r.app.log; {
	case server == "":
		r.app.faults.leftAlone(open, log)
	case open:
		log.Warn("a server of Redis does not answer, reads continue without it", "server", server)
	default:
		log.Info("a server of Redis answers again, or is no longer asked", "server", server)
	}
}

// boards returns the boards of the process.
func (a *App) boards() boards { return boards{a.store.Boards, a.catalog, a.listings, a.gate, a.log} }

// pageLoader loads the pages for people.
type pageLoader interface {
	// LoadPages returns a function that makes the pages' handler: see httpapi.Config.Pages.
	LoadPages() (func(api http.Handler) http.Handler, error)
}

// wireAPI makes the HTTP API.
func (a *App) wireAPI() error {
	build := ReadBuildInfo()
	boards := a.boards()
	cfg := httpapi.Config{
		Catalog: a.catalog, Rankings: a.reader, Feed: a.feed, Writer: a.store.Writer,
		Boards: boards, Periods: boards,
		Status:    boardStatus{a.store.Boards, features.Offered[laggards](a.engine), a.catalog, a.copies, a.resident, a.feed, a.gate, &seenPeriods{periods: map[int64]leaderboard.Period{}}},
		Refresher: refreshing{a.refresher, a.store.Boards, a.copies}, Runs: a.store.Runs, Derived: features.Offered[httpapi.SourceVerifier](a.engine),
		Hidden: a.store.Hidden, Friends: features.Offered[httpapi.Friends](a.engine), Erasures: a.store.Erasures,
		Plays:   features.Offered[httpapi.Plays](a.engine),
		Streams: a.streams,
		Build:   httpapi.Build{Version: build.Version, Commit: build.Commit}, Health: a.health.now, Purge: a.store.Housekeeping.Purge, CheckRules: checkRules,
		SettingsKeys: a.cfg.Keys, Keyring: features.Offered[httpapi.Keyring](a.engine), Players: features.Offered[httpapi.Players](a.engine), Sessions: features.Offered[httpapi.Sessions](a.engine), Base: a.cfg.BasePath, Quotas: features.Offered[httpapi.Quotas](a.engine), Proxies: a.cfg.TrustedProxies.Networks, CORSOrigins: a.cfg.CORSOrigins,
		Observer: answeredRequests{a.metrics, &a.probes, a.log}, Tracer: a.traces.requests(), Logger: a.log,
		Shows: features.AllOffered[httpapi.Show](a.engine), Routes: a.features.routes(),
		Limits: httpapi.Limits{StandingWait: a.cfg.standingWait},
	}
	if pages := features.Offered[pageLoader](a.engine); pages != nil {
		var err error
		if cfg.Pages, err = pages.LoadPages(); err != nil {
			return err
		}
	}
	if a.cfg.PublicMetrics {
		cfg.Metrics = a.metrics.handler()
	}
	a.api = httpapi.New(cfg)
	a.metrics.watchStreams(a.streams.Open)
	a.metrics.watchRules(a.rules.count)
	return nil
}

// answeredRequests counts requests, and logs them at debug: by their routes, since paths hold ids of members. Probes are logged
// when their answer changes.
type answeredRequests struct {
	*metrics
	probes *probes
	log    *slog.Logger
}

// RequestAnswered implements httpapi.Observer.
func (a answeredRequests) RequestAnswered(r httpapi.RequestInfo) {
	a.metrics.RequestAnswered(r)
	if a.log.Enabled(context.Background(), slog.LevelDebug) && a.probes.changed(r.Route, r.Status) { // every request comes here
		a.log.DebugContext(trace.With(context.Background(), r.Span), "request", "method", r.Method, "route", r.Route, "status", r.Status, "took", r.Took.String(), "request_id", r.RequestID)
	}
}

// probes knows the last answer of each probe.
type probes struct {
	mu   sync.Mutex
	last map[string]int // status by route
}

// changed reports whether a request is logged. A request to a probe is logged when the status differs from the last one.
func (p *probes) changed(route string, status int) bool {
	if route != "/livez" && route != "/readyz" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last[route] == status {
		return false
	}
	if p.last == nil {
		p.last = map[string]int{}
	}
	p.last[route] = status
	return true
}

// opsHandler serves operators on a separate address. It leaves out pprof's command line, which may hold keys.
func (a *App) opsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.handler())
	mux.Handle("GET /livez", a.api)
	mux.Handle("GET /readyz", a.api)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// wireHealth makes the readiness that /readyz shows.
func (a *App) wireHealth() {
	a.health = &readiness{mysql: a.mysqlHealth, watched: a.feed.Age, staleLimit: a.cfg.StaleLimit, work: &a.background}
	a.health.hints = map[string]func() error{
		"rules": a.rules.health,
		"keys": func() error {
			if a.writers.none.Load() {
				return errNoWriters
			}
			return nil
		},
		"writes": func() error {
			if since, blocked := a.store.BlockedSince(); blocked {
				return httpapi.Reason("no write could commit since " + since.UTC().Format(time.RFC3339) + ": the tables are locked, or the disk is full")
			}
			return nil
		},
	}
	if a.redis != nil {
		a.health.redis = a.redisHealth
	}
}

// redisHealth returns the fault of Redis, nil for none. A pool without a free connection is no fault of Redis: this process is
// busy.
func (a *App) redisHealth(ctx context.Context) error {
	if err := topn.Ping(ctx, a.redis); err != nil && !topn.PoolIsBusy(err) {
		return err
	}
	return a.faults.health()
}

func (a *App) mysqlHealth(ctx context.Context) error {
	switch err := a.store.Ping(ctx); {
	case errors.Is(err, store.ErrReadOnly):
		return errReadOnly
	case errors.Is(err, store.ErrOtherServer):
		return errOtherServer
	case err != nil:
		return err
	}
	if err := a.schema.check(ctx, a.store); err != nil {
		return err
	}
	if !a.checked.Load() {
		return errUnchecked
	}
	if a.hot != nil && a.hot.loading.Load() {
		return errWarming
	}
	return nil
}

const errReadOnly = httpapi.Reason("the server is read-only: it is not the primary, or no longer")

const errOtherServer = httpapi.Reason("connections lead to more than one server, or to another one since a moment ago")

const errWarming = httpapi.Reason("what was read most before the start is being loaded into memory, for 5 seconds at most")

const errUnchecked = httpapi.Reason("it is not known yet whether the server is safe to use")
