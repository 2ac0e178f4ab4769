package metadata

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/internal/plantest"
)

// TestPlans: metadata is read and written by primary keys, of as many members as a batch may have.
func TestPlans(t *testing.T) {
	t.Parallel()
	out := map[string]plantest.Planned{}
	var members []string
	for i := range mysql.MaxRows {
		members = append(members, fmt.Sprint("m", i))
	}
	var reads, bodies mysql.Text
	(&metadata{}).ReadEntries(&reads, []int64{1, 2, 3, 4, 5, 6, 7, 8}, members)
	out["read"] = plantest.Planned{Query: strings.TrimSuffix(reads.String(), ";"), Keys: map[string]string{"m": "PRIMARY", "b": "PRIMARY"}}
	looked := wantedRows{states: true, periods: []int64{1}, members: members[:1], ahead: 100}
	out["looked up"] = plantest.Planned{Query: looked.text(), Keys: map[string]string{"m": "PRIMARY", "b": "PRIMARY", "periods": "PRIMARY"}}
	out["of periods"] = plantest.Planned{Query: lockedRows([]int64{1, 2, 3, 4, 5}, 1000), Keys: map[string]string{"entry_metadata": "PRIMARY"}}
	out["emptied"] = plantest.Planned{Query: plantest.Literal(emptiedNext, "'1970-01-01'", "'2026-01-01'", 999), Keys: map[string]string{"entry_metadata": "entry_metadata_emptied"}}
	w := &writes{delta: map[*body]int64{}, owner: map[*body]string{}}
	for i := range 2 * mysql.MaxRows {
		b := &body{id: int64(i + 1), refs: int64(1 + i%2)}
		w.bodies = append(w.bodies, b)
		w.delta[b], w.owner[b] = -1, fmt.Sprint("m", i)
	}
	w.appendBodies(&bodies, nil)
	for i, q := range strings.Split(strings.TrimSuffix(bodies.String(), ";"), ";") {
		out[fmt.Sprint("write of bodies ", i)] = plantest.Planned{Query: q, Keys: map[string]string{"metadata_bodies": "PRIMARY"}}
	}
	plantest.Run(t, out)
}
