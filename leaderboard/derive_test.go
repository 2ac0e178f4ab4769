package leaderboard_test

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

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

// sourceBoards are a board of days and all time, made on 20 November 2026, one of seasons, and a derived one.
func sourceBoards(name string) (leaderboard.SourceBoard, bool) {
	rules := leaderboard.Rules{Seasons: []leaderboard.SeasonRule{{Name: "S1", StartsAt: 1, EndsAt: leaderboard.MaxTime}}}
	cal, err := rules.Calendar()
	b := leaderboard.SourceBoard{Calendar: cal, CreatedTime: leaderboard.MicrosOf(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}
	switch b.Windows = []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}; name {
	case "days":
	case "seasons":
		b.Windows = []leaderboard.Window{leaderboard.WindowSeason}
	case "derived":
		b.Derived = true
	default:
		return leaderboard.SourceBoard{}, false
	}
	return b, err == nil
}

// TestCheckSources: a board that could never have an entry is refused, as far as its sources exist.
func TestCheckSources(t *testing.T) {
	t.Parallel()
	const hour, day, week, ever, season = leaderboard.WindowHour, leaderboard.WindowDay, leaderboard.WindowWeek, leaderboard.WindowAllTime, leaderboard.WindowSeason
	type from = []leaderboard.DeriveFrom
	for name, c := range map[string]struct {
		last string
		from from
		want string
	}{
		"a board that may come":   {"", from{{Board: "later", Window: week}}, ""},
		"the same with last":      {"4w", from{{Board: "later"}}, ""},
		"itself":                  {"", from{{Board: "self"}}, "/derive/from/0/board"},
		"derived":                 {"", from{{Board: "days"}, {Board: "derived"}}, "/derive/from/1/board"},
		"its windows":             {"", from{{Board: "days"}, {Board: "days", Window: ever}}, ""},
		"no such window":          {"", from{{Board: "days", Window: week}}, "/derive/from/0/window"},
		"last of its window":      {"7d", from{{Board: "days"}}, ""},
		"last of another":         {"48h", from{{Board: "days"}}, "/derive/last"},
		"a day":                   {"", from{{Board: "days", Period: "2026-11-20"}}, ""},
		"a day to come":           {"", from{{Board: "days", Period: "2030-01-01"}}, ""},
		"the day before it":       {"", from{{Board: "days", Period: "2026-11-19"}}, "/derive/from/0/period"},
		"a week for a day":        {"", from{{Board: "days", Period: "2026-W47"}}, "/derive/from/0/period"},
		"a window that was there": {"", from{{Board: "days", Window: week, Period: "2026-W47"}}, ""},
		"before all time":         {"", from{{Board: "days", Window: ever, Period: "previous"}}, "/derive/from/0/period"},
		"a season":                {"", from{{Board: "seasons", Period: "S1"}}, ""},
		"no such season":          {"", from{{Board: "seasons", Window: season, Period: "S2"}}, "/derive/from/0/period"},
		"the first window twice":  {"", from{{Board: "days"}, {Board: "days", Window: day}}, "/derive/from/1"},
		"all time twice":          {"", from{{Board: "days", Window: ever, Period: "all_time"}, {Board: "days", Window: ever}}, "/derive/from/1"},
		"today and a day":         {"", from{{Board: "days"}, {Board: "days", Period: "2026-11-20"}}, ""},
	} {
		rules := leaderboard.Rules{Derive: &leaderboard.Derive{Last: c.last, From: c.from}}.WithDefaults()
		if broken := rules.Check(); broken != nil {
			t.Errorf("%s: %v", name, broken)
		}
		if got := pointers(rules.CheckSources("self", sourceBoards)); got != c.want {
			t.Errorf("%s: fault at %q, want %q", name, got, c.want)
		}
	}
	// Without the board the forms of names are known.
	for want, f := range map[string]leaderboard.DeriveFrom{
		"":                      {Board: "later", Window: day, Period: "2026-11-20"},
		"/derive/from/0/period": {Board: "later", Window: hour, Period: "2026-11-20"},
	} {
		rules := leaderboard.Rules{Derive: &leaderboard.Derive{From: from{f}}}.WithDefaults()
		if got := pointers(rules.Check()); got != want {
			t.Errorf("%+v: fault at %q, want %q", f, got, want)
		}
	}
}

