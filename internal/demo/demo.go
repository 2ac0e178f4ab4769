// Package demo makes boards that show the features of the service, with closed periods, and plays on them now and then. The
// members, and how often and how well they play, are the same on every machine; the times depend on the day on which the
// boards are made.
package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"leaderboard/leaderboard"
)

// Names of the boards.
const (
	Board   = "demo"         // best score, of all time, by day and by week
	Week    = "demo-7d"      // derived: the last seven days of Board
	Maze    = "demo-maze"    // another game of the same category, to be ranked with Board as one
	Dungeon = "demo-dungeon" // ties are decided by fields
	Cup     = "demo-cup"     // points are added up, by season and by week
	Laps    = "demo-laps"    // less is better
	Game    = "demo-game"    // visitors play for it in the browser
)

// Shown is the number of the member in the examples; it has friends.
const Shown = 7

// Cheat is the member that is hidden on Board.
const Cheat = "sly-fox-0"

const (
	best    = 5000 // the highest score of Board when it is made, which several have
	span    = 30 * 24 * time.Hour
	history = 14 // days with entries before today
	season  = 28 // days
)

const day = 24 * time.Hour

// Member returns the id of the i-th member, such as calm-otter-8.
func Member(i int) string {
	kinds := [...]string{"bold", "calm", "deft", "eager", "fair", "glad", "keen", "lucky", "merry", "nimble", "proud", "quick", "swift"}
	animals := [...]string{"badger", "crane", "dolphin", "eagle", "falcon", "gecko", "heron", "ibex", "lynx", "marten", "otter"}
	return fmt.Sprintf("%s-%s-%d", kinds[i%len(kinds)], animals[i%len(animals)], i+1)
}

// Score returns the best score of the i-th member on Board. Scores have a log-normal distribution, like scores of games:
// most are modest, few are great. They come in steps, and several members reach the best possible score, so there are ties
// at every height.
func Score(i int) int64 { return score(rand.New(rand.NewPCG(uint64(i), 2026))) }

func score(r *rand.Rand) int64 {
	raw := math.Exp(6.5 + 0.7*r.NormFloat64())
	step := 10.0
	if raw > 1000 {
		step = 50
	}
	return int64(min(math.Round(raw/step)*step, best))
}

// entriesOf returns the members from to to-1 of Board, with times in the 30 days before now.
func entriesOf(from, to int, now leaderboard.Micros) []leaderboard.Submission {
	entries := make([]leaderboard.Submission, 0, to-from)
	for i := from; i < to; i++ {
		r := rand.New(rand.NewPCG(uint64(i), 2026))
		s := score(r)
		created := now - leaderboard.Micros(r.Int64N(span.Microseconds()))
		entries = append(entries, leaderboard.Submission{Member: Member(i), Score: s, CreatedTime: &created})
	}
	return entries
}

// boardRules returns the final rules of the boards that are made at a time.
func boardRules(now time.Time) map[string]leaderboard.Rules {
	return map[string]leaderboard.Rules{
		Board: {
			Title: "Star Runner", Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay, leaderboard.WindowWeek},
			Labels: leaderboard.Labels{"game": "arcade", "genre": "racing"}, Record: leaderboard.RecordApplied,
		},
		Week: {
			Title:  "Star Runner: the last 7 days, day by day added up",
			Derive: &leaderboard.Derive{Last: "7d", From: []leaderboard.DeriveFrom{{Board: Board, Window: leaderboard.WindowDay}}},
		},
		Maze: {
			Title: "Mirror Maze", Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay},
			Labels: leaderboard.Labels{"game": "arcade", "genre": "puzzle"},
		},
		Dungeon: {
			Title: "Deep Dungeon: equal gold, then the higher level, then fewer deaths", Mode: leaderboard.ModeTied,
			Face: &leaderboard.Face{Accent: "#8b3fd9"},
			Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{
				{Name: "level", Bits: 20}, {Name: "deaths", Bits: 16, Order: leaderboard.OrderAsc},
			}},
		},
		Cup: {
			Title: "Season Cup: points of all matches", Policy: leaderboard.PolicySum, Mode: leaderboard.ModeTied,
			Windows: []leaderboard.Window{leaderboard.WindowSeason, leaderboard.WindowWeek}, Seasons: seasons(now),
			Record: leaderboard.RecordApplied,
		},
		Laps: {
			Title: "Fastest lap", Order: leaderboard.OrderAsc, Mode: leaderboard.ModeDense,
			Display: &leaderboard.Display{Kind: leaderboard.DisplayKindDuration, Decimals: 3},
			Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowWeek},
		},
		Game: {
			Title: "Ten Seconds", Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay},
			Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay, MinTime: "10s", MaxTime: "1m"},
			Limits:  leaderboard.Limits{PerSecond: new(int64(5))},
		},
	}
}

// seasons returns two closed seasons, the current season, which began a week ago, and the seasons of some years to come.
func seasons(now time.Time) []leaderboard.SeasonRule {
	const over, all = 2, 42
	start := midnight(now).Add(-(over*season + 7) * day)
	rules := make([]leaderboard.SeasonRule, 0, all)
	for i := range all {
		next := start.Add(season * day)
		rules = append(rules, leaderboard.SeasonRule{
			Name: fmt.Sprintf("season-%d", i+1), StartsAt: leaderboard.MicrosOf(start), EndsAt: leaderboard.MicrosOf(next),
		})
		start = next
	}
	return rules
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(day) }
