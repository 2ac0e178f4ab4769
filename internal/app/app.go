package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/cache"
	"leaderboard/cache/feed"
	"leaderboard/cache/resident"
	"leaderboard/cache/topn"
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/internal/demo"
	"leaderboard/leaderboard"
	"leaderboard/refresher"
	"leaderboard/store"
)

// App is one serving process, wired together from a Config. New makes it without any I/O, Start serves, Stop ends it in
// order. Start and Stop must be called once each, by one goroutine.
type App struct {
	cfg      Config
	log      *slog.Logger
	metrics  *metrics
	listener net.Listener // opened by Start unless it is there already

	opsListener net.Listener // likewise; nil: none

	store           *store.Store
	redis           topn.Client // nil without Redis; then copies and follower are nil too
	redisBackground topn.Client // the same Redis, for background work
	copies          *topn.Copies
	follower        *topn.WriteThrough
	refresher       *refresher.Refresher
	catalog         *cache.Catalog
	listings        *topn.Listings // nil without Redis
	hot             *hot           // likewise
	feed            *feed.Feed     // the commits of all servers
	resident        *resident.Periods
	collector       *collector   // nil until Run
	cert            *certificate // nil: the API is served without TLS
	reader          *cache.Reader
	gate            gate
	schema          schemaState
	checked         atomic.Bool // the servers were found safe to use
	faults          *redisState
	writers         writers
	health          *readiness
	rules           *unknownRules
	streams         *httpapi.Streams
	engine          *features.Engine // the base of the features, with the values that they offer each other
	features        openedFeatures
	keepers         []keeper
	api             *httpapi.API
	probes          probes
	traces          traces

	servers    []*http.Server
	failed     chan error // a listener that broke
	background sync.WaitGroup
	cancel     context.CancelFunc // ends the background work
}

// New wires an app. It fails for a configuration that cannot work; MySQL and Redis may be away.
func New(ctx context.Context, cfg Config, log *slog.Logger) (_ *App, err error) {
	a := &App{cfg: cfg, metrics: newMetrics(), failed: make(chan error, 4), faults: newRedisState()}
	if a.traces, err = newTraces(cfg.Tracing, ReadBuildInfo().Version, log); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.traces.stop(ctx, log)
		}
	}()
	log = slog.New(&quieter{log.Handler(), a.outage})
	a.log = log
	a.store, err = store.Open(ctx, store.Config{
		DSN: cfg.MySQLDSN, MaxConns: cfg.MySQLMaxConns, WriteWait: cfg.WriteWait, BatchRows: cfg.BatchRows,
		KeyTTL: cfg.KeyTTL, AuditTTL: cfg.AuditTTL, ChangeTTL: cfg.ChangeTTL, Clock: cfg.clock, Logger: log, OnCommit: a.committed, Observer: a.metrics,
		OnIndexes: func(bytes int64) { a.collector.holdIndexes(bytes) },
		Parts:     features.Parts(cfg.Features),
	})
	if err != nil {
		return nil, err
	}
	a.wireFeed()
	a.wireResident()
	a.metrics.watchAge(a.feed.Age)
	a.metrics.watchLog(a.store.Housekeeping.ChangeLog)
	a.metrics.watchPurge(a.store.Housekeeping.Purge)
	a.metrics.watchReads(a.store)
	if cfg.RedisURL != "" {
		if err := a.wireRedis(); err != nil {
			return nil, errors.Join(err, a.store.Close())
		}
	}
	a.gate = newGate(&cfg, a.metrics.rejections.Inc)
	a.wireCatalog()
	a.refresher = newRefresher(a.store, a.feed, a.copies, func(ctx context.Context, board string) (leaderboard.Run, error) {
		return recompute(ctx, a.engine, board)
	}, log, a.metrics, a.traces.root())
	a.wireReader()
	a.wireHealth()
	a.streams = httpapi.NewStreams(cfg.MaxStreams)
	a.engine = &features.Engine{
		Server: cfg.server(), DB: a.store.Database(), Writer: a.store.Writer, Boards: a.store.Boards, Entries: a.store.Entries, Members: a.store.Members, Sweeper: a.store.Housekeeping.Sweeper(),
		Catalog: a.catalog, BoardFinder: a.boards(), Rankings: a.reader, Feed: a.feed, Tables: a.feed, Clock: a.clock, Streams: a.streams, API: func() *httpapi.API { return a.api }, Redis: a.redisBackground, Alone: a.reader.Alone, Log: a.log,
	}
	a.features = openFeatures(cfg.Features, a.store, a.engine, a.metrics)
	a.keepers = features.AllOffered[keeper](a.engine)
	if err := a.wireAPI(); err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	return a, nil
}

