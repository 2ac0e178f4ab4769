package leaderboard

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheckBoardName(t *testing.T) {
	for _, name := range []string{"a", "0", "demo", "a.b_c-d", "0--", strings.Repeat("x", 64)} {
		if err := CheckBoardName(name); err != nil {
			t.Errorf("%q: %s", name, err)
		}
	}
	for _, name := range []string{"", ".", "-a", "_a", "A", "a b", "a/b", "a\x00", "ä", "demo\n", strings.Repeat("x", 65)} {
		if err := CheckBoardName(name); err == nil || AsRule(err).Code != CodeInvalidBoard {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCheckMember(t *testing.T) {
	for _, id := range []string{"a", " ", "a ", "/", "%2F", "日本語", "...", "e\u0301", "\u200d", "\u200b", "\ue000", "\u0378", strings.Repeat("x", 64), strings.Repeat("é", 32)} {
		if err := CheckMember(id); err != nil {
			t.Errorf("%q: %s", id, err)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 65), strings.Repeat("é", 33), "\xff", "a\xc3", ".", "..", "a\x00", "\n", "\x7f", "\u0085", "a\u2028", "\u202eb", "\u2066", "a\u200e", "\u200f", "\u061c"} {
		if err := CheckMember(id); err == nil || AsRule(err).Code != CodeInvalidMember {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestStrictIDs: on boards that want it a submission for an id that is not printable ASCII breaks a rule.
func TestStrictIDs(t *testing.T) {
	strict, open := Rules{StrictIDs: true}.WithDefaults(), Rules{}.WithDefaults()
	for id, fits := range map[string]bool{
		"a": true, " ~": true, "!": true, strings.Repeat("x", 64): true, "é": false, "e\u0301": false, "\u0430": false, "a\u200b": false, "\U0001f3c6": false, "\u00a0": false,
	} {
		_, _, err := strict.Apply(nil, Submission{Member: id, Score: 1}, 1, 1)
		if rule := AsRule(err); (rule == nil) != fits || rule != nil && rule.Code != CodeInvalidMember {
			t.Errorf("%q: %v", id, err)
		}
		if _, _, err := open.Apply(nil, Submission{Member: id, Score: 1}, 1, 1); err != nil {
			t.Errorf("%q on a board without the rule: %v", id, err)
		}
	}
	derived := Rules{StrictIDs: true, Derive: &Derive{From: []DeriveFrom{{Board: "b"}}}}.WithDefaults()
	if broken := AsRule(derived.Check()); broken == nil || broken.Fields[0].Pointer != "/strict_ids" {
		t.Errorf("on a derived board: %v", broken)
	}
}

func TestDefaultsAreValid(t *testing.T) {
	r := Rules{}.WithDefaults()
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	want := Rules{
		Order: OrderDesc, Policy: PolicyBest, Mode: ModeStrict, Windows: []Window{WindowAllTime}, TimeZone: "UTC", Visibility: VisibilityPublic, TopN: 1000,
		Refresh: Refresh{Incremental: "10s"}, CacheTTL: "24h", Tiebreak: Tiebreak{Order: OrderDesc},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v, want %+v", r, want)
	}
	if r.TTL() != 24*time.Hour || r.IncrementalEvery() != 10*time.Second {
		t.Errorf("ttl %s, incremental %s", r.TTL(), r.IncrementalEvery())
	}
	r.Refresh.Incremental = Off
	if r.IncrementalEvery() != 0 || r.Check() != nil {
		t.Errorf("off: every %s, %v", r.IncrementalEvery(), r.Check())
	}
}

func TestDefaultsKeepWhatIsGiven(t *testing.T) {
	given := Rules{
		Title: "T", Order: OrderAsc, Policy: PolicySum, Mode: ModeDense, Windows: []Window{WindowAllTime}, TimeZone: "Europe/Berlin", Visibility: VisibilityPrivate,
		TopN: 7, Refresh: Refresh{Full: "0 4 * * *", Incremental: "1s", Dynamic: "900/1"}, CacheTTL: "1h", Tiebreak: Tiebreak{Order: OrderAsc},
		Limits: Limits{MinScore: ptr[int64](1)}, StartsAt: ptr[Micros](1), EndsAt: ptr[Micros](2),
	}
	if got := given.WithDefaults(); !reflect.DeepEqual(got, given) {
		t.Errorf("got %+v, want %+v", got, given)
	}
}

func TestCheckNamesTheField(t *testing.T) {
	for pointer, damage := range map[string]func(*Rules){
		"/title":               func(r *Rules) { r.Title = strings.Repeat("x", 201) },
		"/order":               func(r *Rules) { r.Order = "up" },
		"/policy":              func(r *Rules) { r.Policy = "worst" },
		"/mode":                func(r *Rules) { r.Mode = "loose" },
		"/visibility":          func(r *Rules) { r.Visibility = "hidden" },
		"/tiebreak/order":      func(r *Rules) { r.Tiebreak.Order = "DESC" },
		"/top_n":               func(r *Rules) { r.TopN = MaxTopN + 1 },
		"/time_zone":           func(r *Rules) { r.TimeZone = "Mars/Olympus" },
		"/windows/0":           func(r *Rules) { r.Windows = []Window{"fortnight"} },
		"/windows/1":           func(r *Rules) { r.Windows = []Window{WindowAllTime, WindowAllTime} },
		"/cache_ttl":           func(r *Rules) { r.CacheTTL = "1s" },
		"/refresh/incremental": func(r *Rules) { r.Refresh.Incremental = "soon" },
		"/refresh/dynamic":     func(r *Rules) { r.Refresh.Dynamic = "900" },
		"/starts_at":           func(r *Rules) { r.StartsAt = ptr[Micros](-1) },
		"/ends_at":             func(r *Rules) { r.StartsAt, r.EndsAt = ptr[Micros](5), ptr[Micros](5) },
		"/limits/max_score":    func(r *Rules) { r.Limits = Limits{MinScore: ptr[int64](2), MaxScore: ptr[int64](1)} },
		"/limits/max_delta":    func(r *Rules) { r.Limits.MaxDelta = ptr[int64](-1) },
		"/face/accent":         func(r *Rules) { r.Face = &Face{Accent: "#3151d3;}"} },
		"/face/logo":           func(r *Rules) { r.Face = &Face{Logo: "../logo.png"} },
		"/face/footer":         func(r *Rules) { r.Face = &Face{Footer: strings.Repeat("x", 501)} },
		"/notify/passed":       func(r *Rules) { r.Notify = &Notify{Passed: "enemies", Within: 1} },
		"/notify/within":       func(r *Rules) { r.Notify = &Notify{Passed: NotifyPassedTop, Within: MaxNotifyWithin + 1} },
	} {
		r := Rules{}.WithDefaults()
		damage(&r)
		err := r.Check()
		if err == nil || AsRule(err).Code != CodeInvalidBoard || len(AsRule(err).Fields) != 1 || AsRule(err).Fields[0].Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
	}
}

func TestCheckListsEveryFault(t *testing.T) {
	r := Rules{Order: "x", Policy: "y", TopN: -1}.WithDefaults()
	err := r.Check()
	if err == nil || len(AsRule(err).Fields) != 3 {
		t.Fatalf("want three faults: %v", err)
	}
	for _, part := range []string{"/order", "/policy", "/top_n", CodeInvalidBoard} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
}

func TestParseTriggers(t *testing.T) {
	got, err := ParseTriggers(" 900/1  300/10 60/10000 ")
	want := []Trigger{{900 * time.Second, 1}, {300 * time.Second, 10}, {time.Minute, 10000}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if got, err := ParseTriggers(""); err != nil || got != nil {
		t.Errorf("nothing: %v, %v", got, err)
	}
	for _, s := range []string{"900", "0/1", "1/0", "-1/1", "1/-1", "a/1", "1/b", "1/2/3", "1.5/1", "99999999999/1", "/"} {
		if got, err := ParseTriggers(s); err == nil {
			t.Errorf("%q was read as %v", s, got)
		}
	}
}

func TestReorders(t *testing.T) {
	a := Rules{}.WithDefaults()
	for name, c := range map[string]struct {
		change func(*Rules)
		want   bool
	}{
		"nothing":        {func(*Rules) {}, false},
		"order":          {func(r *Rules) { r.Order = OrderAsc }, true},
		"tiebreak order": {func(r *Rules) { r.Tiebreak.Order = OrderAsc }, true},
		"policy":         {func(r *Rules) { r.Policy = PolicySum }, false},
		"mode":           {func(r *Rules) { r.Mode = ModeTied }, false},
		"top_n":          {func(r *Rules) { r.TopN = 5 }, false},
	} {
		b := a
		c.change(&b)
		if got := a.Reorders(&b); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
