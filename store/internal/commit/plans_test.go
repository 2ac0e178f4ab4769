package commit

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/boards"
)

// TestPlans: every statement of the writer reads through the index meant for it and sorts nothing: those of a batch as
// small as can be, and one as large, with all windows and a chunk of members, of which the optimizer must still make
// ranges.
func TestPlans(t *testing.T) {
	t.Parallel()
	out := map[string]plantest.Planned{}
	batchPlans(out)
	hiddenPlans(out)
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
		changed []*period
		commits []Event
	)
	for i := range mysql.MaxRows {
		members = append(members, fmt.Sprint("m", i))
	}
	for id := range int64(8) {
		changed = append(changed, &period{ref: leaderboard.PeriodRef{ID: id + 1}, lastSeq: 5, count: 3})
		commits = append(commits, Event{Commit: &leaderboard.Commit{PeriodID: id + 1, FirstSeq: 2, LastSeq: 5}})
	}
	for size, r := range map[string]*reading{
		"small": {boardID: 1, periods: []int64{1}, needs: &needs{members: members[:2], players: members[:2], keys: []string{"k1", "k2"}}},
		"large": {boardID: 1, periods: []int64{1, 2, 3, 4, 5, 6, 7, 8}, needs: &needs{members: members, players: members, keys: []string{"k1", "k2"}}},
	} {
		reads := &mysql.Text{}
		r.appendTo(reads)
		for i, q := range strings.Split(strings.TrimSuffix(reads.String(), ";"), ";") {
			out[fmt.Sprintf("read %d of a %s batch", i, size)] = planned(q, map[string]string{"entries": "PRIMARY", "idempotency_keys": "PRIMARY", "plays": "PRIMARY"})
		}
	}
	metadata := &mysql.Text{}
	appendReadMetadata(metadata, []int64{1, 2, 3, 4, 5, 6, 7, 8}, members)
	out["read of metadata"] = planned(strings.TrimSuffix(metadata.String(), ";"), map[string]string{"m": "PRIMARY", "b": "PRIMARY"})
	w := &metadataWrites{delta: map[*body]int64{}, owner: map[*body]string{}}
	for i := range 2 * mysql.MaxRows {
		b := &body{id: int64(i + 1), refs: int64(1 + i%2)}
		w.bodies = append(w.bodies, b)
		w.delta[b], w.owner[b] = -1, fmt.Sprint("m", i)
	}
	bodies := &mysql.Text{}
	w.appendBodies(bodies, nil)
	for i, q := range strings.Split(strings.TrimSuffix(bodies.String(), ";"), ";") {
		out[fmt.Sprint("write of bodies ", i)] = planned(q, map[string]string{"metadata_bodies": "PRIMARY"})
	}
	held := &mysql.Text{}
	(&heldNeeds{boardID: 1, first: 1, ranks: []int{10}, members: members, decided: []int64{7}}).appendTo(held)
	for i, q := range strings.Split(strings.TrimSuffix(held.String(), ";"), ";") {
		out[fmt.Sprintf("read %d of held submissions", i)] = planned(q, map[string]string{"entries": "entries_order", "held": []string{"", "held_waiting", "PRIMARY"}[i]})
	}
	for size, n := range map[string]int{"small": 1, "large": len(changed)} {
		advance := &mysql.Text{}
		appendAdvance(advance, changed[:n], commits[:n])
		out["advance of a "+size+" batch"] = planned(strings.TrimSuffix(advance.String(), ";"), map[string]string{"periods": "PRIMARY"})
	}
}

// hiddenPlans adds the statements of a batch about hidden members and past periods.
func hiddenPlans(out map[string]plantest.Planned) {
	reads := &mysql.Text{}
	(&reading{boardID: 7, periods: []int64{1, 2}, needs: &needs{members: []string{"m2", "m4"}}, hasHidden: true}).appendHidden(reads)
	out["read of hidden members"] = planned(strings.TrimSuffix(reads.String(), ";"), map[string]string{"h": "PRIMARY", "e": "PRIMARY"})
	past := &mysql.Text{}
	appendLockPast(past, 7, []int64{3, 5, 900})
	out["lock of past periods"] = planned(past.String(), map[string]string{"p": "PRIMARY"})
}
