package app

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/httpapi"
	"leaderboard/migrations"
	"leaderboard/store"
)

const (
	// mysqlHealthLimit and redisHealthLimit bound the questions of a probe. They are asked side by side, so that a slow MySQL
	// does not make Redis look slow, and the reverse.
	mysqlHealthLimit = 2 * time.Second
	redisHealthLimit = 200 * time.Millisecond
	// healthAge is how long an answer holds when MySQL and Redis answered, badHealthAge when one did not: both are asked at
	// most this often, however many probes there are.
	healthAge    = time.Second
	badHealthAge = 100 * time.Millisecond
	// healthWait is how long a probe waits for a new answer. Then it gets the last answer, if that is younger than oldHealth.
	healthWait = 300 * time.Millisecond
	oldHealth  = 10 * time.Second
)

// readiness knows whether requests should be sent to this process. All methods may be called concurrently.
type readiness struct {
	mysql func(context.Context) error
	redis func(context.Context) error // nil without Redis
	// hints are further checks of /readyz, by name. An error of one is shown, and does not make the server unready.
	hints map[string]func() error
	// watched returns how long ago the feed last heard from MySQL, 0 for never.
	watched    func() time.Duration
	staleLimit time.Duration
	work       *sync.WaitGroup // probes under way

	mu      sync.Mutex // guards the fields below
	last    httpapi.Health
	holds   time.Duration // how long last is answered without another probe
	at      time.Time     // when the probe of last began, zero before the first
	reached time.Time     // when MySQL last worked
	probe   chan struct{} // closed at the end of the probe under way, nil between probes
}

// now returns the health of the process: of now, or of a moment ago.
func (r *readiness) now(ctx context.Context) httpapi.Health {
	r.mu.Lock()
	age, known := time.Since(r.at), !r.at.IsZero()
	if known && age < r.holds {
		defer r.mu.Unlock()
		return r.last
	}
	if r.probe == nil {
		r.probe = make(chan struct{})
		r.work.Go(r.refresh)
	}
	probe, maxWait := r.probe, (<-chan time.Time)(nil)
	r.mu.Unlock()
	if known && age < oldHealth {
		timer := time.NewTimer(healthWait)
		defer timer.Stop()
		maxWait = timer.C
	}
	select {
	case <-probe:
	case <-maxWait:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// refresh asks MySQL and Redis side by side, and keeps the answer.
func (r *readiness) refresh() {
	began := time.Now()
	var mysql, redis error
	var all sync.WaitGroup
	ask := func(limit time.Duration, question func(context.Context) error, to *error) {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			*to = question(ctx)
		})
	}
	ask(mysqlHealthLimit, r.mysql, &mysql)
	if r.redis != nil {
		ask(redisHealthLimit, r.redis, &redis)
	}
	all.Wait()
	h := httpapi.Health{Checks: map[string]error{"mysql": mysql}}
	if r.redis != nil {
		h.Checks["redis"] = redis
	}
	for name, hint := range r.hints {
		if err := hint(); err != nil {
			h.Checks[name] = err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if mysql == nil {
		r.reached = began
	}
	h.Ready = mysql == nil || r.serves(r.redis != nil && redis == nil)
	r.last, r.at, r.holds = h, began, badHealthAge
	if mysql == nil && lasts(redis) {
		r.holds = healthAge
	}
	close(r.probe)
	r.probe = nil
}

// lasts reports whether a dependency works or has a known fault. Such a fault lasts until an operator removes it, so the
// dependency is asked less often.
func lasts(err error) bool {
	_, told := errors.AsType[httpapi.Reason](err)
	return err == nil || told
}

// serves reports whether there is something to serve without MySQL: copies in Redis, or answers of this process. Both are
// served, marked stale, until MySQL has been away for staleLimit. A process that never reached MySQL may have wrong settings, and
// must not take requests from others. mu is held.
func (r *readiness) serves(redis bool) bool {
	if r.reached.IsZero() {
		return false
	}
	watched := r.watched()
	since := time.Since(r.reached)
	if watched > 0 {
		since = min(since, watched)
	}
	return since < r.staleLimit && (redis || watched > 0)
}

// schemaState remembers that the schema was seen complete; it stays so.
type schemaState struct{ complete atomic.Bool }

const errSchema = httpapi.Reason("the schema is not up to date: run `leaderboard migrate up`, or serve with --migrate")

func (s *schemaState) check(ctx context.Context, database *store.Store) error {
	if s.complete.Load() {
		return nil
	}
	pending, err := migrations.Pending(ctx, database.Probe())
	switch {
	case errors.Is(err, migrations.ErrOtherSchema):
		return httpapi.Reason(migrations.ErrOtherSchema.Error())
	case err != nil:
		return err
	case pending:
		return errSchema
	}
	s.complete.Store(true)
	return nil
}
