package leaderboard_test

import (
	"errors"
	"testing"

	"leaderboard/leaderboard"
)

// checks has every check of the package, with a valid and an invalid input.
func checks(t *testing.T) map[string]struct{ valid, invalid error } {
	t.Helper()
	type both = struct{ valid, invalid error }
	rules, bad := leaderboard.Rules{}.WithDefaults(), leaderboard.Rules{Order: "up"}.WithDefaults()
	hide, restore := leaderboard.HideRequest{Member: "m", Reason: "r"}, leaderboard.HideRequest{}
	combined := []leaderboard.PeriodRef{{Board: "a", Rules: &rules}}
	fields := leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 8}}}
	second := func(_ any, err error) error { return err }
	third := func(_, _ any, err error) error { return err }
	apply := func(member string) error {
		return third(rules.Apply(nil, leaderboard.Submission{Member: member}, 1, 1))
	}
	seasons := leaderboard.Rules{Seasons: []leaderboard.SeasonRule{{Name: "s", StartsAt: 1, EndsAt: 2}}}.WithDefaults()
	calendar, err := seasons.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]both{
		"CheckBoardName":           {leaderboard.CheckBoardName("a"), leaderboard.CheckBoardName("A")},
		"CheckMember":              {leaderboard.CheckMember("m"), leaderboard.CheckMember("")},
		"CheckFriends":             {leaderboard.CheckFriends("m", nil), leaderboard.CheckFriends("m", []string{"m"})},
		"CheckFriendCount":         {leaderboard.CheckFriendCount(1), leaderboard.CheckFriendCount(leaderboard.MaxFriends + 1)},
		"CheckCombined":            {leaderboard.CheckCombined(combined, leaderboard.ModeTied), leaderboard.CheckCombined(nil, leaderboard.ModeTied)},
		"Rules.Check":              {rules.Check(), bad.Check()},
		"Rules.Apply":              {apply("m"), apply("")},
		"HideRequest.Check":        {hide.Check(), restore.Check()},
		"HideRequest.CheckRestore": {hide.CheckRestore(), restore.CheckRestore()},
		"Tiebreak.Pack":            {second(fields.Pack(map[string]int64{"level": 1})), second(fields.Pack(nil))},
		"Tiebreak.Resolve":         {second(fields.Resolve(nil, map[string]int64{"level": 1}, nil)), second(fields.Resolve(nil, nil, nil))},
		"Calendar.Outside":         {calendar.Outside(1), calendar.Outside(2)},
	}
}

// TestChecks: a valid input gives an error that is nil also as an error, an invalid one a RuleError.
func TestChecks(t *testing.T) {
	t.Parallel()
	for name, c := range checks(t) {
		if c.valid != nil {
			t.Errorf("%s of what is valid: %T %[2]v", name, c.valid)
		}
		var broken *leaderboard.RuleError
		if !errors.As(c.invalid, &broken) || leaderboard.AsRule(c.invalid) != broken {
			t.Errorf("%s of what is not valid: %T %[2]v", name, c.invalid)
		}
	}
	if leaderboard.AsRule(nil) != nil || leaderboard.AsRule(errors.New("x")) != nil {
		t.Error("AsRule makes up a RuleError")
	}
}
