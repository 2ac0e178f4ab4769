package commit

import (
	"strings"
	"testing"

	"leaderboard/internal/mysql"
	"leaderboard/internal/plantest"
)

// TestHiddenPlans: hidden members and their entries are read by primary keys.
func TestHiddenPlans(t *testing.T) {
	t.Parallel()
	var text mysql.Text
	(&hidden{boardID: 7, periods: []int64{1, 2}, asked: []string{"m2", "m4"}}).Read(&text)
	plantest.Run(t, map[string]plantest.Planned{
		"read": {Query: strings.TrimSuffix(text.String(), ";"), Keys: map[string]string{"h": "PRIMARY", "e": "PRIMARY"}},
	})
}
