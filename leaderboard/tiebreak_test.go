package leaderboard

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// game returns the tiebreak of the documents: the higher level, paid, fewer deaths.
func game(order Order) *Tiebreak {
	return &Tiebreak{Order: order, Fields: []TiebreakField{{"level", 20, OrderDesc}, {"paid", 1, OrderDesc}, {"deaths", 16, OrderAsc}}}
}

func TestPackGolden(t *testing.T) {
	values := map[string]int64{"level": 7, "paid": 1, "deaths": 3}
	for order, want := range map[Order]int64{
		OrderDesc: 7<<17 | 1<<16 | (65535 - 3),
		OrderAsc:  (1<<20-1-7)<<17 | 0<<16 | 3,
	} {
		tie := game(order)
		got, broken := tie.Pack(values)
		if broken != nil || got != want {
			t.Errorf("%s: packed as %d, %v; want %d", order, got, broken, want)
		}
		if back := tie.Unpack(want); !slices.Equal(back, []FieldValue{{"level", 7}, {"paid", 1}, {"deaths", 3}}) {
			t.Errorf("%s: unpacked as %v", order, back)
		}
	}
	if got := game(OrderAsc).Layout() + (&Tiebreak{Order: OrderAsc}).Layout(); got != "level:20:desc,paid:1:desc,deaths:16:asc" {
		t.Errorf("layout is %s", got)
	}
	whole := &Tiebreak{Order: OrderDesc, Fields: []TiebreakField{{"all", 63, OrderDesc}}}
	if got, broken := whole.Pack(map[string]int64{"all": math.MaxInt64}); got != math.MaxInt64 || broken != nil {
		t.Errorf("63 bits: %d, %v", got, broken)
	}
	if got := (&Tiebreak{Order: OrderDesc}).Unpack(5); got != nil {
		t.Errorf("no fields: %v", got)
	}
}

func TestPackRefuses(t *testing.T) {
	tie := game(OrderDesc)
	for name, c := range map[string]struct {
		values map[string]int64
		want   string
	}{
		"nothing":       {map[string]int64{}, "level is missing; paid is missing; deaths is missing"},
		"one missing":   {map[string]int64{"level": 1, "deaths": 0}, "paid is missing"},
		"too great":     {map[string]int64{"level": 1 << 20, "paid": 1, "deaths": 0}, "level 1048576 is out of range, want 0 to 1048575"},
		"negative":      {map[string]int64{"level": 0, "paid": 1, "deaths": -1}, "deaths -1 is out of range, want 0 to 65535"},
		"least":         {map[string]int64{"level": 0, "paid": 1, "deaths": math.MinInt64}, "deaths -9223372036854775808 is out of range, want 0 to 65535"},
		"unknown":       {map[string]int64{"level": 0, "paid": 1, "deaths": 0, "x": 1, "speed": 1}, `"speed" is none of the fields level (0 to 1048575), paid (0 to 1), deaths (0 to 65535)`},
		"another case":  {map[string]int64{"Level": 0, "paid": 1, "deaths": 0}, `level is missing; "Level" is none of the fields level (0 to 1048575), paid (0 to 1), deaths (0 to 65535)`},
		"a long name":   {map[string]int64{"level": 0, "paid": 1, "deaths": 0, strings.Repeat("x", 1000): 1}, `"` + strings.Repeat("x", 32) + `" is none of the fields level (0 to 1048575), paid (0 to 1), deaths (0 to 65535)`},
		"all the wrong": {map[string]int64{"paid": 2, "deaths": 0, "\n": 0}, `level is missing; paid 2 is out of range, want 0 to 1; "\n" is none of the fields level (0 to 1048575), paid (0 to 1), deaths (0 to 65535)`},
	} {
		t.Run(name, func(t *testing.T) {
			got, broken := tie.Pack(c.values)
			if broken == nil || AsRule(broken).Code != CodeInvalidFields || AsRule(broken).Detail != c.want || got != 0 {
				t.Errorf("%d, %v\nwant %s", got, broken, c.want)
			}
		})
	}
	if _, broken := (&Tiebreak{Order: OrderDesc}).Pack(map[string]int64{}); broken == nil || AsRule(broken).Detail != "the board's tiebreak has no fields" {
		t.Errorf("no fields: %v", broken)
	}
}

