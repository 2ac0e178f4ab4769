package leaderboard

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cups has a field of each direction: more wins are better, fewer deaths are, paid decides last.
func cups(policy Policy) Rules {
	return Rules{Policy: policy, Tiebreak: Tiebreak{Fields: []TiebreakField{
		{Name: "wins", Bits: 8}, {Name: "deaths", Bits: 4, Order: OrderAsc}, {Name: "paid", Bits: 1},
	}}}.WithDefaults()
}

// cup is an entry of such a board.
func cup(score, wins, deaths, paid int64, created Micros) *Entry {
	rules := cups(PolicyBest)
	packed, err := rules.Tiebreak.Pack(map[string]int64{"wins": wins, "deaths": deaths, "paid": paid})
	if err != nil {
		panic(err)
	}
	return entry(score, packed, created)
}

func TestConditions(t *testing.T) {
	there := cup(5, 7, 3, 1, 50)
	for name, c := range map[string]struct {
		cur    *Entry
		want   Condition
		detail string // "": it holds
	}{
		"absent":           {nil, Condition{Absent: ptr(true)}, ""},
		"not absent":       {there, Condition{Absent: ptr(true)}, "the member has an entry"},
		"there":            {there, Condition{Absent: ptr(false)}, ""},
		"not there":        {nil, Condition{Absent: ptr(false)}, "the member has no entry"},
		"score":            {there, Condition{Score: ptr[int64](5)}, ""},
		"other score":      {there, Condition{Score: ptr[int64](6)}, "score is 5, not 6"},
		"no score":         {nil, Condition{Score: ptr[int64](0)}, "the member has no entry"},
		"field":            {there, Condition{Fields: map[string]int64{"deaths": 3}}, ""},
		"fields":           {there, Condition{Fields: map[string]int64{"deaths": 3, "wins": 7, "paid": 1}}, ""},
		"one of them":      {there, Condition{Fields: map[string]int64{"deaths": 3, "wins": 7, "paid": 0}}, "paid is 1, not 0"},
		"fields, no entry": {nil, Condition{Fields: map[string]int64{"paid": 0}}, "the member has no entry"},
		"time":             {there, Condition{CreatedTime: ptr[Micros](50)}, ""},
		"other time":       {there, Condition{CreatedTime: ptr[Micros](51)}, "created_time is 1970-01-01T00:00:00.000050Z, not 1970-01-01T00:00:00.000051Z"},
		"all of them":      {there, Condition{Absent: ptr(false), Score: ptr[int64](5), Fields: map[string]int64{"paid": 1}, CreatedTime: ptr[Micros](50)}, ""},
		"all but the time": {there, Condition{Score: ptr[int64](5), Fields: map[string]int64{"paid": 1}, CreatedTime: ptr[Micros](49)}, "created_time is 1970-01-01T00:00:00.000050Z, not 1970-01-01T00:00:00.000049Z"},
	} {
		for _, policy := range policies() {
			rules := cups(policy)
			sub := Submission{Member: "m", Score: 90, Fields: map[string]int64{"wins": 9, "deaths": 0, "paid": 0}, If: &c.want}
			_, changed, err := rules.Apply(c.cur, sub, tNow, tClock)
			if c.detail == "" {
				if err != nil || !changed {
					t.Errorf("%s, %s: changed %t, %v", name, policy, changed, err)
				}
			} else if rule := AsRule(err); rule == nil || rule.Code != CodeConditionUnmet || rule.Detail != c.detail || changed {
				t.Errorf("%s, %s: %v, want %s", name, policy, err, c.detail)
			}
		}
	}
	plain := Rules{}.WithDefaults()
	for want, code := range map[int64]string{3: "", 4: CodeConditionUnmet} {
		_, _, err := plain.Apply(entry(5, 3, 1), Submission{Member: "m", Score: 6, If: &Condition{Tiebreak: &want}}, tNow, tClock)
		if (err == nil) != (code == "") || err != nil && AsRule(err).Code != code {
			t.Errorf("tiebreak %d: %v", want, err)
		}
	}
}

