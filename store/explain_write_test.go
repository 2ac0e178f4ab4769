package store

import (
	"fmt"
	"strings"

	"leaderboard"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/plantest"
)

// writerPlans adds the statements of a batch: one as small as can be, and one as large, with all windows and a chunk of
// members, of which the optimizer must still make ranges.
func writerPlans(out map[string]plantest.Planned) {
	lock := &db.Text{}
	appendLock(lock, "SYSDATE(6)", "b7", &boardRules{})
	out["lock"] = planned(strings.TrimSuffix(lock.String(), ";"), map[string]string{"b": "boards_name", "p": "periods_open"})
	ids := &db.Text{}
	appendAskIDs(ids, []string{"b1", "b2", "b77"})
	out["derived among boards"] = planned(derivedQuery([]string{"b1", "b2", "b77"}), map[string]string{"b": "boards_name", "d": "PRIMARY"})
	out["ids of boards"] = planned(ids.String(), map[string]string{"boards": "boards_name"})
	reqs := []*request{{key: "k1"}, {key: "k2"}}
	var (
		members []string
		changed []*period
		commits []notice
	)
	for i := range db.MaxRows {
		members = append(members, fmt.Sprint("m", i))
	}
	for id := range int64(8) {
		changed = append(changed, &period{ref: leaderboard.PeriodRef{ID: id + 1}, lastSeq: 5, count: 3})
		commits = append(commits, notice{commit: &leaderboard.Commit{PeriodID: id + 1, FirstSeq: 2, LastSeq: 5}})
	}
	for size, r := range map[string]*reading{
		"small": newReading(1, []int64{1}, members[:2], reqs), "large": newReading(1, []int64{1, 2, 3, 4, 5, 6, 7, 8}, members, reqs),
	} {
		reads := &db.Text{}
		r.appendTo(reads)
		for i, q := range strings.Split(strings.TrimSuffix(reads.String(), ";"), ";") {
			out[fmt.Sprintf("read %d of a %s batch", i, size)] = planned(q, map[string]string{"entries": "PRIMARY", "idempotency_keys": "PRIMARY"})
		}
	}
	for size, n := range map[string]int{"small": 1, "large": len(changed)} {
		advance := &db.Text{}
		appendAdvance(advance, changed[:n], commits[:n])
		out["advance of a "+size+" batch"] = planned(strings.TrimSuffix(advance.String(), ";"), map[string]string{"periods": "PRIMARY"})
	}
}
