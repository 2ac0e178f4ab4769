package outbox

import (
	"testing"

	"leaderboard/internal/plantest"
)

// TestPlans: no statement reads more than it works on, or sorts.
func TestPlans(t *testing.T) {
	t.Parallel()
	plantest.Run(t, map[string]plantest.Planned{
		"aged":        {Query: plantest.Literal(agedEvents, "'2026-01-01'", 20), Keys: map[string]string{"outbox": "outbox_age"}},
		"of a member": {Query: plantest.Literal(memberNews, "'m7'", 20), Keys: map[string]string{"m": "outbox_members_member", "o": "PRIMARY"}},
	})
}
