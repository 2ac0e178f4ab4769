package leaderboard_test

import (
	"math"
	"testing"

	"leaderboard/leaderboard"
)

// TestDisplay: scores as people are shown them; the TypeScript pages say the same, from the same table.
func TestDisplay(t *testing.T) {
	t.Parallel()
	number, euro := &leaderboard.Display{}, &leaderboard.Display{Decimals: 2, Unit: "€"}
	run, day := &leaderboard.Display{Kind: leaderboard.DisplayKindDuration, Decimals: 3}, &leaderboard.Display{Kind: leaderboard.DisplayKindDate}
	fine := &leaderboard.Display{Kind: leaderboard.DisplayKindDate, Decimals: 6}
	for _, c := range []struct {
		display *leaderboard.Display
		score   int64
		want    string
	}{
		{nil, 1234567, "1,234,567"},
		{number, 0, "0"},
		{number, -999, "-999"},
		{number, math.MinInt64, "-9,223,372,036,854,775,808"},
		{euro, 5, "0.05 €"},
		{euro, -123456, "-1,234.56 €"},
		{run, 7, "0:00.007"},
		{run, 83_456, "1:23.456"},
		{run, 3_723_004, "1:02:03.004"},
		{run, -83_456, "-1:23.456"},
		{run, math.MaxInt64, "2562047788015:12:55.807"},
		{&leaderboard.Display{Kind: leaderboard.DisplayKindDuration}, 59, "0:59"},
		{day, 1_795_000_000, "2026-11-18 11:06:40 UTC"},
		{day, -1, "1969-12-31 23:59:59 UTC"},
		{day, math.MaxInt64, "9,223,372,036,854,775,807"},
		{fine, -1, "1969-12-31 23:59:59.999999 UTC"},
		{fine, 1, "1970-01-01 00:00:00.000001 UTC"},
	} {
		if got := c.display.Text(c.score); got != c.want {
			t.Errorf("%+v shows %d as %q, want %q", c.display, c.score, got, c.want)
		}
	}
	for _, bad := range []leaderboard.Display{
		{Decimals: -1}, {Decimals: 10}, {Kind: "weight"}, {Unit: "seventeen bytes !"}, {Unit: "\x01"}, {Unit: " km"}, {Unit: "\u202e"}, {Unit: "s", Kind: leaderboard.DisplayKindDuration},
	} {
		rules := leaderboard.Rules{Display: &bad}.WithDefaults()
		if rules.Check() == nil {
			t.Errorf("%+v is allowed", bad)
		}
	}
	rules := leaderboard.Rules{Display: euro}.WithDefaults()
	if err := rules.Check(); err != nil {
		t.Error(err)
	}
}
