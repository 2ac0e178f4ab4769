package commit

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
)

// TestPlans: every statement of the writer reads through the index meant for it and sorts nothing: the statements of the
// smallest batch, and of the largest, with all windows and a chunk of members, for which the optimizer must still use
// ranges.
func TestPlans(t *testing.T) {
	t.Parallel()
	out := map[string]plantest.Planned{}
	batchPlans(out)
	past := &mysql.Text{}
	appendLockPast(past, 7, []int64{3, 5, 900})
	out["lock of past periods"] = planned(past.String(), map[string]string{"p": "PRIMARY"})
	plantest.Run(t, out)
}

func planned(query string, keys map[string]string) plantest.Planned {
	return plantest.Planned{Query: query, Keys: keys}
}

func batchPlans(out map[string]plantest.Planned) {
	lock := &mysql.Text{}
	appendLock(lock, "SYSDATE(6)", "b7", &boards.Known{})
	out["lock"] = planned(strings.TrimSuffix(lock.String(), ";"), map[string]string{"b": "boards_name", "p": "periods_open"})
	ids := &mysql.Text{}
	appendReadIDs(ids, []string{"b1", "b2", "b77"})
	out["derived among boards"] = planned(derivedQuery([]string{"b1", "b2", "b77"}), map[string]string{"b": "boards_name", "d": "PRIMARY"})
	out["ids of boards"] = planned(ids.String(), map[string]string{"boards": "boards_name"})
	var (
		members []string
		changed []*Period
		commits []Event
	)
	for i := range mysql.MaxRows {
		members = append(members, fmt.Sprint("m", i))
	}
	for id := range int64(8) {
		changed = append(changed, &Period{ref: leaderboard.PeriodRef{ID: id + 1}, lastSeq: 5, count: 3})
		commits = append(commits, Event{Commit: &leaderboard.Commit{PeriodID: id + 1, FirstSeq: 2, LastSeq: 5}})
	}
	for size, r := range map[string]*reading{
		"small": {boardID: 1, periods: []int64{1}, Needs: &Needs{members: members[:2], keys: []string{"k1", "k2"}}},
		"large": {boardID: 1, periods: []int64{1, 2, 3, 4, 5, 6, 7, 8}, Needs: &Needs{members: members, keys: []string{"k1", "k2"}}},
	} {
		reads := &mysql.Text{}
		r.appendTo(reads, &Board{})
		for i, q := range strings.Split(strings.TrimSuffix(reads.String(), ";"), ";") {
			out[fmt.Sprintf("read %d of a %s batch", i, size)] = planned(q, map[string]string{"entries": "PRIMARY", "idempotency_keys": "PRIMARY"})
		}
	}
	for size, n := range map[string]int{"small": 1, "large": len(changed)} {
		advance := &mysql.Text{}
		appendAdvance(advance, changed[:n], commits[:n])
		out["advance of a "+size+" batch"] = planned(strings.TrimSuffix(advance.String(), ";"), map[string]string{"periods": "PRIMARY"})
	}
}
