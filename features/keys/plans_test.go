package keys

import (
	"testing"

	"leaderboard/internal/plantest"
)

// TestPlans: no statement about keys reads more than its keys, or sorts.
func TestPlans(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"k": "PRIMARY", "s": "PRIMARY"}
	plantest.Run(t, map[string]plantest.Planned{
		"keys":         {Query: plantest.Literal(selectKeys("id > ?"), "'k7'", 10), Keys: keys},
		"usable keys":  {Query: plantest.Literal(selectKeys(usableKeys("NOW(6)")), "'k7'", 10), Keys: keys},
		"old sessions": {Query: plantest.Literal(sessionsNext, "'2026-01-01'", 999), Keys: map[string]string{"sessions": "sessions_age"}},
	})
}
