package app

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/cache/topn"
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/internal/serverfault"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/refresher"
	"leaderboard/store"
)

const (
	// sweepEvery is the time between two rounds of housekeeping, give or take sweepJitter: several processes share the work.
	sweepEvery   = time.Minute
	sweepJitter  = 10 * time.Second
	sweepTimeout = 45 * time.Second
	// endRunsEvery is the time between two looks for runs of servers that have ended, give or take endRunsJitter.
	endRunsEvery   = 5 * time.Second
	endRunsJitter  = 500 * time.Millisecond
	endRunsTimeout = 5 * time.Second
)

// wireRedis opens Redis and makes the copies and their follower.
func (a *App) wireRedis() error {
	client, err := topn.Open(a.cfg.RedisURL)
	if err != nil {
		return err
	}
	background, err := topn.OpenBackground(a.cfg.RedisURL)
	if err != nil {
		return errors.Join(err, topn.Close(client))
	}
	a.redis, a.redisBackground = client, background
	a.copies = topn.New(client, copied{a.store.Entries, a.store.Boards}, topn.Options{
		Background: background, HookPoint: a.cfg.Fault.hook(), Observer: a.metrics, Logger: a.log,
	})
	a.follower = topn.NewWriteThrough(a.copies, topn.WriteThroughOptions{
		Demand: func(ref leaderboard.PeriodRef) { a.refresher.Demand(ref) }, Observer: a.metrics, Tail: a.feed.Tail, Logger: a.log,
		OnlyOld: a.cfg.Fault.leaves,
	})
	a.metrics.watchLag(a.follower.Lag)
	return nil
}

// copied reads the entries and boards for copies.
type copied struct {
	*store.Entries
	*store.Boards
}

// maxFeedInterval bounds the time between two looks at the database, even if answers may be older: a revoked key must stop working
// within a second.
const maxFeedInterval = 250 * time.Millisecond

// wireFeed makes the feed, which asks the database in one statement for the newest revisions and for changes of boards and of
// the tables that features hold.
func (a *App) wireFeed() {
	a.feed = feed.New(a.store.Entries, feed.Options{
		MaxAge: a.cfg.MaxAge, Interval: min(a.cfg.MaxAge/4, maxFeedInterval), Observer: a.metrics,
		OnShown: func(shown map[int64]leaderboard.Revision) { a.resident.Shown(shown) },
	})
}

// clock returns the clock of the database, extrapolated from its last value in the feed. It reports false before the first one.
func (a *App) clock() (leaderboard.Micros, bool) {
	at, sent, ok := a.feed.Clock()
	return at + leaderboard.Micros(time.Since(sent)/time.Microsecond), ok
}

// recomputer computes derived boards from scratch.
type recomputer interface {
	Recompute(ctx context.Context, board string) (leaderboard.Run, error)
}

// recompute computes a derived board from scratch, by the feature that offers it.
func recompute(ctx context.Context, e *features.Engine, board string) (leaderboard.Run, error) {
	if derived := features.Offered[recomputer](e); derived != nil {
		return derived.Recompute(ctx, board)
	}
	return leaderboard.Run{}, leaderboard.ErrNotDerived
}

// sourceKnower knows the sources of derived boards.
type sourceKnower interface {
	UnknownSources(derived, unknown []leaderboard.Board) map[int64]error
}

// unknownSources asks the feature that offers it, see unknownRules.
func (a *App) unknownSources(derived, unknown []leaderboard.Board) map[int64]error {
	if sources := features.Offered[sourceKnower](a.engine); sources != nil {
		return sources.UnknownSources(derived, unknown)
	}
	return nil
}

// newRefresher makes the refresher. f, copies and m may be nil.
func newRefresher(s *store.Store, f *feed.Feed, copies *topn.Copies, recompute func(context.Context, string) (leaderboard.Run, error), log *slog.Logger, m *metrics, span trace.Span) *refresher.Refresher {
	cfg := refresher.Config{Runs: s.Runs, Boards: s.Boards, Feed: f, Recompute: recompute, Logger: log, Span: span}
	if copies != nil {
		cfg.Copies, cfg.Memory = copies, copies.Memory
	}
	if m != nil {
		cfg.Observer = m
	}
	return refresher.New(cfg)
}

