package installed_test

import (
	"os"
	"testing"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/features/friends"
	"leaderboard/features/keys"
	"leaderboard/features/records"
	"leaderboard/internal/app/installed"
	"leaderboard/internal/testenv"
	"leaderboard/store"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// whole is a store with all features.
type whole struct {
	*store.Store
	engine *features.Engine
}

func (w *whole) keys() *keys.Store { return features.Offered[*keys.Store](w.engine) }

func (w *whole) records() *records.Store { return features.Offered[*records.Store](w.engine) }

func (w *whole) friends() *friends.Store { return features.Offered[*friends.Store](w.engine) }

// open returns a migrated store on a database, with all features.
func open(t testing.TB, dsn string, change func(*store.Config)) *whole {
	t.Helper()
	s, e := featuretest.Store(t, dsn, installed.Features(installed.Settings{}), change)
	return &whole{s, e}
}