// TestSourceConditions: the conditions of sources, with and without a period that has begun.
func TestSourceConditions(t *testing.T) {
	t.Parallel()
	const week = leaderboard.WindowWeek
	for want, d := range map[string]leaderboard.Derive{
		"present empty":           {From: []leaderboard.DeriveFrom{{Board: "days"}}},
		"no_board no_board":       {From: []leaderboard.DeriveFrom{{Board: "later"}}},
		"derived derived":         {From: []leaderboard.DeriveFrom{{Board: "derived"}}},
		"no_window no_window":     {From: []leaderboard.DeriveFrom{{Board: "days", Window: week, Period: "previous"}}},
		"present no_window":       {From: []leaderboard.DeriveFrom{{Board: "days", Window: week, Period: "2026-W47"}}},
		"no_period no_period":     {From: []leaderboard.DeriveFrom{{Board: "days", Period: "2026-W47"}}},
		"no_window present empty": {Last: "2w", From: []leaderboard.DeriveFrom{{Board: "days"}}},
	} {
		spans := d.Spans(leaderboard.MicrosOf(time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)), sourceBoards)
		got := string(spans[0].Condition(true) + " " + spans[0].Condition(false))
		if d.Last != "" { // the week before the last week of a board that has ended
			got = string(spans[0].Condition(true) + " " + spans[1].Condition(true) + " empty")
		}
		if got != want {
			t.Errorf("%+v: %s, want %s", d, got, want)
		}
	}
	for _, c := range []struct {
		state, want leaderboard.DerivationState
		source      leaderboard.SourceCondition
	}{
		{leaderboard.DerivationStateFollowing, leaderboard.DerivationStateFollowing, leaderboard.SourceConditionEmpty},
		{leaderboard.DerivationStateFollowing, leaderboard.DerivationStateIncomplete, leaderboard.SourceConditionNoWindow},
		{leaderboard.DerivationStateComputing, leaderboard.DerivationStateComputing, leaderboard.SourceConditionNoWindow},
	} {
		if got := c.state.With([]leaderboard.SourceState{{Condition: leaderboard.SourceConditionPresent}, {Condition: c.source}}); got != c.want {
			t.Errorf("%s with a source %s is %s, want %s", c.state, c.source, got, c.want)
		}
	}
}

// TestDeriveSpans walks over the end of a day that has 23 hours, in two zones.
func TestDeriveSpans(t *testing.T) {
	t.Parallel()
	find := func(name string) (leaderboard.SourceBoard, bool) {
		rules := leaderboard.Rules{TimeZone: name}
		cal, err := rules.Calendar()
		return leaderboard.SourceBoard{Windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowHour}, Calendar: cal}, err == nil
	}
	names := func(d leaderboard.Derive, now string) string {
		moment, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, s := range d.Spans(leaderboard.MicrosOf(moment), find) {
			if !s.Found {
				s.Name = "-"
			}
			list = append(list, string(s.Window)+" "+s.Name)
		}
		return strings.Join(list, ", ")
	}
	days := leaderboard.Derive{Last: "3d", From: []leaderboard.DeriveFrom{{Board: "Europe/Berlin"}, {Board: "UTC"}, {Board: "Nowhere"}}}
	for now, want := range map[string]string{
		"2026-03-29T21:59:59Z": "day 2026-03-29, day 2026-03-28, day 2026-03-27, day 2026-03-29, day 2026-03-28, day 2026-03-27, day -, day -, day -",
		"2026-03-29T22:00:00Z": "day 2026-03-30, day 2026-03-29, day 2026-03-28, day 2026-03-29, day 2026-03-28, day 2026-03-27, day -, day -, day -",
	} {
		if got := names(days, now); got != want {
			t.Errorf("at %s: %s\nwant %s", now, got, want)
		}
	}
	single := leaderboard.Derive{From: []leaderboard.DeriveFrom{
		{Board: "UTC"},
		{Board: "UTC", Window: leaderboard.WindowHour},
		{Board: "UTC", Period: "previous"},
		{Board: "UTC", Period: "2026-01-02"},
		{Board: "UTC", Window: leaderboard.WindowAllTime},
		{Board: "UTC", Period: "2026-W01"},
		{Board: "UTC", Window: leaderboard.WindowAllTime, Period: "previous"},
	}}
	want := "day 2026-11-20, hour 2026-11-20T13, day 2026-11-19, day 2026-01-02, all_time all_time, day -, all_time -"
	if got := names(single, "2026-11-20T13:00:00Z"); got != want {
		t.Errorf("single periods: %s\nwant %s", got, want)
	}
}