// demand returns the function by which a reader asks for a missing copy, nil without Redis.
func (a *App) demand() func(leaderboard.PeriodRef) func(context.Context) error {
	if a.copies == nil {
		return nil
	}
	return a.refresher.Demand
}

// checkRules checks the rules that only the refresher can read: cron expressions.
func checkRules(r leaderboard.Rules) []leaderboard.FieldError { return refresher.CheckRules(r) }

// startBackground starts the background work: the feed and the copies at once, the rest when the schema is ready. All of it
// ends with ctx.
func (a *App) startBackground(ctx context.Context) {
	ctx = trace.With(ctx, a.traces.root())
	a.background.Go(func() { a.feed.Run(ctx) })
	a.background.Go(func() { a.resident.Run(ctx) })
	a.background.Go(func() { every(ctx, redisProbeEvery, redisCheckJitter, func() { a.reader.Probe(ctx) }) })
	if a.cert != nil {
		a.background.Go(func() { every(ctx, certEvery, certJitter, a.cert.reread) })
	}
	a.background.Go(func() {
		if err := a.prepare(ctx); err != nil {
			if ctx.Err() == nil {
				a.failed <- err
			}
			return
		}
		a.background.Go(func() { a.sweep(ctx) })
		a.background.Go(func() { a.endRuns(ctx) })
		a.background.Go(func() { a.rules.run(ctx) })
		for _, run := range a.features.run() {
			a.background.Go(func() { run(ctx) })
		}
		a.refresher.Run(ctx)
	})
}

// prepare waits until the servers are found safe to use and the schema is up to date.
func (a *App) prepare(ctx context.Context) error {
	if err := carryOut(ctx, a.serverChecks()); err != nil {
		return err
	}
	if a.hot != nil {
		a.hot.loading.Store(true)
		a.background.Go(func() { a.hot.run(ctx) })
	}
	a.checked.Store(true)
	return nil
}

// machineChecks returns the checks of this machine, which a start makes before it serves.
func (a *App) machineChecks() []check {
	once := func(ctx context.Context, ask lookFunc) error {
		l, err := ask(ctx)
		if err != nil {
			return err
		}
		return checkFaults("this machine", l.faults, a.log)
	}
	return []check{
		{name: "tls-cert", mend: "give the certificates in --tls-cert and their key in --tls-key, both in PEM", run: a.checkCertificate, start: once},
		{name: "listen", run: a.checkListener("listen", a.cfg.Listen, &a.listener), start: once},
		{name: "ops-listen", run: a.checkListener("ops-listen", a.cfg.OpsListen, &a.opsListener), start: once},
		{name: "open files", run: a.checkFiles, start: once},
	}
}

// serverChecks returns the checks of MySQL, Redis and the identity provider, which a start makes before it is ready.
func (a *App) serverChecks() []check {
	return []check{
		{
			name: "redis", optional: true, mend: "start it, or correct --redis-url; servers work without it, and leave all reads to MySQL", run: a.checkRedis, start: a.startRedis,
		},
		{
			name: "mysql", mend: "start it, or correct its address in --mysql-dsn", run: a.checkMySQL,
			start: func(ctx context.Context, ask lookFunc) error { return a.untilSafe(ctx, ask, a.log) },
		},
		{
			name: "schema", after: "mysql", run: func(ctx context.Context) (look, error) { return checkSchema(ctx, a.store, a.cfg.Migrate) },
			start: func(ctx context.Context, ask lookFunc) error { return startSchema(ctx, &a.cfg, ask, a.log) },
		},
		{
			name: "rights", after: "schema", run: func(ctx context.Context) (look, error) { return rightsToWork(ctx, a.store) },
			start: func(ctx context.Context, ask lookFunc) error { return a.untilSafe(ctx, ask, nil) },
		},
		{name: "keys", after: "schema", run: a.checkWriters, start: func(ctx context.Context, _ lookFunc) error {
			next := a.lookForWriters(ctx)
			a.background.Go(func() { a.watchWriters(ctx, next) })
			return nil
		}},
		{
			name: "sign-in", optional: true, mend: "correct --oidc-issuer, or repair the provider; keys work without it",
			run: a.checkProvider,
			start: func(ctx context.Context, ask lookFunc) error {
				a.background.Go(func() {
					if _, err := ask(ctx); err != nil && ctx.Err() == nil {
						a.log.Warn("people cannot sign in now", "error", err)
					}
				})
				return nil
			},
		},
	}
}

