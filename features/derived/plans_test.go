package derived

import (
	"fmt"
	"testing"

	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
)

// TestPlans: the statements of a step read through the index meant for them and sort nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	out := map[string]plantest.Planned{}
	planned := func(query string, keys map[string]string) plantest.Planned {
		return plantest.Planned{Query: query, Keys: keys}
	}
	var many []string
	for i := range lookUps / 8 {
		many = append(many, fmt.Sprint("m", i))
	}
	entries := map[string]string{"entries": "PRIMARY"}
	out["look-up of a step"] = planned(lookUpQuery([]int64{1, -1, 2, 3, 4, 5, 6, 7}, many), entries)
	out["stream of a step"] = planned(streamQuery("member, score, tiebreak, created_time", 1, "m1", listedMembers), entries)
	places := []periodKey{{1, leaderboard.WindowAllTime, 0}, {2, leaderboard.WindowDay, 1_750_000_000_000_000}, {2, leaderboard.WindowDay, 1_750_086_400_000_000}}
	out["sources of a step"] = planned(placesQuery(places), map[string]string{"periods": "periods_start"})
	out["list of derived boards"] = planned(listQuery(1, 100), map[string]string{"d": "PRIMARY", "b": "PRIMARY"})
	out["boards that idle ones name"] = planned(editionsQuery([]string{"b1", "b2", "b3"}), map[string]string{"boards": "boards_name"})
	out["progress of idle boards"] = planned(progressQuery("NOW(6)", []int64{1, 2, 3}), map[string]string{"d": "PRIMARY", "b": "PRIMARY"})
	out["periods of sources of idle boards"] = planned(seqsQuery([]int64{1, 2, 3}), map[string]string{"periods": "PRIMARY"})
	plantest.Run(t, out)
}