func TestEdits(t *testing.T) {
	set := func(values map[string]int64) Submission { return Submission{Edit: &Edit{NoScore: true, Set: values}} }
	add := func(values map[string]int64) Submission { return Submission{Edit: &Edit{NoScore: true, Add: values}} }
	scored := func(score int64, e Edit) Submission { return Submission{Score: score, Edit: &e} }
	for name, c := range map[string]struct {
		policy  Policy
		cur     *Entry
		sub     Submission
		want    *Entry // nil: unmet
		changed bool
	}{
		"set":                       {PolicySum, cup(5, 7, 3, 0, 50), set(map[string]int64{"paid": 1}), cup(5, 7, 3, 1, tNow), true},
		"set what is set":           {PolicySum, cup(5, 7, 3, 1, 50), set(map[string]int64{"paid": 1}), cup(5, 7, 3, 1, 50), false},
		"set to a worse value":      {PolicyBest, cup(5, 7, 3, 1, 50), set(map[string]int64{"paid": 0}), cup(5, 7, 3, 0, tNow), true},
		"set two":                   {PolicyLatest, cup(5, 7, 3, 0, 50), set(map[string]int64{"paid": 1, "wins": 0}), cup(5, 0, 3, 1, tNow), true},
		"set without an entry":      {PolicySum, nil, set(map[string]int64{"paid": 1}), nil, false},
		"add":                       {PolicyBest, cup(5, 7, 3, 0, 50), add(map[string]int64{"wins": 2, "deaths": -1}), cup(5, 9, 2, 0, tNow), true},
		"add nothing":               {PolicyBest, cup(5, 7, 3, 0, 50), add(map[string]int64{"wins": 0}), cup(5, 7, 3, 0, 50), false},
		"set and add":               {PolicyBest, cup(5, 7, 3, 0, 50), Submission{Edit: &Edit{NoScore: true, Set: map[string]int64{"paid": 1}, Add: map[string]int64{"wins": 1}}}, cup(5, 8, 3, 1, tNow), true},
		"amount and add":            {PolicySum, cup(5, 7, 3, 1, 50), scored(10, Edit{Add: map[string]int64{"wins": 1}}), cup(15, 8, 3, 1, tNow), true},
		"first amount and add":      {PolicySum, nil, scored(10, Edit{Add: map[string]int64{"wins": 1}}), cup(10, 1, 0, 0, tNow), true},
		"best of whole entries":     {PolicyBest, cup(5, 7, 3, 1, 50), scored(4, Edit{Add: map[string]int64{"wins": 1}}), cup(5, 7, 3, 1, 50), false},
		"equal score, better field": {PolicyBest, cup(5, 7, 3, 1, 50), scored(5, Edit{Add: map[string]int64{"deaths": -1}}), cup(5, 7, 2, 1, tNow), true},
		"op latest on best":         {PolicyBest, cup(5, 7, 3, 1, 50), scored(4, Edit{Op: PolicyLatest, Set: map[string]int64{"wins": 0}}), cup(4, 0, 3, 1, tNow), true},
		"op sum on best":            {PolicyBest, cup(5, 7, 3, 1, 50), scored(4, Edit{Op: PolicySum}), cup(9, 7, 3, 1, tNow), true},
		"op best on sum, worse":     {PolicySum, cup(5, 7, 3, 1, 50), scored(4, Edit{Op: PolicyBest, Set: map[string]int64{"paid": 1}}), cup(5, 7, 3, 1, 50), false},
		"time kept":                 {PolicyBest, cup(5, 7, 3, 0, 50), Submission{Edit: &Edit{NoScore: true, KeepTime: true, Set: map[string]int64{"paid": 1}}}, cup(5, 7, 3, 1, 50), true},
		"time of another score":     {PolicySum, cup(5, 7, 3, 0, 50), scored(1, Edit{KeepTime: true}), cup(6, 7, 3, 0, tNow), true},
		"time kept, nothing added":  {PolicySum, cup(5, 7, 3, 0, 50), scored(0, Edit{KeepTime: true, Add: map[string]int64{"wins": 1}}), cup(5, 8, 3, 0, 50), true},
		"time of a first score":     {PolicySum, nil, scored(1, Edit{KeepTime: true, Add: map[string]int64{"wins": 1}}), cup(1, 1, 0, 0, tNow), true},
	} {
		rules := cups(c.policy)
		c.sub.Member = "m"
		got, changed, err := rules.Apply(c.cur, c.sub, tNow, tClock)
		switch {
		case c.want == nil:
			if rule := AsRule(err); rule == nil || rule.Code != CodeConditionUnmet {
				t.Errorf("%s: %+v, %v; want it unmet", name, got, err)
			}
		case err != nil || got != *c.want || changed != c.changed:
			t.Errorf("%s: %+v, changed %t, %v; want %+v, %t", name, got, changed, err, *c.want, c.changed)
		}
	}
}

