package store

import (
	"fmt"

	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
)

// peoplePlans adds the statements about members.
func peoplePlans(out map[string]plantest.Planned) {
	var many []string
	for n := range 1200 { // more than MariaDB takes in one list without making a table of it
		many = append(many, fmt.Sprint("m", n))
	}
	out["profiles"] = planned(profilesOf(many), map[string]string{"profiles": "PRIMARY"})
	found := map[string]string{"profiles": "profiles_name"}
	out["names"] = planned(namesText(profileColumns, leaderboard.MemberQuery{ByName: true, Prefix: "a", Limit: 10}), found)
	out["names after"] = planned(namesText(profileColumns, leaderboard.MemberQuery{ByName: true, Prefix: "a", AfterName: "AB", AfterMember: "m5", Limit: 10}), found)
	out["names to find"] = planned(namesText("name_key, member", leaderboard.MemberQuery{ByName: true, Prefix: "ada", Limit: shownTogether}), found)
	out["found in a period"] = planned(presentText(1, many[:shownTogether]), map[string]string{"entries": "PRIMARY"})
	out["found with a name"] = planned(namedText(many[:shownTogether]), map[string]string{"profiles": "PRIMARY"})
	out["ids to find"] = planned(idsText("entries", []int64{1}, leaderboard.MemberQuery{Prefix: "m", Limit: shownTogether}), map[string]string{"entries": "PRIMARY"})
	for table, index := range map[string]string{"profiles": "PRIMARY", "hidden_members": "hidden_members_member", "entries": "PRIMARY"} {
		out["ids of "+table] = planned(idsText(table, []int64{1, 2, 7}, leaderboard.MemberQuery{Prefix: "m", Limit: 10}), map[string]string{table: index})
	}
	out["open periods"] = planned(plantest.Literal(openPeriods, 501), map[string]string{"periods": "periods_end"})
	boards := []leaderboard.Board{{ID: 1, Rules: leaderboard.Rules{}.WithDefaults()}, {ID: 2, Rules: leaderboard.Rules{}.WithDefaults()}}
	out["first periods"] = planned(latestPeriods(boards, 5), map[string]string{"periods": "periods_start"})
	periods := make([]erasePlace, erasePeriods*6/10) // of more MariaDB 10.11 reads all entries, of which there are few here
	for i := range periods {
		periods[i].ID = int64(i + 1)
	}
	out["entries of a member"] = planned(entriesIn(periods, "m7"), map[string]string{"entries": "PRIMARY"})
	out["entries of a member with periods and boards"] = planned(memberEntries(periods[:20], "m7"), map[string]string{"e": "PRIMARY", "p": "PRIMARY", "b": "PRIMARY"})
}
