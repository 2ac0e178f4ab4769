package storetest_test

import (
	"testing"

	"leaderboard/store/storetest"
)

func TestModelConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.NewModel())
}
