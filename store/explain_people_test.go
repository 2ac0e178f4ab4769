package store

import (
	"fmt"
	"strings"

	"leaderboard/store/internal/plantest"
)

// peoplePlans adds the statements about members.
func peoplePlans(out map[string]plantest.Planned) {
	var many []string
	for n := range 1200 { // more than MariaDB takes in one list without making a table of it
		many = append(many, fmt.Sprint("m", n))
	}
	out["profiles"] = planned(profilesOf(many), map[string]string{"profiles": "PRIMARY"})
	out["friends of many"] = planned(friendsOf(many[:16]), map[string]string{"friends": "PRIMARY"})
	periods := make([]erasePlace, erasePeriods)
	for i := range periods {
		periods[i].ID = int64(i + 1)
	}
	out["entries of a member"] = planned(entriesIn(periods, "m7"), map[string]string{"entries": "PRIMARY"})
	out["versions of lists"] = planned(friendVersions(many), map[string]string{"friend_lists": "PRIMARY"})
	list := strings.NewReplacer("member = ?", "member = 'm1'", "friend > ?", "friend > 'a'", "?", "10").Replace(selectFriends)
	out["friends"] = planned(list, map[string]string{"friends": "PRIMARY"})
}
