package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/serverfault"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

const (
	// writersAskEvery is the time between two searches for a key that can write, writersNoneEvery while there is none, give or
	// take writersJitter.
	writersAskEvery  = 5 * time.Minute
	writersNoneEvery = 5 * time.Second
	writersJitter    = time.Second
	// writersTimeout bounds a search.
	writersTimeout = 5 * time.Second
	// writersPage is how many keys are read at once, and writersPages how often. Among more keys than that, one is taken to be
	// able to write.
	writersPage  = 500
	writersPages = 20
)

const (
	wrongNoWriters  = "nobody can write: the settings have no key and no key that was made can write"
	remedyNoWriters = "Start once with LEADERBOARD_KEYS=admin:SECRET, then make keys with `leaderboard key create`"
	errNoWriters    = httpapi.Reason(wrongNoWriters + ". " + remedyNoWriters)
)

// noWriters is the fault that no key can write.
func noWriters() serverfault.Fault {
	return serverfault.Fault{Check: serverfault.CheckWriters, Wrong: wrongNoWriters, Remedy: remedyNoWriters, Doubtful: true}
}

// writers knows whether there is a key that can write.
type writers struct{ none atomic.Bool }

// note keeps the result of a search, and logs it when it has changed.
func (w *writers) note(can bool, log *slog.Logger) {
	switch was := w.none.Swap(!can); {
	case !can && !was:
		log.Warn(errNoWriters.Error())
	case can && was:
		log.Info("there is a key that can write now")
	}
}

// anyWriter reports whether a key in the database can write.
func anyWriter(ctx context.Context, keys *store.Store) (bool, error) {
	now, err := keys.Now(ctx)
	if err != nil {
		return false, err
	}
	after := ""
	for range writersPages {
		page, err := keys.Keys.Keys(ctx, after, writersPage)
		if err != nil {
			return false, err
		}
		for i := range page {
			if writes(&page[i], now) {
				return true, nil
			}
			after = page[i].ID
		}
		if len(page) < writersPage {
			return false, nil
		}
	}
	return true, nil
}

func writes(k *leaderboard.Key, now leaderboard.Micros) bool {
	return (k.Scope == leaderboard.ScopeWrite || k.Scope == leaderboard.ScopeAdmin) && k.RevokedAt == 0 && (k.ExpiresAt == 0 || k.ExpiresAt > now)
}