// checkCertificate reads the certificate if the settings name its file.
func (a *App) checkCertificate(context.Context) (l look, err error) {
	if a.cfg.TLSCert != "" {
		a.cert, l, err = readCertificate(a.cfg.TLSCert, a.cfg.TLSKey, a.log)
	}
	return l, err
}

func (a *App) checkFiles(context.Context) (look, error) { return filesFor(&a.cfg, a.files()), nil }

func (a *App) files() openFiles {
	return openFiles{maxFiles(), otherFiles(&a.cfg, a.redis, a.redisBackground)}
}

// checkListener returns a function that opens the address of a setting for *at, unless *at is open or the address is empty.
func (a *App) checkListener(setting, address string, at *net.Listener) lookFunc {
	return func(context.Context) (look, error) {
		if *at == nil && address == "" {
			return look{}, nil
		}
		if *at == nil {
			l, err := Listen(setting, address)
			if err != nil {
				return look{}, err
			}
			*at = l
		}
		return look{found: (*at).Addr().String() + " is free"}, nil
	}
}

// checkMySQL looks at the database server.
func (a *App) checkMySQL(ctx context.Context) (look, error) {
	l, err := faultsOfMySQL(ctx, a.store, a.cfg.Servers)
	if l.found != "" {
		l.found = PlaceOfDSN(a.cfg.MySQLDSN) + ": " + l.found + ", it takes writes"
	}
	return l, err
}

// untilSafe asks the database until it answers, and fails if the answer shows a fault that makes it unsafe. It logs doubtful
// faults unless log is nil.
func (a *App) untilSafe(ctx context.Context, ask lookFunc, log *slog.Logger) error {
	return untilSchema(ctx, a.cfg.MySQLDSN, a.log, func() (done bool, err error) {
		l, err := ask(ctx)
		if err == nil {
			err = checkFaults(placeOfMySQL(a.cfg.MySQLDSN), l.faults, log)
		}
		return !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, store.ErrUnsupported), err
	})
}

// The time between two checks of Redis, redisAwayEvery while it does not answer or refuses writes, give or take redisCheckJitter.
const (
	redisCheckEvery  = time.Minute
	redisAwayEvery   = 2 * time.Second
	redisCheckJitter = 500 * time.Millisecond
	// redisProbeEvery is the time between two questions to a Redis that readers leave alone, while nobody reads.
	redisProbeEvery = 2 * time.Second
)

// checkRedis looks at Redis, for a limited time.
func (a *App) checkRedis(ctx context.Context) (look, error) {
	if a.redis == nil {
		return look{found: "none is given: all reads go to MySQL"}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, redisStartWait)
	defer cancel()
	found, faults, err := topn.Faults(ctx, a.redisBackground)
	return look{PlaceOfURL(a.cfg.RedisURL) + ": " + found, faults}, err
}

// startRedis fails when Redis must not be used. If Redis is away, it is checked as soon as it answers.
func (a *App) startRedis(ctx context.Context, ask lookFunc) error {
	if a.redis == nil {
		return nil
	}
	l, err := ask(ctx)
	a.faults.answered(err, a.log)
	if err == nil {
		if err := checkFaults(placeOfRedis(a.cfg.RedisURL), l.faults, nil); err != nil {
			return err
		}
		a.faults.note(placeOfRedis(a.cfg.RedisURL), l.faults, a.log)
	}
	a.background.Go(func() { a.watchRedis(ctx, err == nil) })
	return nil
}

