package review

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/internal/plantest"
)

// TestPlans: what decides whether submissions wait is read by indexes, for as many members as a batch may have.
func TestPlans(t *testing.T) {
	t.Parallel()
	r := &reviews{boardID: 1, first: 1, ranks: []int{10}, named: []int64{7}}
	for i := range mysql.MaxRows {
		r.members = append(r.members, fmt.Sprint("m", i))
	}
	var text mysql.Text
	r.Read(&text)
	out, keys := map[string]plantest.Planned{}, []string{"", "held_waiting", "PRIMARY"}
	for i, q := range strings.Split(strings.TrimSuffix(text.String(), ";"), ";") {
		out[fmt.Sprint("read ", i)] = plantest.Planned{Query: q, Keys: map[string]string{"entries": "entries_order", "held": keys[i]}}
	}
	plantest.Run(t, out)
}
