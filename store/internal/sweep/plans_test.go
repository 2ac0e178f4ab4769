package sweep

import (
	"testing"

	"leaderboard/internal/plantest"
)

// TestPlans: no statement of the housekeeping reads more than the rows that it works on, or sorts.
func TestPlans(t *testing.T) {
	t.Parallel()
	ids := []int64{1, 2, 3, 4, 5}
	statements := map[string]plantest.Planned{
		"oldest commits": {Query: plantest.Literal(oldestQuery, 0, 500), Keys: map[string]string{"changes": "PRIMARY", "c": "PRIMARY", "p": "PRIMARY"}},
		"log":            {Query: plantest.Literal(logNext, 1, 1, 9000, 1000), Keys: map[string]string{"changes": "PRIMARY"}},
		"end of a log":   {Query: plantest.Literal(logNewest, 1), Keys: map[string]string{"changes": "PRIMARY"}},
		"old keys":       {Query: plantest.Literal(keysNext, "'1970-01-01'", "'2026-01-01'", 999), Keys: map[string]string{"idempotency_keys": "idempotency_keys_age"}},
		"old audit":      {Query: plantest.Literal(auditNext, "'1970-01-01'", "'2026-01-01'", 999), Keys: map[string]string{"audit": "audit_time"}},
		"runs":           {Query: plantest.Literal(runsNext, 0, 1000), Keys: map[string]string{"runs": "PRIMARY"}},
		"kept runs":      {Query: plantest.Literal(runsKept, 10_000), Keys: map[string]string{"runs": "PRIMARY"}},
		"given up":       {Query: plantest.Literal(periodsGiven, 500), Keys: map[string]string{"periods": "periods_end"}},
		"purge":          {Query: plantest.Literal(purgeLeft, 100, 500), Keys: map[string]string{"boards": "boards_name", "periods": "periods_end"}},
		"retired boards": {Query: plantest.Literal(boardsRetired, 100), Keys: map[string]string{"boards": "boards_name"}},
	}
	for i, query := range purgeQueries(ids) {
		table := []string{"entries", "entries", "changes", "rank_indexes", "periods"}[i]
		statements["purge "+table] = plantest.Planned{Query: plantest.Literal(query, 1000), Keys: map[string]string{table: "PRIMARY"}}
	}
	plantest.Run(t, statements)
}
