package review

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
)

// TestPlans: the data that decide whether submissions wait are read by indexes, for as many members as a batch may have,
// and lists of them too.
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
	for name, q := range map[string]leaderboard.HeldQuery{"held_member": {Member: "m7"}, "held_waiting": {Member: "m7", BoardID: 1}, "held_board": {BoardID: 1}, "held_state": {}} {
		q.State, q.Before, q.Limit = leaderboard.HeldStateWaiting, 9, 10
		out["held by "+name] = plantest.Planned{Query: listText(q), Keys: map[string]string{"h": name, "b": "PRIMARY"}}
	}
	out["one that is held"] = plantest.Planned{Query: oneText(7), Keys: map[string]string{"h": "PRIMARY", "b": "PRIMARY"}}
	out["old held"] = plantest.Planned{Query: plantest.Literal(agedNext, "'1970-01-01'", "'2026-01-01'", 999), Keys: map[string]string{"held": "held_age"}}
	plantest.Run(t, out)
}