// TestEditsOutsideOfLimits: an entry whose score lies outside of limits that were narrowed can still have its fields changed.
func TestEditsOutsideOfLimits(t *testing.T) {
	rules := cups(PolicyBest)
	rules.Limits = Limits{MaxScore: ptr[int64](3), MaxDelta: ptr[int64](0)}
	got, changed, err := rules.Apply(cup(5, 7, 3, 0, 50), Submission{Member: "m", Edit: &Edit{NoScore: true, Set: map[string]int64{"paid": 1}}}, tNow, tClock)
	if err != nil || !changed || got != *cup(5, 7, 3, 1, tNow) {
		t.Errorf("%+v, changed %t, %v", got, changed, err)
	}
	if _, _, err := rules.Apply(cup(2, 7, 3, 0, 50), Submission{Member: "m", Score: 4, Edit: &Edit{Set: map[string]int64{"paid": 1}}}, tNow, tClock); AsRule(err) == nil || AsRule(err).Code != CodeScoreLimit {
		t.Errorf("a score above the limit: %v", err)
	}
}

func TestTermsRejected(t *testing.T) {
	there := cup(5, 255, 3, 0, 50)
	for name, c := range map[string]struct {
		rules  Rules
		sub    Submission
		detail string
	}{
		"above a field":          {cups(PolicySum), Submission{Edit: &Edit{NoScore: true, Add: map[string]int64{"wins": 1}}}, "wins 256 is out of range, want 0 to 255"},
		"below a field":          {cups(PolicySum), Submission{Edit: &Edit{NoScore: true, Add: map[string]int64{"deaths": -4}}}, "deaths -1 is out of range, want 0 to 15"},
		"set out of range":       {cups(PolicySum), Submission{Edit: &Edit{NoScore: true, Set: map[string]int64{"paid": 2}}}, "paid 2 is out of range"},
		"overflow":               {cups(PolicySum), Submission{Edit: &Edit{NoScore: true, Add: map[string]int64{"wins": math.MaxInt64}}}, "does not fit"},
		"set of no field":        {cups(PolicySum), Submission{Edit: &Edit{NoScore: true, Set: map[string]int64{"coins": 1}}}, `"coins" is none of the fields`},
		"add to no field":        {cups(PolicySum), Submission{Score: 1, Edit: &Edit{Add: map[string]int64{"coins": 1}}}, `"coins" is none of the fields`},
		"if no field":            {cups(PolicySum), Submission{Score: 1, If: &Condition{Fields: map[string]int64{"coins": 1}}}, `"coins" is none of the fields`},
		"if no value of a field": {cups(PolicySum), Submission{Score: 1, If: &Condition{Fields: map[string]int64{"paid": 2}}}, "paid is never 2"},
		"if tiebreak of fields":  {cups(PolicySum), Submission{Score: 1, If: &Condition{Tiebreak: ptr[int64](2)}}, "a condition names them"},
		"no fields to set":       {Rules{}.WithDefaults(), Submission{Score: 1, Edit: &Edit{Set: map[string]int64{"paid": 1}}}, "has no fields"},
		"no fields to want":      {Rules{}.WithDefaults(), Submission{Score: 1, If: &Condition{Fields: map[string]int64{"paid": 1}}}, "has no fields"},
	} {
		c.sub.Member = "m"
		_, changed, err := c.rules.Apply(there, c.sub, tNow, tClock)
		if rule := AsRule(err); rule == nil || rule.Code != CodeInvalidFields || !strings.Contains(rule.Detail, c.detail) || changed {
			t.Errorf("%s: %v, want %s", name, err, c.detail)
		}
	}
}