// watchRedis checks Redis again and again until ctx ends.
func (a *App) watchRedis(ctx context.Context, works bool) {
	for {
		next := redisCheckEvery
		if !works {
			next = redisAwayEvery
		}
		timer := time.NewTimer(next - redisCheckJitter + rand.N(2*redisCheckJitter))
		select {
		case <-timer.C:
		case <-a.faults.soon:
			pause(ctx, redisCheckJitter) // one check serves many who want one
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
		l, err := a.checkRedis(ctx)
		a.faults.answered(err, a.log)
		if works = err == nil; works {
			a.faults.note(placeOfRedis(a.cfg.RedisURL), l.faults, a.log)
			works = !slices.ContainsFunc(l.faults, func(f serverfault.Fault) bool { return f.Check == serverfault.CheckWrites })
		}
	}
}

// outage reports whether an error is that MySQL or Redis does not answer. If it is Redis, Redis is checked soon.
func (a *App) outage(err error) bool {
	if errors.Is(err, leaderboard.ErrUnavailable) && !errors.Is(err, topn.ErrAway) {
		return errors.Is(err, store.ErrAway) && a.store.Silent()
	}
	if a.redis != nil && topn.IsAway(err) {
		a.faults.requestCheck()
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) && a.store.Silent()
}

// watchWriters looks again and again for a key that can write, until ctx ends or next is 0.
func (a *App) watchWriters(ctx context.Context, next time.Duration) {
	for next > 0 {
		pause(ctx, next-writersJitter+rand.N(2*writersJitter))
		if ctx.Err() != nil {
			return
		}
		next = a.lookForWriters(ctx)
	}
}

// lookForWriters looks for a key that can write, and returns the time until the next look: 0 for never, if the settings have such
// a key.
func (a *App) lookForWriters(ctx context.Context) time.Duration {
	if a.writersInSettings() != "" {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, writersTimeout)
	defer cancel()
	can, err := a.anyWriter(ctx)
	if err == nil {
		a.writers.note(can, a.log)
	}
	if err != nil || !can {
		return writersNoneEvery
	}
	return writersAskEvery
}

// anyWriter reports whether a key in the database can write; there is none when no feature has keys.
func (a *App) anyWriter(ctx context.Context) (bool, error) {
	if keys := features.Offered[writerFinder](a.engine); keys != nil {
		return keys.AnyWriter(ctx)
	}
	return false, nil
}

// writersInSettings names what can write by the settings: a key, or people who sign in; "": nothing.
func (a *App) writersInSettings() string {
	switch provider := features.Offered[identityProvider](a.engine); {
	case slices.ContainsFunc(a.cfg.Keys, func(k httpapi.SettingsKey) bool { return k.Scope.Includes(leaderboard.ScopeWrite) }):
		return "a key of the settings"
	case provider != nil && provider.Writers():
		return "people who sign in"
	}
	return ""
}

// checkWriters looks for a key that can write.
func (a *App) checkWriters(ctx context.Context) (look, error) {
	if who := a.writersInSettings(); who != "" {
		return look{found: who + " can write"}, nil
	}
	if pending, err := migrations.Pending(ctx, a.store.DB()); err != nil || pending {
		return look{found: "not looked for, since the tables are not up to date"}, err
	}
	can, err := a.anyWriter(ctx)
	if err != nil || can {
		return look{found: "a key in the database can write"}, err
	}
	return look{faults: []serverfault.Fault{noWriters()}}, nil
}

// sweep does the store's housekeeping once a minute.
func (a *App) sweep(ctx context.Context) {
	every(ctx, sweepEvery, sweepJitter, func() {
		bounded, cancel := context.WithTimeout(ctx, sweepTimeout)
		defer cancel()
		bounded, span := trace.Start(bounded, "housekeeping", trace.KindInternal)
		err := a.store.Housekeeping.Sweep(bounded)
		span.Done(err)
		if err != nil && ctx.Err() == nil {
			a.log.WarnContext(bounded, "housekeeping is put off", "error", err)
		}
	})
}

// endRuns ends the runs of servers that have ended.
func (a *App) endRuns(ctx context.Context) {
	every(ctx, endRunsEvery, endRunsJitter, func() {
		bounded, cancel := context.WithTimeout(ctx, endRunsTimeout)
		defer cancel()
		if err := a.store.Runs.EndRuns(bounded); err != nil && ctx.Err() == nil {
			a.log.DebugContext(bounded, "runs of servers that have ended are looked for later", "error", err)
		}
	})
}

// stopRefreshes ends the runs and lets the last commits through to the copies.
func (a *App) stopRefreshes(ctx context.Context) error {
	err := a.refresher.Close(ctx)
	if a.follower == nil {
		return err
	}
	if stopped := a.follower.Stop(ctx); stopped != nil {
		a.log.Warn("copies are left behind, the next refresh catches up", "error", stopped)
	}
	return err
}
