package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/internal/testenv"
	"leaderboard/store/internal/plantest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestPlans: each filter has an index that gives the records in their order, alone and with others, on every page.
func TestPlans(t *testing.T) {
	t.Parallel()
	statements := map[string]plantest.Planned{}
	for key, q := range map[string]leaderboard.AuditQuery{
		"audit_time":   {},
		"audit_action": {Action: leaderboard.AuditActionMemberHide},
		"audit_actor":  {Actor: "k7", Action: leaderboard.AuditActionMemberHide},
		"audit_board":  {Board: "b7", Actor: "k7"},
		"audit_member": {Member: "m7", Board: "b7", Actor: "k7", Action: leaderboard.AuditActionMemberHide},
	} {
		q.Limit = 10
		within := q
		within.Since, within.Until = 1_700_000_000_000_000, 1_800_000_000_000_000
		next := within
		next.BeforeTime, next.BeforeID = 1_750_000_000_000_000, 4711
		for name, q := range map[string]leaderboard.AuditQuery{"": q, ", of a span": within, ", next page": next} {
			query, args := statement(&q)
			for i := range args {
				if at, ok := args[i].(time.Time); ok {
					args[i] = at.Format("'2006-01-02 15:04:05.000000'")
				}
			}
			if n := strings.Count(query, "?"); n != len(args) {
				t.Fatalf("%d arguments for %d places", len(args), n)
			}
			statements[key+name] = plantest.Planned{Query: plantest.Literal(query, args...), Keys: map[string]string{"audit": key}}
		}
	}
	if len(statements) != 15 {
		t.Fatal(fmt.Sprint(len(statements), " statements"))
	}
	plantest.Run(t, statements)
}