// anyTiebreak draws tiebreaks with 1 to 16 fields that together have at most 63 bits.
func anyTiebreak() *rapid.Generator[*Tiebreak] {
	return rapid.Custom(func(t *rapid.T) *Tiebreak {
		order := rapid.SampledFrom([]Order{OrderDesc, OrderAsc})
		tie := &Tiebreak{Order: order.Draw(t, "order")}
		left := rapid.IntRange(1, MaxTiebreakBits).Draw(t, "bits")
		for i := 0; left > 0 && i < MaxTiebreakFields; i++ {
			bits := rapid.IntRange(1, left).Draw(t, "bits of a field")
			tie.Fields = append(tie.Fields, TiebreakField{Name: string(rune('a' + i)), Bits: bits, Order: order.Draw(t, "order of a field")})
			left -= bits
		}
		return tie
	})
}

func anyValues(tie *Tiebreak) *rapid.Generator[map[string]int64] {
	return rapid.Custom(func(t *rapid.T) map[string]int64 {
		values := map[string]int64{}
		for _, f := range tie.Fields {
			most := int64(1)<<f.Bits - 1
			if f.Bits == 63 {
				most = math.MaxInt64
			}
			values[f.Name] = rapid.OneOf(rapid.Int64Range(0, min(1, most)), rapid.SampledFrom([]int64{0, most}), rapid.Int64Range(0, most)).Draw(t, f.Name)
		}
		return values
	})
}

// byField compares field by field, each in its own direction, without packing: negative when a is better.
func byField(tie *Tiebreak, a, b map[string]int64) int {
	for _, f := range tie.Fields {
		if c := cmp.Compare(a[f.Name], b[f.Name]); c != 0 {
			if f.Order == OrderDesc {
				return -c
			}
			return c
		}
	}
	return 0
}

func TestPackProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tie := anyTiebreak().Draw(t, "tiebreak")
		rules := Rules{Tiebreak: *tie}.WithDefaults()
		if broken := rules.Check(); broken != nil {
			t.Fatal(broken)
		}
		pack := func(values map[string]int64) int64 {
			packed, broken := tie.Pack(values)
			if broken != nil || packed < 0 {
				t.Fatalf("%v packed as %d: %v", values, packed, broken)
			}
			if broken := tie.checkPacked(packed); broken != nil {
				t.Fatal(broken)
			}
			back := map[string]int64{}
			for i, v := range tie.Unpack(packed) {
				if back[v.Name] = v.Value; v.Name != tie.Fields[i].Name {
					t.Fatalf("field %d is %s", i, v.Name)
				}
			}
			if !maps.Equal(back, values) {
				t.Fatalf("%v came back as %v", values, back)
			}
			return packed
		}
		a, b := anyValues(tie).Draw(t, "a"), anyValues(tie).Draw(t, "b")
		if got, want := compareIn(tie.Order, pack(a), pack(b)), byField(tie, a, b); got != want {
			t.Fatalf("%v and %v are ordered %d, want %d", a, b, got, want)
		}
	})
}

// TestBestSwapsWholeEntries holds best against plain comparison of score and fields: the kept entry was submitted as a
// whole.
func TestBestSwapsWholeEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tie := anyTiebreak().Draw(t, "tiebreak")
		rules := Rules{Tiebreak: *tie}.WithDefaults()
		var cur *Entry
		var bestScore int64
		var best map[string]int64
		for range rapid.IntRange(1, 12).Draw(t, "submissions") {
			sub := Submission{Member: "m", Score: rapid.Int64Range(0, 2).Draw(t, "score"), Fields: anyValues(tie).Draw(t, "fields")}
			next, _, broken := rules.Apply(cur, sub, tNow, tClock)
			if broken != nil {
				t.Fatal(broken)
			}
			cur = &next
			if best == nil || sub.Score > bestScore || sub.Score == bestScore && byField(tie, sub.Fields, best) < 0 {
				bestScore, best = sub.Score, sub.Fields
			}
			got := map[string]int64{}
			for _, v := range tie.Unpack(cur.Tiebreak) {
				got[v.Name] = v.Value
			}
			if cur.Score != bestScore || !maps.Equal(got, best) {
				t.Fatalf("kept %d with %v, want %d with %v", cur.Score, got, bestScore, best)
			}
		}
	})
}

