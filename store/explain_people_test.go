package store

import (
	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
)

// peoplePlans adds the statements about all data of a member.
func peoplePlans(out map[string]plantest.Planned) {
	boards := []leaderboard.Board{{ID: 1, Rules: leaderboard.Rules{}.WithDefaults()}, {ID: 2, Rules: leaderboard.Rules{}.WithDefaults()}}
	out["first periods"] = planned(latestPeriods(boards, 5), map[string]string{"periods": "periods_start"})
	periods := make([]erasePeriod, erasePeriods*6/10) // with more, MariaDB 10.11 reads all entries, which are few here
	for i := range periods {
		periods[i].ID = int64(i + 1)
	}
	out["entries of a member"] = planned(entriesIn(periods, "m7"), map[string]string{"entries": "PRIMARY"})
	out["entries of a member with periods and boards"] = planned(memberEntries(periods[:20], "m7"), map[string]string{"e": "PRIMARY", "p": "PRIMARY", "b": "PRIMARY"})
}
