package store

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/plantest"
)

// TestPlans: every statement that is sent often reads through the index meant for it and sorts nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	plantest.Run(t, plannedStatements())
}

// plannedStatements are the statements of the writer, and those about boards and members.
func plannedStatements() map[string]plantest.Planned {
	out := map[string]plantest.Planned{}
	plannedSteps(out)
	labelled := map[string]string{"l0": "PRIMARY", "l1": "PRIMARY", "b": "PRIMARY"}
	out["labels"] = planned(labelledQuery(leaderboard.Labels{"type": "v1"}, "b2", 10), labelled)
	out["two labels"] = planned(labelledQuery(leaderboard.Labels{"type": "v1", "aspect": "v2"}, "b2", 10), labelled)
	out["boards"] = planned(labelledQuery(nil, "b2", 10), map[string]string{"b": "boards_name"})
	peoplePlans(out)
	writerPlans(out)
	planHidden(out)
	return out
}

func planned(query string, keys map[string]string) plantest.Planned {
	return plantest.Planned{Query: query, Keys: keys}
}

// planHidden adds the statements about hidden members.
func planHidden(out map[string]plantest.Planned) {
	reads := &db.Text{}
	(&reading{boardID: 7, periods: []int64{1, 2}, members: []string{"m2", "m4"}, withHidden: []int64{7}}).appendHidden(reads)
	out["read of hidden members"] = planned(strings.TrimSuffix(reads.String(), ";"), map[string]string{"h": "PRIMARY", "e": "PRIMARY"})
	past := &db.Text{}
	appendLockPast(past, 7, []int64{3, 5, 900})
	out["lock of past periods"] = planned(past.String(), map[string]string{"p": "PRIMARY"})
	for name, row := range map[string]hiddenRow{
		"hiding": {State: stateHiding}, "restoring": {State: stateRestoring}, "reopen": {State: stateHiding, Reopen: true},
	} {
		keys := map[string]string{"periods": "periods_open", "e": "PRIMARY"}
		if row.Reopen {
			keys["periods"] = "periods_board"
		}
		out["misplaced, "+name] = planned(plantest.Literal(misplacedQuery(&row), 7, 3, 500, "'m7'"), keys)
	}
	for name, q := range map[string]leaderboard.HiddenQuery{
		"all": {}, "behind": {AfterBoard: 7, AfterMember: "m4"}, "of a board": {Board: "b7"}, "of a member": {Member: "m7"},
	} {
		key := "PRIMARY"
		if q.Member != "" {
			key = "hidden_members_member"
		}
		q.Limit = 10
		query, args := hiddenQuery(q, 7)
		out["hidden, "+name] = planned(plantest.Literal(query, args...), map[string]string{"h": key, "b": "PRIMARY"})
	}
}

// plannedSteps adds the statements of a step behind the sources of a derived board.
func plannedSteps(out map[string]plantest.Planned) {
	var many []string
	for i := range lookUps / 8 {
		many = append(many, fmt.Sprint("m", i))
	}
	entries := map[string]string{"entries": "PRIMARY"}
	out["look-up of a step"] = planned(lookUpQuery([]int64{1, -1, 2, 3, 4, 5, 6, 7}, many), entries)
	out["stream of a step"] = planned(streamQuery("member, score, tiebreak, created_at", 1, "m1", listedMembers), entries)
	places := []place{{1, leaderboard.WindowAllTime, 0}, {2, leaderboard.WindowDay, 1_750_000_000_000_000}, {2, leaderboard.WindowDay, 1_750_086_400_000_000}}
	out["sources of a step"] = planned(placesQuery(places), map[string]string{"periods": "periods_start"})
}
