package leaderboard_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

func weighted(board string, weight int64) leaderboard.DeriveFrom {
	return leaderboard.DeriveFrom{Board: board, Weight: &weight}
}

// TestDeriveCheck: a fault in a rule is reported at its place.
func TestDeriveCheck(t *testing.T) {
	t.Parallel()
	many := make([]leaderboard.DeriveFrom, 101)
	for i := range many {
		many[i].Board = "b" + strings.Repeat("x", i%50) + string(rune('a'+i/50))
	}
	start := leaderboard.Micros(1)
	for name, c := range map[string]struct {
		change func(*leaderboard.Rules)
		want   string // pointers
	}{
		"plain":            {func(*leaderboard.Rules) {}, ""},
		"two windows":      {func(r *leaderboard.Rules) { r.Windows = append(r.Windows, leaderboard.WindowDay) }, "/windows"},
		"another window":   {func(r *leaderboard.Rules) { r.Windows = []leaderboard.Window{leaderboard.WindowDay} }, "/windows"},
		"no source":        {func(r *leaderboard.Rules) { r.Derive.From = nil }, "/derive/from"},
		"101 sources":      {func(r *leaderboard.Rules) { r.Derive.From = many }, "/derive/from"},
		"2 × 51 sources":   {func(r *leaderboard.Rules) { r.Derive.Last = "51d" }, "/derive/from"},
		"2 × 50 sources":   {func(r *leaderboard.Rules) { r.Derive.Last = "50h" }, ""},
		"last in months":   {func(r *leaderboard.Rules) { r.Derive.Last = "3m" }, "/derive/last"},
		"last 0":           {func(r *leaderboard.Rules) { r.Derive.Last = "0d" }, "/derive/last"},
		"last without":     {func(r *leaderboard.Rules) { r.Derive.Last = "d" }, "/derive/last"},
		"last with a sign": {func(r *leaderboard.Rules) { r.Derive.Last = "+7d" }, "/derive/last"},
		"last and window": {func(r *leaderboard.Rules) {
			r.Derive.Last, r.Derive.From[0].Window, r.Derive.From[1].Window = "7d", leaderboard.WindowWeek, leaderboard.WindowDay
		}, "/derive/from/0/window"},
		"last and period": {func(r *leaderboard.Rules) { r.Derive.Last, r.Derive.From[1].Period = "7d", "2026-11-20" }, "/derive/from/1/period"},
		"op":              {func(r *leaderboard.Rules) { r.Derive.Op = "both" }, "/derive/op"},
		"aggregate":       {func(r *leaderboard.Rules) { r.Derive.Aggregate = "avg" }, "/derive/aggregate"},
		"twice":           {func(r *leaderboard.Rules) { r.Derive.From[1] = r.Derive.From[0] }, "/derive/from/1"},
		"unlike periods":  {func(r *leaderboard.Rules) { r.Derive.From[1] = r.Derive.From[0]; r.Derive.From[1].Period = "previous" }, ""},
		"name":            {func(r *leaderboard.Rules) { r.Derive.From[1].Board = "~" }, "/derive/from/1/board"},
		"window":          {func(r *leaderboard.Rules) { r.Derive.From[1].Window = "decade" }, "/derive/from/1/window"},
		"heavy":           {func(r *leaderboard.Rules) { r.Derive.From[1] = weighted("b", -leaderboard.MaxWeight-1) }, "/derive/from/1/weight"},
		"heaviest":        {func(r *leaderboard.Rules) { r.Derive.From[1] = weighted("b", -leaderboard.MaxWeight) }, ""},
		"start":           {func(r *leaderboard.Rules) { r.StartsAt = &start }, "/derive"},
		"policy":          {func(r *leaderboard.Rules) { r.Policy = leaderboard.PolicySum }, "/policy"},
		"limits":          {func(r *leaderboard.Rules) { r.Limits.MaxScore = new(int64) }, "/limits"},
		"time zone":       {func(r *leaderboard.Rules) { r.TimeZone = "Europe/Berlin" }, "/time_zone"},
		"keep":            {func(r *leaderboard.Rules) { r.Keep = map[leaderboard.Window]int{leaderboard.WindowDay: 3} }, "/keep"},
		"fields": {func(r *leaderboard.Rules) {
			r.Tiebreak.Fields = []leaderboard.TiebreakField{{Name: "level", Bits: 3, Order: leaderboard.OrderDesc}}
		}, "/tiebreak/fields"},
	} {
		rules := leaderboard.Rules{}.WithDefaults()
		rules.Derive = &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "a"}, {Board: "b"}}}
		c.change(&rules)
		before := slices.Clone(rules.Derive.From)
		full := rules.WithDefaults()
		if !slices.Equal(before, rules.Derive.From) {
			t.Errorf("%s: WithDefaults writes to what it was given", name)
		}
		given, defaulted := pointers(rules.Check()), pointers(full.Check())
		if given != c.want || defaulted != c.want {
			t.Errorf("%s: faults at %q, with defaults at %q, want %q", name, given, defaulted, c.want)
		}
	}
}

// pointers lists what a check finds fault with.
func pointers(err error) string {
	if err == nil {
		return ""
	}
	broken, ok := errors.AsType[*leaderboard.RuleError](err)
	if !ok {
		return err.Error()
	}
	var list []string
	for _, f := range broken.Fields {
		list = append(list, f.Pointer)
	}
	return strings.Join(list, " ")
}

// TestDeriveDefaults: omitted members get their defaults, and defaults of defaults are the same.
func TestDeriveDefaults(t *testing.T) {
	t.Parallel()
	rules := leaderboard.Rules{Derive: &leaderboard.Derive{
		From: []leaderboard.DeriveFrom{{Board: "a"}, weighted("b", -2), {Board: "b", Period: "2026"}},
	}}.WithDefaults()
	d := rules.Derive
	if d.Op != leaderboard.DeriveOpUnion || d.Aggregate != leaderboard.AggregateSum ||
		*d.From[0].Weight != 1 || *d.From[1].Weight != -2 || d.From[0].Period != "current" || d.From[2].Period != "2026" {
		t.Errorf("defaults are %+v", d)
	}
	again := rules.WithDefaults()
	if broken := again.Check(); broken != nil || *again.Derive.From[1].Weight != -2 {
		t.Errorf("defaults of defaults: %+v, %v", again.Derive, broken)
	}
	_, _, broken := again.Apply(nil, leaderboard.Submission{Member: "m", Score: 1}, 5, 5)
	if broken == nil || leaderboard.AsRule(broken).Code != leaderboard.CodeDerivedBoard {
		t.Errorf("a submission to a derived board: %v", broken)
	}
}

// TestDerivePeriods: the period of a source has the form of its window, whether its board exists or not.
func TestDerivePeriods(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]leaderboard.DeriveFrom{
		"":                      {Board: "later", Window: leaderboard.WindowDay, Period: "2026-11-20"},
		"/derive/from/0/period": {Board: "later", Window: leaderboard.WindowHour, Period: "2026-11-20"},
	} {
		rules := leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{f}}}.WithDefaults()
		if got := pointers(rules.Check()); got != want {
			t.Errorf("%+v: fault at %q, want %q", f, got, want)
		}
	}
}
