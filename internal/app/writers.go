package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/httpapi"
)

const (
	// writersAskEvery is the time between two looks whether anybody can write, writersNoneEvery while nobody can, give or take
	// writersJitter.
	writersAskEvery  = 5 * time.Minute
	writersNoneEvery = 5 * time.Second
	writersJitter    = time.Second
	// writersTimeout bounds such a look.
	writersTimeout = 5 * time.Second
	// writersPage is how many keys are read at once, and writersPages how often: of more there is one that can write.
	writersPage  = 500
	writersPages = 20
)

const errNoWriters = httpapi.Reason("nobody can write: the settings have no key and no key that was made can write." +
	" Start once with LEADERBOARD_KEYS=admin:SECRET, then make keys with `leaderboard key create`")

// writers knows whether there is any key that can write.
type writers struct{ none atomic.Bool }

// note takes down what was found, and says so when it differs from the time before.
func (w *writers) note(can bool, log *slog.Logger) {
	switch was := w.none.Swap(!can); {
	case !can && !was:
		log.Warn(errNoWriters.Error())
	case can && was:
		log.Info("there is a key that can write now")
	}
}

// keyLister is where keys are listed.
type keyLister interface {
	Keys(ctx context.Context, after string, limit int) ([]leaderboard.Key, error)
	Now(ctx context.Context) (leaderboard.Micros, error)
}

// anyWriter says whether a key can write.
func anyWriter(ctx context.Context, keys keyLister) (bool, error) {
	now, err := keys.Now(ctx)
	if err != nil {
		return false, err
	}
	after := ""
	for range writersPages {
		page, err := keys.Keys(ctx, after, writersPage)
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
