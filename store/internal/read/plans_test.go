package read

import (
	"testing"

	"leaderboard/internal/entries"
	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// TestPlans: every statement that is sent often reads through the index meant for it and sorts nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	at := func(member string, score int64) entries.Bound {
		key := rank.Codec{}.Key(leaderboard.Entry{Member: member, Score: score, Tiebreak: 1, CreatedTime: 1_750_000_000_000_000})
		c, err := entries.KeyBound(key, false)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	several := []*view{{ref: leaderboard.PeriodRef{ID: 1}}, {ref: leaderboard.PeriodRef{ID: 2}}}
	part := entries.Part{Scan: entries.Scan{Range: entries.Range{From: at("m4000", 1000), To: at("m3600", 900)}, Limit: 10}, PeriodID: 1}
	other := part
	other.PeriodID = 2
	plantest.Run(t, map[string]plantest.Planned{
		"parts of several":  {Query: entries.PartsText([]entries.Part{part, other, part}), Keys: map[string]string{"entries": "entries_order"}},
		"member of several": {Query: lookText(several, "m2"), Keys: map[string]string{"p": "PRIMARY", "e": "PRIMARY"}},
		"revisions":         {Query: revisionsText("NOW(6)", []int64{1, 2, 3}), Keys: map[string]string{"periods": "PRIMARY"}},
		"revisions of keys": {Query: revisionsText("NOW(6)", []int64{-1, 0, 1, 2}), Keys: map[string]string{"periods": "PRIMARY", "table_versions": "PRIMARY"}},
	})
}
