package entries

import (
	"fmt"
	"testing"

	"leaderboard/internal/plantest"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// TestPlans: every statement that is sent often reads through the index meant for it and sorts nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	key := rank.Codec{}.Key(leaderboard.Entry{Member: "m4000", Score: 1000, Tiebreak: 1, CreatedTime: 1_750_000_000_000_000})
	here, err := KeyBound(key, false)
	if err != nil {
		t.Fatal(err)
	}
	behind, group := here, groupBound(here.score, here.tiebreak, false)
	behind.after = true
	later := here
	later.score, later.member = 900, "m3600"
	ordered := map[string]string{"entries": "entries_order", "p": "PRIMARY"}
	out := map[string]plantest.Planned{}
	for name, sc := range map[string]Scan{
		"top": {Range: Everything(), Limit: 10}, "offset": {Range: Everything(), Offset: 3000, Limit: 10},
		"behind a key": {Range: Range{From: behind, To: End()}, Limit: 10}, "last": {Range: Everything(), Limit: 10, Last: true},
		"bucket": {Range: Range{From: here, To: later}, Limit: 10},
	} {
		qu := Query{Scans: []Scan{sc}}
		out["scan "+name] = plantest.Planned{Query: qu.Text(1), Keys: ordered}
		if !sc.Last {
			out["run "+name] = plantest.Planned{Query: qu.scanText(1), Keys: ordered}
		}
	}
	for name, iv := range map[string]Range{
		"ahead of a key": {Beginning(), here}, "ahead of a group": {Beginning(), group}, "in a group": {group, here},
		"in a bucket": {here, later},
	} {
		qu := Query{Counts: []Count{{Range: iv}, {Range: iv, Wide: true}}}
		out["count "+name] = plantest.Planned{Query: qu.Text(1), Keys: ordered}
	}
	members := Query{Members: []string{"m1", "m2", "m77"}}
	out["members"] = plantest.Planned{Query: members.Text(1), Keys: map[string]string{"e": "PRIMARY", "p": "PRIMARY"}}
	var many []string
	for n := range 1200 { // more than MariaDB takes in one list without making a table of it
		many = append(many, fmt.Sprint("m", n))
	}
	members.Members = many
	out["many members"] = plantest.Planned{Query: members.Text(1), Keys: map[string]string{"e": "PRIMARY", "p": "PRIMARY"}}
	log := map[string]string{"periods": "PRIMARY", "changes": "PRIMARY"}
	out["log"] = plantest.Planned{Query: placeText(LogPosition{1, 5000}, 100), Keys: log}
	var places []LogPosition
	for n := range int64(50) { // of 500, which would be read whole
		places = append(places, LogPosition{1 + 10*n, 9900})
	}
	out["logs"] = plantest.Planned{Query: placesText(places[:3], 100), Keys: log}
	out["many logs"] = plantest.Planned{Query: placesText(places, 100), Keys: log}
	plantest.Run(t, out)
}
