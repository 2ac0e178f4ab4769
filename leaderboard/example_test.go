package leaderboard_test

import (
	"fmt"
	"time"

	"leaderboard/leaderboard"
)

func ExampleRules_Apply() {
	best := leaderboard.Rules{}.WithDefaults()
	entry, changed, err := best.Apply(nil, leaderboard.Submission{Member: "ada", Score: 90}, 1, 1)
	fmt.Println(entry.Score, changed, err)
	_, changed, err = best.Apply(&entry, leaderboard.Submission{Member: "ada", Score: 85}, 2, 2)
	fmt.Println(changed, err)

	sum := leaderboard.Rules{Policy: leaderboard.PolicySum}.WithDefaults()
	entry, changed, err = sum.Apply(&entry, leaderboard.Submission{Member: "ada", Score: 5}, 3, 3)
	fmt.Println(entry.Score, changed, err)
	// Output:
	// 90 true <nil>
	// false <nil>
	// 95 true <nil>
}

func ExampleRules_Compare() {
	ada := leaderboard.Entry{Member: "ada", Score: 90, CreatedTime: 1}
	bob := leaderboard.Entry{Member: "bob", Score: 90, CreatedTime: 2}
	cyd := leaderboard.Entry{Member: "cyd", Score: 95, CreatedTime: 3}
	points, laps := leaderboard.Rules{}.WithDefaults(), leaderboard.Rules{Order: leaderboard.OrderAsc}.WithDefaults()
	fmt.Println(points.Compare(cyd, ada), laps.Compare(cyd, ada))
	fmt.Println(points.Compare(ada, bob), "since ada was first")
	// Output:
	// -1 1
	// -1 since ada was first
}

func ExampleRules_Check() {
	rules := leaderboard.Rules{Mode: "loose", TopN: -1}.WithDefaults()
	fmt.Println(rules.Check())
	// Output:
	// invalid-board: the board's rules are not valid; /mode: want one of strict, tied, dense; /top_n: want 1 to 100000
}

func ExampleWindow_SpanAt() {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	week := leaderboard.WindowWeek.SpanAt(leaderboard.MicrosOf(time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC)), berlin)
	fmt.Println(week.Name, week.StartsAt, week.EndsAt)
	fmt.Println(week.EndsAt.Time().Sub(week.StartsAt.Time()), "since clocks go forward on Sunday")
	// Output:
	// 2026-W13 2026-03-22T23:00:00.000000Z 2026-03-29T22:00:00.000000Z
	// 167h0m0s since clocks go forward on Sunday
}

func ExampleWindow_SpanNamed() {
	quarter, err := leaderboard.WindowQuarter.SpanNamed("2026-Q4", time.UTC)
	fmt.Println(quarter.StartsAt, quarter.EndsAt, err)
	// Output:
	// 2026-10-01T00:00:00.000000Z 2027-01-01T00:00:00.000000Z <nil>
}

func ExampleRanks_Next() {
	ranks := leaderboard.Ranks{Strict: 1, Tied: 1, Dense: 1}
	for _, same := range []bool{true, false, false} { // the score of the entry before
		ranks = ranks.Next(same)
		fmt.Println(ranks.Strict, ranks.Tied, ranks.Dense)
	}
	// Output:
	// 2 1 1
	// 3 3 2
	// 4 4 3
}

func ExamplePercentile() {
	fmt.Println(leaderboard.Percentile(1, 5000), leaderboard.Percentile(603, 5000), leaderboard.Percentile(5000, 5000))
	// Output:
	// 100 87.96 0.02
}

func ExampleTiebreak_Pack() {
	tiebreak := leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{
		{Name: "level", Bits: 20, Order: leaderboard.OrderDesc}, {Name: "deaths", Bits: 16, Order: leaderboard.OrderAsc},
	}}
	few, err := tiebreak.Pack(map[string]int64{"level": 7, "deaths": 2})
	if err != nil {
		fmt.Println(err)
	}
	many, err := tiebreak.Pack(map[string]int64{"level": 7, "deaths": 30})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(few > many, tiebreak.Unpack(few))
	// Output:
	// true [{level 7} {deaths 2}]
}

func ExampleDisplay_Text() {
	distance := leaderboard.Display{Decimals: 1, Unit: "km"}
	lap := leaderboard.Display{Kind: leaderboard.DisplayKindDuration, Decimals: 3}
	fmt.Println(distance.Text(12345))
	fmt.Println(lap.Text(83456))
	// Output:
	// 1,234.5 km
	// 1:23.456
}

func ExampleLabels_Match() {
	wanted, err := leaderboard.ParseLabels("type:moba")
	if err != nil {
		fmt.Println(err)
	}
	board := leaderboard.Labels{"type": "moba", "aspect": "sound"}
	fmt.Println(board, board.Match(wanted))
	// Output:
	// aspect:sound,type:moba true
}

func ExampleKey_Covers() {
	key := leaderboard.Key{Scope: leaderboard.ScopeWrite, Boards: []string{"game1-*"}}
	fmt.Println(key.Covers("game1-daily"), key.Covers("game2-daily"), key.Scope.Includes(leaderboard.ScopeAdmin))
	// Output:
	// true false false
}
