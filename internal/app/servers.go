package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/cache/topn"
	"leaderboard/httpapi"
	"leaderboard/internal/serverfault"
	"leaderboard/store"
)

// faultsError means that a server is not safe to use, because of its faults.
type faultsError struct {
	place  string
	faults []serverfault.Fault
}

// Error implements error.
func (e *faultsError) Error() string {
	texts := make([]string, len(e.faults))
	for i := range e.faults {
		texts[i] = e.faults[i].Error()
	}
	return e.place + " is not safe to use: " + strings.Join(texts, "; ")
}

// Unwrap returns the faults.
func (e *faultsError) Unwrap() []error {
	out := make([]error, len(e.faults))
	for i := range e.faults {
		out[i] = &e.faults[i]
	}
	return out
}

// checkFaults returns an error when a server must not be used. It logs the doubtful faults unless log is nil.
func checkFaults(place string, faults []serverfault.Fault, log *slog.Logger) error {
	var serious []serverfault.Fault
	for _, f := range faults {
		switch {
		case !f.Doubtful:
			serious = append(serious, f)
		case log != nil:
			warn(log, place, &f)
		}
	}
	if len(serious) == 0 {
		return nil
	}
	return &faultsError{place, serious}
}

func warn(log *slog.Logger, place string, f *serverfault.Fault) {
	log.Warn(f.Wrong, "server", place, "remedy", f.Remedy, "check", string(f.Check))
}

// faultOf returns the fault of the server that an error of MySQL shows, nil for other errors. The fault lasts until an operator
// removes it, unless a failover is under way.
func faultOf(dsn string, err error) error {
	f := serverfault.Fault{}
	switch {
	case errors.Is(err, store.ErrReadOnly):
		f.Check, f.Wrong = serverfault.CheckReadOnly, "it is read-only: a replica, or a primary that another one has taken over from"
		f.Remedy = "give the primary's address in --mysql-dsn, or SET GLOBAL read_only = OFF on it"
	case store.LacksDatabase(err):
		_, name, _ := strings.Cut(PlaceOfDSN(dsn), "/")
		f.Check, f.Wrong = serverfault.CheckSchema, "there is no database "+name
		f.Remedy = "CREATE DATABASE `" + name + "`, or correct its name in --mysql-dsn"
	case store.IsDenied(err):
		f.Check, f.Wrong = serverfault.CheckPrivileges, "the account is not let in ("+err.Error()+")"
		f.Remedy = "correct user, password, database or tls in --mysql-dsn, or CREATE DATABASE if it is missing, and GRANT SELECT, INSERT, UPDATE, DELETE ON it to the account"
	default:
		return nil
	}
	return &faultsError{placeOfMySQL(dsn), []serverfault.Fault{f}}
}

// explained returns an error of MySQL as the command line shows it.
func explained(dsn string, err error) error {
	if _, ok := errors.AsType[*faultsError](err); ok {
		return err
	}
	if fault := faultOf(dsn, err); fault != nil {
		return fault
	}
	return fmt.Errorf("ask %s: %w", placeOfMySQL(dsn), err)
}

// ExplainDenied adds the remedy to an error of a migration that the account has no right for. checkMigration tries out the
// rights on the database, which are not all: some are granted for single tables.
func ExplainDenied(dsn string, err error) error {
	if _, ok := errors.AsType[*faultsError](err); ok || !store.IsDenied(err) {
		return err
	}
	return &faultsError{placeOfMySQL(dsn), []serverfault.Fault{{
		Check: serverfault.CheckPrivileges, Wrong: "the account may not do all that a migration does (" + err.Error() + ")",
		Remedy: "GRANT " + store.MigrationRights + " ON the database to it",
	}}}
}

func placeOfMySQL(dsn string) string { return "MySQL at " + PlaceOfDSN(dsn) }

func placeOfRedis(address string) string { return "Redis at " + PlaceOfURL(address) }

// faultsOfMySQL looks at a database server.
func faultsOfMySQL(ctx context.Context, s *store.Store, processes int) (look, error) {
	found, faults, err := s.Faults(ctx, processes)
	return look{found, faults}, err
}

// rightsToWork looks whether the account may work on the tables.
func rightsToWork(ctx context.Context, s *store.Store) (look, error) {
	faults, err := s.RightsToWork(ctx)
	return look{"the account may work on the tables", faults}, err
}

// lookError returns the error of a look at a database, or of its faults that make it unsafe.
func lookError(dsn string, l look, err error) error {
	if err != nil {
		return err
	}
	return checkFaults(placeOfMySQL(dsn), l.faults, nil)
}

// redisStartWait bounds a check of Redis, and with it how long the start waits for Redis.
const redisStartWait = 2 * time.Second

// redisState holds the result of the last check of Redis. Redis is a cache: if it was away at the start, or has changed since, no
// server ends. The log and /readyz report its faults, and it is used as far as possible.
type redisState struct {
	said  string                 // by note, which one goroutine calls
	wrong atomic.Pointer[string] // what /readyz says
	soon  chan struct{}          // holds a value when a check is wanted

	mu         sync.Mutex // guards the fields below
	alone      bool       // readers leave it alone
	unanswered bool       // it did not answer the last check
	since      time.Time  // when the log said that it is away, zero while it answers
}

func newRedisState() *redisState { return &redisState{soon: make(chan struct{}, 1)} }

// requestCheck asks for a check of Redis soon.
func (r *redisState) requestCheck() {
	select {
	case r.soon <- struct{}{}:
	default:
	}
}

// leftAlone notes whether readers leave Redis alone, because it did not answer them.
func (r *redisState) leftAlone(alone bool, log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alone = alone
	r.logChange(log)
}

// answered notes whether Redis answered a check.
func (r *redisState) answered(err error, log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unanswered = err != nil && !topn.PoolIsBusy(err)
	r.logChange(log)
}

// logChange logs when Redis goes away or comes back. mu is held.
func (r *redisState) logChange(log *slog.Logger) {
	switch away := r.alone || r.unanswered; {
	case away && r.since.IsZero():
		r.since = time.Now()
		log.Warn("Redis does not answer, the server continues without it")
	case !away && !r.since.IsZero():
		log.Info("Redis answers again", "after", time.Since(r.since).Round(time.Millisecond).String())
		r.since = time.Time{}
	}
}

// health returns the fault that /readyz shows, nil for none.
func (r *redisState) health() error {
	if wrong := r.wrong.Load(); wrong != nil {
		return httpapi.Reason(*wrong)
	}
	return nil
}

// note keeps the faults that a check found, and logs them when they differ from the faults of the check before.
func (r *redisState) note(place string, faults []serverfault.Fault, log *slog.Logger) {
	said, wrong := "", (*string)(nil)
	for i := range faults {
		f := &faults[i]
		text := f.Error()
		said += text + "\n"
		if wrong == nil && (!f.Doubtful || f.Check == serverfault.CheckReplica || f.Check == serverfault.CheckWrites) {
			wrong = &text
		}
	}
	r.wrong.Store(wrong)
	if said == r.said {
		return
	}
	if r.said = said; said == "" {
		log.Info("the faults of Redis are gone", "server", place)
	}
	for i := range faults {
		warn(log, place, &faults[i])
	}
}