// TestEditsAreArithmetic: for any fields to set and to add, each such field gets the value of plain arithmetic, the
// others keep their values, and a value that does not fit into its field is refused.
func TestEditsAreArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := cups(rapid.SampledFrom(policies()).Draw(t, "policy"))
		want := map[string]int64{}
		for _, f := range rules.Tiebreak.Fields {
			want[f.Name] = rapid.Int64Range(0, f.Max()).Draw(t, f.Name)
		}
		packed, err := rules.Tiebreak.Pack(want)
		if err != nil {
			t.Fatal(err)
		}
		e, fits := Edit{NoScore: true}, true
		for _, f := range rules.Tiebreak.Fields {
			v := rapid.Int64Range(-3, f.Max()+3).Draw(t, "value of "+f.Name)
			switch rapid.IntRange(0, 2).Draw(t, "what with "+f.Name) {
			case 0:
				e.Set = with(e.Set, f.Name, v)
				want[f.Name] = v
			case 1:
				e.Add = with(e.Add, f.Name, v)
				want[f.Name] += v
			}
			fits = fits && want[f.Name] >= 0 && want[f.Name] <= f.Max()
		}
		if !e.editsFields() {
			return
		}
		cur := Entry{Member: "m", Score: 5, Tiebreak: packed, CreatedTime: 1}
		got, _, err := rules.Apply(&cur, Submission{Member: "m", Edit: &e}, tNow, tClock)
		if (err == nil) != fits {
			t.Fatalf("%+v: %v, want %v", e, err, want)
		}
		for _, f := range rules.Tiebreak.Unpack(got.Tiebreak) {
			if fits && f.Value != want[f.Name] {
				t.Fatalf("%+v: %s is %d, want %d", e, f.Name, f.Value, want[f.Name])
			}
		}
	})
}

func with(m map[string]int64, name string, v int64) map[string]int64 {
	out := map[string]int64{name: v}
	maps.Copy(out, m)
	return out
}

