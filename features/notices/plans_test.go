package notices

import (
	"os"
	"testing"

	"leaderboard/internal/plantest"
	"leaderboard/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestPlans: no statement reads more than it works on, or sorts.
func TestPlans(t *testing.T) {
	t.Parallel()
	plantest.Run(t, map[string]plantest.Planned{
		"places": {Query: plantest.Literal(places, 1, 500), Keys: map[string]string{"n": "PRIMARY", "p": "PRIMARY", "q": "periods_start"}},
		"newest": {Query: plantest.Literal(newest, 1, "'day'"), Keys: map[string]string{"periods": "periods_start"}},
	})
}