// committed is called by the store after each commit, in the order of seq per period.
func (a *App) committed(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
	a.catalog.Committed(ref)
	a.resident.Committed(ref.ID, commit)
	a.features.committed(ref)
	if a.follower != nil {
		a.follower.Notify(ref, commit)
	}
}

// Start opens the listeners and begins to serve and to work in the background.
func (a *App) Start(ctx context.Context) error {
	if err := carryOut(ctx, a.machineChecks()); err != nil {
		return err
	}
	server := httpapi.Server("", a.api)
	if a.cert != nil {
		a.cert.serveBy(server)
	}
	a.serveOn(a.listener, server, connLimits(&a.cfg, a.files(), a.metrics))
	if a.opsListener != nil {
		a.serveOn(a.opsListener, httpapi.Server("", a.opsHandler()), httpapi.ConnLimits{All: opsConns})
		a.log.Info("operations are served", "addr", "http://"+a.opsListener.Addr().String())
	}
	ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
	a.startBackground(ctx)
	a.log.Info(
		"serving", "addr", a.BaseURL(), "mysql", PlaceOfDSN(a.cfg.MySQLDSN), "redis", PlaceOfURL(a.cfg.RedisURL),
		"version", ReadBuildInfo().Version,
	)
	return nil
}

// UseListener makes Start serve on l, which must be open.
func (a *App) UseListener(l net.Listener) { a.listener = l }

// PlayDemo plays on the demo boards until ctx ends or the app stops. It is called after Start and before Stop.
func (a *App) PlayDemo(ctx context.Context, members int) {
	ctx, cancel := context.WithCancel(ctx)
	stop := a.cancel
	a.cancel = func() { cancel(); stop() }
	a.background.Go(func() { demo.Play(ctx, played{a.store.Boards, a.store.Entries, a.store, a.api}, members, a.log) })
}

// played is the database for the demo player, whose scores count as submitted through this server.
type played struct {
	*store.Boards
	*store.Entries
	store *store.Store
	api   *httpapi.API
}

// Submit submits a request.
func (p played) Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	p.api.Wrote(len(r.Entries))
	return p.store.Writer.Submit(ctx, r)
}

// Addr returns the host:port that is served. It must be called after Start.
func (a *App) Addr() string { return a.listener.Addr().String() }

// BaseURL returns the URL of the API. It must be called after Start.
func (a *App) BaseURL() string {
	if a.cert != nil {
		return "https://" + a.Addr() + a.cfg.BasePath
	}
	return "http://" + a.Addr() + a.cfg.BasePath
}

func (a *App) serveOn(l net.Listener, server *http.Server, limits httpapi.ConnLimits) {
	server.ErrorLog = slog.NewLogLogger(a.log.Handler(), slog.LevelDebug)
	a.servers = append(a.servers, server)
	serve := server.Serve
	if limits.TLS = server.TLSConfig != nil; limits.TLS {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	a.background.Go(func() {
		if err := serve(httpapi.Listener(l, limits)); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serve on %s: %w", l.Addr(), err)
		}
	})
}

// Stop ends the app in order: /readyz says draining, the listeners close and the requests under way are answered, the
// background work ends, the batches under way are committed, the connections close. Requests get the shutdown-timeout,
// background work and copies in Redis as long as ctx, and the store 6 s (store.Store.Close).
func (a *App) Stop(ctx context.Context) error {
	start, served := time.Now(), len(a.servers) > 0
	a.api.SetDraining(true)
	if served {
		a.log.Info("stopping")
		pause(ctx, a.cfg.DrainDelay)
	}
	a.streams.End()
	var errs []error
	requests, cancel := context.WithTimeout(ctx, a.cfg.ShutdownTimeout)
	for _, server := range a.servers {
		if err := server.Shutdown(requests); err != nil {
			a.log.Warn("requests under way are cut off", "after", a.cfg.ShutdownTimeout)
			errs = append(errs, server.Close())
		}
	}
	cancel()
	for _, l := range []net.Listener{a.listener, a.opsListener} {
		if l != nil && !served {
			errs = append(errs, l.Close())
		}
	}
	if a.cancel != nil {
		a.cancel()
	}
	if !ends(ctx, a.background.Wait) {
		a.log.Warn("background work is cut off")
	}
	errs = append(errs, a.stopRefreshes(ctx), a.store.Close())
	a.features.close()
	if a.redis != nil {
		errs = append(errs, topn.Close(a.redis), topn.Close(a.redisBackground))
	}
	a.traces.stop(ctx, a.log)
	if served {
		a.log.Info("stopped", "took", time.Since(start).Round(time.Millisecond).String())
	}
	return errors.Join(errs...)
}
