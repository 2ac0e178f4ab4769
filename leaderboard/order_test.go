package leaderboard

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// nasty returns the values at which arithmetic on scores breaks: the ends of the range, and where doubles lose
// integers.
func nasty() []int64 {
	return []int64{
		math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 53, -1<<53 + 1, -1, 0, 1,
		1<<53 - 1, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64,
	}
}

func someScore() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.SampledFrom(nasty()), rapid.Int64Range(-3, 3), rapid.Int64())
}

func someEntry() *rapid.Generator[Entry] {
	return rapid.Custom(func(t *rapid.T) Entry {
		return Entry{
			Member:      rapid.SampledFrom([]string{"a", "A", "a!", "ab", "b", "ä", "日本", "~"}).Draw(t, "member"),
			Score:       someScore().Draw(t, "score"),
			Tiebreak:    someScore().Draw(t, "tiebreak"),
			CreatedTime: Micros(rapid.Int64Range(0, 3).Draw(t, "created")),
		}
	})
}

func someRules() *rapid.Generator[Rules] {
	orders := rapid.SampledFrom([]Order{OrderDesc, OrderAsc})
	return rapid.Custom(func(t *rapid.T) Rules {
		return Rules{
			Order:    orders.Draw(t, "order"),
			Policy:   rapid.SampledFrom([]Policy{PolicyBest, PolicyLatest, PolicySum}).Draw(t, "policy"),
			Tiebreak: Tiebreak{Order: orders.Draw(t, "tiebreak order")},
		}.WithDefaults()
	})
}

// better is the meaning of an order, in arithmetic that cannot overflow.
func better(o Order, a, b int64) bool {
	c := big.NewInt(a).Cmp(big.NewInt(b))
	if o == OrderAsc {
		c = -c
	}
	return c > 0
}

func TestOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := someRules().Draw(t, "rules")
		a, b, c := someEntry().Draw(t, "a"), someEntry().Draw(t, "b"), someEntry().Draw(t, "c")
		if r.Compare(a, b) != -r.Compare(b, a) {
			t.Fatalf("compare is not antisymmetric: %d and %d", r.Compare(a, b), r.Compare(b, a))
		}
		if (r.Compare(a, b) == 0) != (a == b) {
			t.Fatalf("compare is %d, a == b is %t", r.Compare(a, b), a == b)
		}
		if r.Compare(a, b) < 0 && r.Compare(b, c) < 0 && r.Compare(a, c) >= 0 {
			t.Fatal("compare is not transitive")
		}
		if r.Better(a, b) && r.Compare(a, b) >= 0 {
			t.Fatal("a is better and not ranked before b")
		}
	})
}

func TestOrderByCriteria(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := someRules().Draw(t, "rules")
		a, b := someEntry().Draw(t, "a"), someEntry().Draw(t, "b")
		var want bool
		switch {
		case a.Score != b.Score:
			want = better(r.Order, a.Score, b.Score)
		case a.Tiebreak != b.Tiebreak:
			want = better(r.Tiebreak.Order, a.Tiebreak, b.Tiebreak)
		case a.CreatedTime != b.CreatedTime:
			want = a.CreatedTime < b.CreatedTime
		default:
			want = strings.Compare(a.Member, b.Member) < 0
		}
		if got := r.Compare(a, b) < 0; got != want {
			t.Fatalf("a before b: %t, want %t", got, want)
		}
	})
}

// TestClassicTable is the example of the documentation: ties at 80, decided by time.
func TestClassicTable(t *testing.T) {
	entries := []Entry{
		{"1", 90, 0, 1534429870e6},
		{"2", 80, 0, 1534429871e6},
		{"3", 82, 0, 1534412273e6},
		{"4", 96, 0, 1534429243e6},
		{"5", 100, 0, 1534429133e6},
		{"6", 5, 0, 1534429273e6},
		{"7", 8, 0, 1534429823e6},
		{"8", 80, 0, 1534429801e6},
	}
	for order, want := range map[Order]string{OrderDesc: "5 4 1 3 8 2 7 6", OrderAsc: "6 7 8 2 3 1 4 5"} {
		r := Rules{Order: order}.WithDefaults()
		slices.SortFunc(entries, r.Compare)
		var got []string
		for _, e := range entries {
			got = append(got, e.Member)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", order, got, want)
		}
	}
}

func TestPercentile(t *testing.T) {
	for _, c := range []struct {
		tied, total int64
		want        float64
	}{
		{1, 1, 100},
		{1, 8, 100},
		{8, 8, 12.5},
		{2, 3, 66.6666},
		{3, 3, 33.3333},
		{1, math.MaxInt64, 100},
		{math.MaxInt64, math.MaxInt64, 0},
		{1, 0, 0},
	} {
		if got := Percentile(c.tied, c.total); got != c.want {
			t.Errorf("percentile of rank %d of %d is %v, want %v", c.tied, c.total, got, c.want)
		}
	}
}

func TestPercentileIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, math.MaxInt64).Draw(t, "total")
		tied := rapid.Int64Range(1, total).Draw(t, "tied")
		want := new(big.Int).Mul(big.NewInt(total-tied+1), big.NewInt(1_000_000))
		want.Div(want, big.NewInt(total))
		if got := Percentile(tied, total); got != float64(want.Int64())/10_000 {
			t.Fatalf("got %v, want %s/10000", got, want)
		}
	})
}