func TestOverrides(t *testing.T) {
	named, other, admin := Caller{Key: "kaaaaaaaaaaaa"}, Caller{Key: "kbbbbbbbbbbbb"}, Caller{Key: "kcccccccccccc", Admin: true}
	rules := Rules{Overrides: &Overrides{Keys: []string{named.Key}, Ops: []Policy{PolicyLatest}, KeepTime: true}}.WithDefaults()
	if err := rules.Check(); err != nil {
		t.Fatal(err)
	}
	none := Rules{}.WithDefaults()
	for name, c := range map[string]struct {
		rules  Rules
		edit   *Edit
		caller Caller
		ok     bool
	}{
		"nothing":             {none, nil, other, true},
		"fields":              {none, &Edit{Set: map[string]int64{"paid": 1}}, other, true},
		"the policy itself":   {none, &Edit{Op: PolicyBest}, other, true},
		"no rule":             {none, &Edit{Op: PolicyLatest}, admin, false},
		"no rule, time":       {none, &Edit{KeepTime: true}, admin, false},
		"named":               {rules, &Edit{Op: PolicyLatest, KeepTime: true}, named, true},
		"admin":               {rules, &Edit{Op: PolicyLatest, KeepTime: true}, admin, true},
		"another key":         {rules, &Edit{Op: PolicyLatest}, other, false},
		"another key, time":   {rules, &Edit{KeepTime: true}, other, false},
		"an op not allowed":   {rules, &Edit{Op: PolicySum}, admin, false},
		"nobody in the rules": {Rules{Overrides: &Overrides{KeepTime: true}}.WithDefaults(), &Edit{KeepTime: true}, Caller{}, false},
	} {
		err := c.rules.Allow(c.edit, &c.caller)
		if (err == nil) != c.ok || err != nil && AsRule(err).Code != CodeOverrideNotAllowed {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, o := range map[string]Overrides{
		"/overrides/keys/0": {Keys: []string{"admin"}, KeepTime: true},
		"/overrides/keys/1": {Keys: []string{named.Key, named.Key}, KeepTime: true},
		"/overrides/ops/0":  {Ops: []Policy{"elo"}},
		"/overrides/ops/1":  {Ops: []Policy{PolicySum, PolicySum}},
		"/overrides":        {Keys: []string{named.Key}},
		"/overrides/keys":   {Keys: slices.Repeat([]string{named.Key}, MaxOverrideKeys+1), KeepTime: true},
		"/overrides/ops":    {Ops: slices.Repeat([]Policy{PolicySum}, 5)},
	} {
		r := Rules{Overrides: &o}.WithDefaults()
		rule := AsRule(r.Check())
		if rule == nil || !slices.ContainsFunc(rule.Fields, func(f FieldError) bool { return f.Pointer == name }) {
			t.Errorf("%s: %v", name, rule)
		}
	}
	if r := (Rules{Overrides: &Overrides{}}).WithDefaults(); r.Overrides != nil {
		t.Error("overrides that allow nothing are a rule")
	}
	elo := Rules{Overrides: &Overrides{Ops: []Policy{"elo"}}}.WithDefaults()
	if got := elo.UnknownWord(); got != "/overrides/ops/0" {
		t.Errorf("the unknown word is %q", got)
	}
}

func TestForms(t *testing.T) {
	field := map[string]int64{"paid": 1}
	for name, c := range map[string]struct {
		sub  Submission
		want string // pointers
	}{
		"plain":                   {Submission{}, ""},
		"condition":               {Submission{If: &Condition{Score: ptr[int64](1)}}, ""},
		"edit":                    {Submission{Edit: &Edit{Set: field}}, ""},
		"no condition":            {Submission{If: &Condition{}}, "/if"},
		"no field wanted":         {Submission{If: &Condition{Fields: map[string]int64{}}}, "/if"},
		"absent with a score":     {Submission{If: &Condition{Absent: ptr(true), Score: ptr[int64](1)}}, "/if/absent"},
		"absent without a score":  {Submission{If: &Condition{Absent: ptr(true)}, Edit: &Edit{NoScore: true, Set: field}}, "/if/absent"},
		"neither score nor field": {Submission{Edit: &Edit{NoScore: true}}, "/score"},
		"op without a score":      {Submission{Edit: &Edit{NoScore: true, Set: field, Op: PolicySum}}, "/op"},
		"no op":                   {Submission{Edit: &Edit{Op: "elo"}}, "/op"},
		"two times":               {Submission{CreatedTime: ptr[Micros](1), Edit: &Edit{KeepTime: true}}, "/keep_time"},
		"no field set":            {Submission{Edit: &Edit{Set: map[string]int64{}}}, "/set"},
		"fields and set":          {Submission{Fields: field, Edit: &Edit{Set: field}}, "/set"},
		"tiebreak and add":        {Submission{Tiebreak: ptr[int64](1), Edit: &Edit{Add: field}}, "/add"},
		"set and add":             {Submission{Edit: &Edit{Set: map[string]int64{"a/b": 1}, Add: map[string]int64{"a/b": 1}}}, "/add/a~1b"},
	} {
		var got []string
		for _, f := range c.sub.CheckForm() {
			got = append(got, f.Pointer)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