func TestResolve(t *testing.T) {
	with, plain := game(OrderDesc), &Tiebreak{Order: OrderDesc}
	values := map[string]int64{"level": 0, "paid": 0, "deaths": 65535}
	for name, c := range map[string]struct {
		tie    *Tiebreak
		given  *int64
		fields map[string]int64
		kept   *int64
		want   int64
		detail string
	}{
		"plain, neither":        {tie: plain},
		"plain, given":          {tie: plain, given: ptr[int64](-5), want: -5},
		"plain, kept":           {tie: plain, kept: ptr[int64](-5), want: -5},
		"plain, given and kept": {tie: plain, given: ptr[int64](0), kept: ptr[int64](-5)},
		"plain, fields":         {tie: plain, fields: values, detail: "the board's tiebreak has no fields"},
		"plain, empty fields":   {tie: plain, fields: map[string]int64{}, detail: "the board's tiebreak has no fields"},
		"fields":                {tie: with, fields: values, kept: ptr[int64](9)},
		"both":                  {tie: with, given: ptr[int64](0), fields: values, detail: "give the tiebreak or its fields, not both"},
		"neither":               {tie: with, detail: "the fields are missing, want level (0 to 1048575), paid (0 to 1), deaths (0 to 65535)"},
		"neither, kept":         {tie: with, kept: ptr[int64](9), want: 9},
		"least packed":          {tie: with, given: ptr[int64](0)},
		"greatest packed":       {tie: with, given: ptr[int64](1<<37 - 1), want: 1<<37 - 1},
		"not packed":            {tie: with, given: ptr[int64](1 << 37), detail: "tiebreak 137438953472 is not packed from the fields level (0 to 1048575), paid (0 to 1), deaths (0 to 65535): it is out of range, want 0 to 137438953471"},
		"negative":              {tie: with, given: ptr[int64](-1), detail: "tiebreak -1 is not packed from the fields level (0 to 1048575), paid (0 to 1), deaths (0 to 65535): it is out of range, want 0 to 137438953471"},
	} {
		t.Run(name, func(t *testing.T) {
			got, broken := c.tie.Resolve(c.given, c.fields, c.kept)
			if c.detail == "" && (broken != nil || got != c.want) {
				t.Errorf("%d, %v; want %d", got, broken, c.want)
			}
			if c.detail != "" && (broken == nil || AsRule(broken).Code != CodeInvalidFields || AsRule(broken).Detail != c.detail) {
				t.Errorf("%v\nwant %s", broken, c.detail)
			}
		})
	}
}

// TestSumKeepsFields: a sum without fields keeps the entry's fields, unless another window, whose period may be new,
// has no entry.
func TestSumKeepsFields(t *testing.T) {
	for _, windows := range [][]Window{{WindowAllTime}, {WindowDay}, {WindowDay, WindowAllTime}} {
		rules := Rules{Policy: PolicySum, Windows: windows, Tiebreak: *game(OrderDesc)}.WithDefaults()
		sub := Submission{Member: "m", Score: 2}
		if _, _, broken := rules.Apply(nil, sub, tNow, tClock); broken == nil || AsRule(broken).Code != CodeInvalidFields {
			t.Errorf("%v: the first one without fields: %v", windows, broken)
		}
		got, changed, broken := rules.Apply(entry(5, 9, 1), sub, tNow, tClock)
		if kept := broken == nil && changed && got == *entry(7, 9, tNow); kept != (len(windows) == 1) {
			t.Errorf("%v: %+v, %v", windows, got, broken)
		}
		sub.Fields = map[string]int64{"level": 0, "paid": 0, "deaths": 65535}
		if got, _, broken := rules.Apply(entry(5, 9, 1), sub, tNow, tClock); broken != nil || got != *entry(7, 0, tNow) {
			t.Errorf("%v, given: %+v, %v", windows, got, broken)
		}
	}
}

