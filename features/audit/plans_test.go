package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/plantest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
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
			by, keys := filtersOf(&q), map[string]string{"audit": key}
			add := func(what, query string, args []any) {
				for i := range args {
					if at, ok := args[i].(time.Time); ok {
						args[i] = at.Format("'2006-01-02 15:04:05.000000'")
					}
				}
				if n := strings.Count(query, "?"); n != len(args) {
					t.Fatalf("%d arguments for %d places", len(args), n)
				}
				statements[key+name+what] = plantest.Planned{Query: plantest.Literal(query, args...), Keys: keys}
			}
			query, args := statement(by, &q, leaderboard.AuditPlace{})
			add("", query, args)
			if len(by) > 1 {
				query, args = lastScannedText(by[0], &q)
				add(", how far", query, args)
				query, args = statement(by, &q, leaderboard.AuditPlace{Time: 1_740_000_000_000_000, ID: 17})
				add(", so far", query, args)
			}
		}
	}
	if len(statements) != 15+2*9 {
		t.Fatal(fmt.Sprint(len(statements), " statements"))
	}
	plantest.Run(t, statements)
}
