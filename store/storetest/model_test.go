package storetest_test

import (
	"testing"

	"leaderboard/store/storetest"
)

func TestModelConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.NewModel())
	storetest.RunFeatured(t, storetest.NewModel())
}

func TestModelWindows(t *testing.T) {
	t.Parallel()
	m := storetest.NewModel()
	storetest.RunWindows(t, storetest.Subject{Database: m, Rankings: m, SetNow: m.SetNow})
}

func TestModelSilentRuns(t *testing.T) {
	t.Parallel()
	m := storetest.NewModel()
	storetest.RunSilent(t, m, m.Silence)
}