func TestCheckFields(t *testing.T) {
	many := make([]TiebreakField, 17)
	for i := range many {
		many[i] = TiebreakField{string(rune('a' + i)), 1, OrderDesc}
	}
	for name, c := range map[string]struct {
		fields        []TiebreakField
		pointer, want string
	}{
		"too many bits": {
			[]TiebreakField{{"level", 20, OrderDesc}, {"paid", 1, OrderDesc}, {"deaths", 43, OrderAsc}},
			"/tiebreak/fields", "level 20 + paid 1 + deaths 43 = 64 bits, a tiebreak has 63",
		},
		"too many fields": {many, "/tiebreak/fields", "want at most 16 fields"},
		"no name":         {[]TiebreakField{{"", 1, OrderDesc}}, "/tiebreak/fields/0/name", "want a name of its own, [a-z][a-z0-9_]{0,31}"},
		"a digit first":   {[]TiebreakField{{"1a", 1, OrderDesc}}, "/tiebreak/fields/0/name", "want a name of its own, [a-z][a-z0-9_]{0,31}"},
		"a capital":       {[]TiebreakField{{"aB", 1, OrderDesc}}, "/tiebreak/fields/0/name", "want a name of its own, [a-z][a-z0-9_]{0,31}"},
		"a long name":     {[]TiebreakField{{strings.Repeat("a", 33), 1, OrderDesc}}, "/tiebreak/fields/0/name", "want a name of its own, [a-z][a-z0-9_]{0,31}"},
		"twice":           {[]TiebreakField{{"a", 1, OrderDesc}, {"a", 1, OrderAsc}}, "/tiebreak/fields/1/name", "want a name of its own, [a-z][a-z0-9_]{0,31}"},
		"no bits":         {[]TiebreakField{{"a", 0, OrderDesc}}, "/tiebreak/fields/0/bits", "want 1 to 63 bits"},
		"64 bits":         {[]TiebreakField{{"a", 64, OrderDesc}}, "/tiebreak/fields/0/bits", "want 1 to 63 bits"},
		"an order":        {[]TiebreakField{{"a", 1, "up"}}, "/tiebreak/fields/0/order", "want one of desc, asc"},
	} {
		t.Run(name, func(t *testing.T) {
			rules := Rules{Tiebreak: Tiebreak{Fields: c.fields}}.WithDefaults()
			broken := rules.Check()
			if broken == nil || len(AsRule(broken).Fields) != 1 || AsRule(broken).Fields[0] != (FieldError{c.pointer, c.want}) {
				t.Errorf("%v, want %s: %s", broken, c.pointer, c.want)
			}
		})
	}
	rules := Rules{Tiebreak: Tiebreak{Fields: []TiebreakField{{"a_1", 62, ""}, {strings.Repeat("z", 32), 1, OrderAsc}}}}
	filled := rules.WithDefaults()
	if broken := filled.Check(); broken != nil || filled.Tiebreak.Fields[0].Order != OrderDesc || rules.Tiebreak.Fields[0].Order != "" {
		t.Errorf("%v, %+v made of %+v", broken, filled.Tiebreak, rules.Tiebreak)
	}
}

func TestFieldsReorder(t *testing.T) {
	base := Rules{Tiebreak: *game(OrderDesc)}.WithDefaults()
	for name, change := range map[string]func(*Tiebreak){
		"order": func(tie *Tiebreak) { tie.Order = OrderAsc }, "order of a field": func(tie *Tiebreak) { tie.Fields[0].Order = OrderAsc },
		"bits": func(tie *Tiebreak) { tie.Fields[0].Bits++ }, "name": func(tie *Tiebreak) { tie.Fields[0].Name = "rank" },
		"one less": func(tie *Tiebreak) { tie.Fields = tie.Fields[:2] }, "none": func(tie *Tiebreak) { tie.Fields = nil },
		"sequence": func(tie *Tiebreak) { slices.Reverse(tie.Fields) },
	} {
		other := base.WithDefaults() // a separate slice
		if base.Reorders(&other) {
			t.Error("the same rules reorder")
		}
		if change(&other.Tiebreak); !base.Reorders(&other) || !other.Reorders(&base) {
			t.Errorf("%s does not reorder", name)
		}
	}
}

func TestFieldsJSON(t *testing.T) {
	for want, tie := range map[string]Tiebreak{
		`{"order":"desc"}`: {Order: OrderDesc},
		`{"order":"asc","fields":[{"name":"level","bits":20,"order":"desc"}]}`: {Order: OrderAsc, Fields: []TiebreakField{{"level", 20, OrderDesc}}},
	} {
		if got, err := json.Marshal(tie); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

// FuzzPack reads any bytes as fields and values: packed values unpack to themselves, and the rest is refused.
func FuzzPack(f *testing.F) {
	f.Add("level", 20, true, "paid", 1, false, int64(7), int64(1))
	f.Add("a", 63, true, "", 0, true, int64(math.MaxInt64), int64(-1))
	f.Add("a", 40, false, "b", 24, true, int64(0), int64(1<<24))
	f.Fuzz(func(t *testing.T, name1 string, bits1 int, asc1 bool, name2 string, bits2 int, asc2 bool, v1, v2 int64) {
		direction := map[bool]Order{false: OrderDesc, true: OrderAsc}
		rules := Rules{Tiebreak: Tiebreak{Fields: []TiebreakField{{name1, bits1, direction[asc1]}, {name2, bits2, direction[asc2]}}}}.WithDefaults()
		if rules.Check() != nil {
			return
		}
		values := map[string]int64{name1: v1, name2: v2}
		packed, broken := rules.Tiebreak.Pack(values)
		fits := v1 >= 0 && v1>>bits1 == 0 && v2 >= 0 && v2>>bits2 == 0
		if fits != (broken == nil) {
			t.Fatalf("%v in %d and %d bits: %v", values, bits1, bits2, broken)
		}
		if broken != nil {
			return
		}
		if back := rules.Tiebreak.Unpack(packed); packed < 0 || !slices.Equal(back, []FieldValue{{name1, v1}, {name2, v2}}) {
			t.Fatalf("%v packed as %d came back as %v", values, packed, back)
		}
	})
}
