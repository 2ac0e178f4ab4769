package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/serverfault"
)

const (
	// writersAskEvery is the time between two searches for a key that can write, writersNoneEvery while there is no such key, give
	// or take writersJitter.
	writersAskEvery  = 5 * time.Minute
	writersNoneEvery = 5 * time.Second
	writersJitter    = time.Second
	// writersTimeout bounds a search.
	writersTimeout = 5 * time.Second
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

// writerFinder looks for a key in the database that can write.
type writerFinder interface {
	AnyWriter(ctx context.Context) (bool, error)
}
