package leaderboard_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"leaderboard"
)

// checks is every check of the package, once with what is valid and once with what is not.
func checks(t *testing.T) map[string]struct{ valid, invalid error } {
	t.Helper()
	type both = struct{ valid, invalid error }
	rules, bad := leaderboard.Rules{}.WithDefaults(), leaderboard.Rules{Order: "up"}.WithDefaults()
	derived := leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "a"}}}}
	ordinary := func(string) (leaderboard.SourceBoard, bool) { return leaderboard.SourceBoard{}, false }
	profile, nameless := leaderboard.Profile{Member: "m"}, leaderboard.Profile{}
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
		"Rules.CheckSources":       {derived.CheckSources("b", ordinary), derived.CheckSources("a", ordinary)},
		"Rules.Apply":              {apply("m"), apply("")},
		"HideRequest.Check":        {hide.Check(), restore.Check()},
		"HideRequest.CheckRestore": {hide.CheckRestore(), restore.CheckRestore()},
		"Profile.Check":            {profile.Check(), nameless.Check()},
		"ParseAttributes":          {second(leaderboard.ParseAttributes(nil)), second(leaderboard.ParseAttributes([]byte("[]")))},
		"Tiebreak.Pack":            {second(fields.Pack(map[string]int64{"level": 1})), second(fields.Pack(nil))},
		"Tiebreak.Resolve":         {second(fields.Resolve(nil, map[string]int64{"level": 1}, nil)), second(fields.Resolve(nil, nil, nil))},
		"Calendar.Outside":         {calendar.Outside(1), calendar.Outside(2)},
	}
}

// TestChecks: what is valid gives an error that is nil also as an error, and what is not a RuleError.
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

// concreteErrors returns the exported functions that may return a type of errors: they make one, and never return nil
// in its place, or take one out of an error, which is not passed on.
func concreteErrors() []string {
	return []string{"AsRule", "In", "NoBoard", "NotToDerived", "SeasonConflict"}
}

// TestErrorsAreErrors: a check, and whatever else is exported, returns an error and no pointer to a type of errors. A
// nil *RuleError in an error is not a nil error.
func TestErrorsAreErrors(t *testing.T) {
	t.Parallel()
	found, excepted := 0, map[string]bool{}
	for _, file := range goFiles(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range returning(parsed) {
			found++
			switch {
			case !f.concrete():
			case slices.Contains(concreteErrors(), f.name):
				excepted[f.name] = true
			default:
				t.Errorf("%s: %s returns a %s, want an error", file, f.name, f.last)
			}
		}
	}
	if found < 500 {
		t.Errorf("found %d functions, the search is broken", found)
	}
	for _, name := range concreteErrors() {
		if !excepted[name] {
			t.Errorf("%s returns no type of errors any more", name)
		}
	}
}

// TestConcreteErrorsAreFound shows that TestErrorsAreErrors can say no.
func TestConcreteErrorsAreFound(t *testing.T) {
	t.Parallel()
	parsed, err := parser.ParseFile(token.NewFileSet(), "p.go", `package p
		func A() *RuleError { return nil }
		func (T) B() (int, *x.ConflictError) { return 0, nil }
		func checkC() *RuleError { return nil }
		func D() (*RuleError, error) { return nil, nil }
		func E() *Error { return nil }
		func F() []*RuleError { return nil }
		func g() *RuleError { return nil }`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range returning(parsed) {
		if f.concrete() {
			got = append(got, f.name)
		}
	}
	if want := []string{"A", "B", "checkC", "E"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// function is one that is exported or a check, and the type of its last result.
type function struct{ name, last string }

func (f function) concrete() bool {
	return strings.HasPrefix(f.last, "*") && strings.HasSuffix(f.last, "Error")
}

// returning lists the functions and methods of a file that are exported or checks, and return something.
func returning(file *ast.File) []function {
	var found []function
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Type.Results == nil || !(f.Name.IsExported() || strings.HasPrefix(f.Name.Name, "check")) {
			continue
		}
		results := f.Type.Results.List
		found = append(found, function{f.Name.Name, types.ExprString(results[len(results)-1].Type)})
	}
	return found
}