// TestCombine holds the aggregates against arithmetic without bounds.
func TestCombine(t *testing.T) {
	t.Parallel()
	score := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	weight := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64Range(-leaderboard.MaxWeight, leaderboard.MaxWeight),
		rapid.SampledFrom([]int64{-leaderboard.MaxWeight, leaderboard.MaxWeight}))
	part := rapid.Custom(func(t *rapid.T) leaderboard.Part {
		return leaderboard.Part{
			Weight: weight.Draw(t, "weight"), Score: score.Draw(t, "score"),
			CreatedTime: leaderboard.Micros(rapid.Int64Range(0, 9).Draw(t, "created")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := leaderboard.Derive{
			Op:        rapid.SampledFrom([]leaderboard.DeriveOp{leaderboard.DeriveOpUnion, leaderboard.DeriveOpIntersect}).Draw(t, "op"),
			Aggregate: rapid.SampledFrom([]leaderboard.Aggregate{leaderboard.AggregateSum, leaderboard.AggregateMin, leaderboard.AggregateMax}).Draw(t, "aggregate"),
		}
		parts := rapid.SliceOfN(part, 0, leaderboard.MaxSources).Draw(t, "parts")
		sources := len(parts) + rapid.IntRange(0, 1).Draw(t, "missing")
		got, ok := d.Combine("m", parts, sources)
		if want := len(parts) > 0 && (d.Op == leaderboard.DeriveOpUnion || len(parts) == sources); ok != want {
			t.Fatalf("a member of %d of %d sources is in: %t, %s", len(parts), sources, ok, d.Op)
		}
		if !ok {
			return
		}
		if want := naive(d.Aggregate, parts); got != want {
			t.Fatalf("%s of %+v is %+v, want %+v", d.Aggregate, parts, got, want)
		}
		slices.Reverse(parts)
		if again, _ := d.Combine("m", parts, sources); again != got {
			t.Fatalf("another order of the parts gives %+v, not %+v", again, got)
		}
	})
}

// naive is Combine for a member that is in.
func naive(aggregate leaderboard.Aggregate, parts []leaderboard.Part) leaderboard.Entry {
	e := leaderboard.Entry{Member: "m"}
	value := func(p leaderboard.Part) *big.Int { return new(big.Int).Mul(big.NewInt(p.Weight), big.NewInt(p.Score)) }
	total := new(big.Int)
	if aggregate == leaderboard.AggregateSum {
		allWeightless := !slices.ContainsFunc(parts, func(p leaderboard.Part) bool { return p.Weight != 0 })
		for _, p := range parts {
			total.Add(total, value(p))
			if p.Weight != 0 || allWeightless {
				e.CreatedTime = max(e.CreatedTime, p.CreatedTime)
			}
		}
	} else {
		sign := map[leaderboard.Aggregate]int{leaderboard.AggregateMin: 1, leaderboard.AggregateMax: -1}[aggregate]
		first := slices.MinFunc(parts, func(a, b leaderboard.Part) int {
			if c := sign * value(a).Cmp(value(b)); c != 0 {
				return c
			}
			return int(a.CreatedTime - b.CreatedTime)
		})
		total, e.CreatedTime = value(first), first.CreatedTime
	}
	switch {
	case total.IsInt64():
		e.Score = total.Int64()
	case total.Sign() < 0:
		e.Score = math.MinInt64
	default:
		e.Score = math.MaxInt64
	}
	return e
}
