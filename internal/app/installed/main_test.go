package installed_test

import (
	"os"
	"testing"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/features/friends"
	"leaderboard/features/keys"
	"leaderboard/features/people"
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

func (w *whole) people() *people.Store { return features.Offered[*people.Store](w.engine) }

// open returns a migrated store on a database, with all features.
func open(t testing.TB, dsn string, change func(*store.Config)) *whole {
	t.Helper()
	return openWith(t, dsn, installed.Features(), change)
}

// openWith returns one with features whose settings are others.
func openWith(t testing.TB, dsn string, list []features.Feature, change func(*store.Config)) *whole {
	t.Helper()
	s, e := featuretest.Store(t, dsn, list, change)
	return &whole{s, e}
}
