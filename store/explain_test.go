package store

import (
	"testing"

	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// TestPlans: every statement that is sent often reads through the index meant for it and sorts nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	plantest.Run(t, plannedStatements())
}

// plannedStatements returns the statements about boards and members.
func plannedStatements() map[string]plantest.Planned {
	out := map[string]plantest.Planned{}
	labelled := map[string]string{"l0": "PRIMARY", "l1": "PRIMARY", "b": "PRIMARY"}
	out["labels"] = planned(labelledQuery(leaderboard.Labels{"type": "v1"}, "b2", 10), labelled)
	out["two labels"] = planned(labelledQuery(leaderboard.Labels{"type": "v1", "aspect": "v2"}, "b2", 10), labelled)
	out["boards"] = planned(labelledQuery(nil, "b2", 10), map[string]string{"b": "boards_name"})
	before := plantest.Literal(periodsBefore, 7, "'day'", "'2026-01-01'", 30)
	out["periods before"] = planned(before, map[string]string{"periods": "periods_start"})
	silent := plantest.Literal(runsSilent, "'2026-01-01'", "'2026-01-02'", 500)
	out["silent runs"] = planned(silent, map[string]string{"runs": "runs_state"})
	peoplePlans(out)
	planHidden(out)
	return out
}

func planned(query string, keys map[string]string) plantest.Planned {
	return plantest.Planned{Query: query, Keys: keys}
}

// planHidden adds the statements about hidden members.
func planHidden(out map[string]plantest.Planned) {
	for name, row := range map[string]hiddenRow{
		"hiding": {State: commit.StateHiding}, "restoring": {State: commit.StateRestoring}, "reopen": {State: commit.StateHiding, Reopen: true},
	} {
		keys := map[string]string{"periods": "periods_open", "e": "PRIMARY"}
		if row.Reopen {
			keys["periods"] = "periods_board"
		}
		out["misplaced, "+name] = planned(plantest.Literal(misplacedQuery(&row), 7, 3, 500, "'m7'"), keys)
	}
	for name, q := range map[string]leaderboard.HiddenQuery{
		"all": {}, "after": {AfterBoard: 7, AfterMember: "m4"}, "of a board": {Board: "b7"}, "of a member": {Member: "m7"},
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
