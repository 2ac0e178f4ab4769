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
	// mysqlHealthLimit and redisHealthLimit bound the questions of a probe. They are asked side by side, so that neither
	// is taken for the other.
	mysqlHealthLimit = 2 * time.Second
	redisHealthLimit = 200 * time.Millisecond
	// healthAge is for how long an answer holds when MySQL and Redis answered, badHealthAge any other: however many ask, both
	// are asked as seldom as this.
	healthAge    = time.Second
	badHealthAge = 100 * time.Millisecond
	// healthWait is how long who asks waits for a new answer while there is an old one, which is told up to oldHealth.
	healthWait = 300 * time.Millisecond
	oldHealth  = 10 * time.Second
)

// readiness says whether requests should be sent here. All methods may be called concurrently.
type readiness struct {
	mysql func(context.Context) error
	redis func(context.Context) error // nil without Redis
	// hints are what else /readyz tells, by name, where there is something to tell. It makes no server unready.
	hints map[string]func() error
	// watched returns how long ago MySQL last told a reader how far its periods are, 0 for never.
	watched    func() time.Duration
	staleLimit time.Duration
	work       *sync.WaitGroup // probes under way

	mu      sync.Mutex // guards the fields below
	last    httpapi.Health
	holds   time.Duration // for how long last is told without another look
	at      time.Time     // when last was asked for, zero before the first
	reached time.Time     // when MySQL last worked
	probe   chan struct{} // closed at the end of the probe under way, nil when none is
}

// now returns how things stand: at present, or as they stood a moment ago.
func (r *readiness) now(ctx context.Context) httpapi.Health {
	r.mu.Lock()
	age, known := time.Since(r.at), !r.at.IsZero()
	if known && age < r.holds {
		defer r.mu.Unlock()
		return r.last
	}
	if r.probe == nil {
		r.probe = make(chan struct{})
		r.work.Go(r.ask)
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

// ask asks all at once.
func (r *readiness) ask() {
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

// lasts says whether a dependency works, or has told what is wrong with it. That lasts until somebody mends it, so there is
// no hurry to ask again.
func lasts(err error) bool {
	_, told := errors.AsType[httpapi.Reason](err)
	return err == nil || told
}

// serves says whether there is something to serve without MySQL: the copies in Redis, or answers of this process. Both are
// served, marked stale, for as long after MySQL last worked. Who never saw it work may be configured wrongly, and takes no
// requests away from others. It is called with mu held.
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

// schemaState remembers that the schema was seen complete, which it then stays.
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
