package records

import (
	"testing"

	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
)

// TestPlans: every statement about records that is sent often reads through the index meant for it and sorts nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	out := map[string]plantest.Planned{}
	for name, at := range map[string]leaderboard.Micros{"": 0, " after": 5} {
		text := submissionsText(SubmissionsQuery{BoardID: 7, Member: "m7", Before: at, BeforeID: 3, Limit: 10})
		out["submissions"+name] = planned(text, map[string]string{"submissions": "submissions_member"})
	}
	records := map[string]string{"submissions": "PRIMARY"}
	out["activity"] = planned(recordsText(7, ">=", 5, 100_001), records)
	out["record before"] = planned(recordsText(7, "<", 5, 1), records)
	race := &leaderboard.Period{BoardID: 7, StartsAt: 3}
	out["oldest of a race"] = planned(oldestText("SYSDATE(6)", race, []string{"m1", "m2"}), map[string]string{"submissions": "submissions_member"})
	out["scores of a race"] = planned(scoresText(race, []string{"m1", "m2"}, []leaderboard.Micros{5, 9}), map[string]string{"submissions": "submissions_member"})
	out["boards with submissions of a member"] = planned(plantest.Literal(submittedTo, 0, []byte("m7"), 10), map[string]string{"s": "submissions_member", "b": "PRIMARY"})
	plantest.Run(t, out)
}

func planned(query string, keys map[string]string) plantest.Planned {
	return plantest.Planned{Query: query, Keys: keys}
}
