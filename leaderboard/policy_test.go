package leaderboard

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

const (
	tNow   Micros = 1_000 // the time of an applied change
	tClock Micros = 2_000 // the database clock
)

func ptr[T any](v T) *T { return &v }

func entry(score, tiebreak int64, created Micros) *Entry {
	return &Entry{Member: "m", Score: score, Tiebreak: tiebreak, CreatedTime: created}
}

// between returns the rules of a board of sums with limits.
func between(low, high int64) Rules {
	return Rules{Policy: PolicySum, Limits: Limits{MinScore: &low, MaxScore: &high}}
}

func TestApply(t *testing.T) {
	for name, c := range map[string]struct {
		rules   Rules
		cur     *Entry
		sub     Submission
		want    Entry
		changed bool
	}{
		"first score":                  {Rules{}, nil, Submission{Score: 5}, *entry(5, 0, tNow), true},
		"better":                       {Rules{}, entry(5, 0, 1), Submission{Score: 6}, *entry(6, 0, tNow), true},
		"worse":                        {Rules{}, entry(5, 0, 1), Submission{Score: 4}, *entry(5, 0, 1), false},
		"equal keeps its time":         {Rules{}, entry(5, 0, 1), Submission{Score: 5}, *entry(5, 0, 1), false},
		"lower is better":              {Rules{Order: OrderAsc}, entry(5, 0, 1), Submission{Score: 4}, *entry(4, 0, tNow), true},
		"better tiebreak":              {Rules{}, entry(5, 1, 1), Submission{Score: 5, Tiebreak: ptr[int64](2)}, *entry(5, 2, tNow), true},
		"best keeps whole entries":     {Rules{}, entry(5, 9, 1), Submission{Score: 6, Tiebreak: ptr[int64](1)}, *entry(6, 1, tNow), true},
		"worse score, better tiebreak": {Rules{}, entry(5, 1, 1), Submission{Score: 4, Tiebreak: ptr[int64](9)}, *entry(5, 1, 1), false},
		"earlier time given":           {Rules{}, entry(5, 0, 500), Submission{Score: 5, CreatedTime: ptr[Micros](400)}, *entry(5, 0, 400), true},
		"later time given":             {Rules{}, entry(5, 0, 500), Submission{Score: 5, CreatedTime: ptr[Micros](600)}, *entry(5, 0, 500), false},
		"latest replaces":              {Rules{Policy: PolicyLatest}, entry(5, 7, 1), Submission{Score: 4}, *entry(4, 0, tNow), true},
		"latest, equal":                {Rules{Policy: PolicyLatest}, entry(5, 0, 1), Submission{Score: 5}, *entry(5, 0, 1), false},
		"latest corrects the time":     {Rules{Policy: PolicyLatest}, entry(5, 0, 500), Submission{Score: 5, CreatedTime: ptr[Micros](600)}, *entry(5, 0, 600), true},
		"sum adds":                     {Rules{Policy: PolicySum}, entry(5, 3, 1), Submission{Score: -7}, *entry(-2, 3, tNow), true},
		"sum of nothing":               {Rules{Policy: PolicySum}, entry(5, 3, 1), Submission{Score: 0}, *entry(5, 3, 1), false},
		"sum sets the tiebreak":        {Rules{Policy: PolicySum}, entry(5, 3, 1), Submission{Score: 0, Tiebreak: ptr[int64](0)}, *entry(5, 0, tNow), true},
		"sum from nothing":             {Rules{Policy: PolicySum}, nil, Submission{Score: 0}, *entry(0, 0, tNow), true},
		"first of best":                {Rules{Limits: Limits{MaxDelta: ptr[int64](10)}}, nil, Submission{Score: 1005}, *entry(1005, 0, tNow), true},
		"first of latest":              {Rules{Policy: PolicyLatest, Limits: Limits{MaxDelta: ptr[int64](10)}}, nil, Submission{Score: 1005}, *entry(1005, 0, tNow), true},
		"much worse":                   {Rules{Limits: Limits{MaxDelta: ptr[int64](5)}}, entry(50, 0, 1), Submission{Score: 4}, *entry(50, 0, 1), false},
		"sum down to the maximum":      {between(0, 9), entry(20, 0, 1), Submission{Score: -11}, *entry(9, 0, tNow), true},
		"sum down, still above":        {between(0, 9), entry(20, 0, 1), Submission{Score: -1}, *entry(19, 0, tNow), true},
		"sum up, still below":          {between(0, 9), entry(-20, 0, 1), Submission{Score: 1}, *entry(-19, 0, tNow), true},
		"sum of nothing above":         {between(0, 9), entry(20, 3, 1), Submission{Score: 0}, *entry(20, 3, 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			rules := c.rules.WithDefaults()
			c.sub.Member = "m"
			got, changed, broken := rules.Apply(c.cur, c.sub, tNow, tClock)
			if broken != nil || got != c.want || changed != c.changed {
				t.Errorf("%+v, changed %t, %v; want %+v, %t", got, changed, broken, c.want, c.changed)
			}
		})
	}
}

func TestApplyRejects(t *testing.T) {
	limited := func(l Limits) Rules { return Rules{Limits: l} }
	sum := func(l Limits) Rules { return Rules{Policy: PolicySum, Limits: l} }
	for name, c := range map[string]struct {
		rules Rules
		cur   *Entry
		sub   Submission
		code  string
	}{
		"no member":          {Rules{}, nil, Submission{Member: ""}, CodeInvalidMember},
		"sum overflows":      {Rules{Policy: PolicySum}, entry(math.MaxInt64, 0, 1), Submission{Score: 1}, CodeScoreOverflow},
		"sum underflows":     {Rules{Policy: PolicySum}, entry(math.MinInt64, 0, 1), Submission{Score: -1}, CodeScoreOverflow},
		"below the minimum":  {limited(Limits{MinScore: ptr[int64](0)}), nil, Submission{Score: -1}, CodeScoreLimit},
		"above the maximum":  {limited(Limits{MaxScore: ptr[int64](9)}), nil, Submission{Score: 10}, CodeScoreLimit},
		"sum above it":       {sum(Limits{MaxScore: ptr[int64](9)}), entry(9, 0, 1), Submission{Score: 1}, CodeScoreLimit},
		"step too great":     {limited(Limits{MaxDelta: ptr[int64](5)}), entry(0, 0, 1), Submission{Score: 6}, CodeDeltaLimit},
		"step down":          {Rules{Policy: PolicyLatest, Limits: Limits{MaxDelta: ptr[int64](5)}}, entry(0, 0, 1), Submission{Score: -6}, CodeDeltaLimit},
		"worse, and outside": {limited(Limits{MinScore: ptr[int64](0)}), entry(5, 0, 1), Submission{Score: -1}, CodeScoreLimit},
		"latest, too high":   {Rules{Policy: PolicyLatest, Limits: Limits{MaxScore: ptr[int64](9)}}, entry(20, 0, 1), Submission{Score: 19}, CodeScoreLimit},
		"further above":      {between(0, 9), entry(20, 0, 1), Submission{Score: 1}, CodeScoreLimit},
		"past the range":     {between(0, 9), entry(20, 0, 1), Submission{Score: -21}, CodeScoreLimit},
		"sum, first below":   {between(0, 9), nil, Submission{Score: -1}, CodeScoreLimit},
		"greatest step":      {limited(Limits{MaxDelta: ptr[int64](math.MaxInt64)}), entry(math.MinInt64, 0, 1), Submission{Score: math.MaxInt64}, CodeDeltaLimit},
		"amount too great":   {sum(Limits{MaxDelta: ptr[int64](5)}), nil, Submission{Score: 6}, CodeDeltaLimit},
		"not started":        {Rules{StartsAt: ptr(tClock + 1)}, nil, Submission{}, CodeBoardNotStarted},
		"ended":              {Rules{EndsAt: ptr(tClock)}, nil, Submission{}, CodeBoardEnded},
		"time in the future": {Rules{}, nil, Submission{CreatedTime: ptr(tClock + ClockAhead + 1)}, CodeInvalidTime},
		"time before 1970":   {Rules{}, nil, Submission{CreatedTime: ptr[Micros](-1)}, CodeInvalidTime},
	} {
		t.Run(name, func(t *testing.T) {
			rules := c.rules.WithDefaults()
			if c.code != CodeInvalidMember {
				c.sub.Member = "m"
			}
			got, changed, broken := rules.Apply(c.cur, c.sub, tNow, tClock)
			if broken == nil || AsRule(broken).Code != c.code {
				t.Fatalf("%+v, changed %t, %v; want %s", got, changed, broken, c.code)
			}
			if changed || AsRule(broken).Detail == "" {
				t.Errorf("changed %t, detail %q", changed, AsRule(broken).Detail)
			}
		})
	}
}

// TestApplyKeepsThePolicy compares Apply with the policies in arithmetic that cannot overflow.
func TestApplyKeepsThePolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := someRules().Draw(t, "rules")
		cur := someEntry().Draw(t, "entry")
		sub := Submission{Member: cur.Member, Score: someScore().Draw(t, "score"), Tiebreak: ptr(someScore().Draw(t, "tiebreak"))}
		before := cur
		got, changed, broken := r.Apply(&cur, sub, tNow, tClock)
		if cur != before {
			t.Fatal("Apply wrote to the entry it was given")
		}
		want := Entry{Member: cur.Member, Score: sub.Score, Tiebreak: *sub.Tiebreak, CreatedTime: tNow}
		if r.Policy == PolicySum {
			total := new(big.Int).Add(big.NewInt(cur.Score), big.NewInt(sub.Score))
			if !total.IsInt64() {
				if broken == nil || AsRule(broken).Code != CodeScoreOverflow || changed {
					t.Fatalf("%s fits no int64: %v, changed %t", total, broken, changed)
				}
				return
			}
			want.Score = total.Int64()
		}
		same := want.Score == cur.Score && want.Tiebreak == cur.Tiebreak
		if same || (r.Policy == PolicyBest && !r.Better(want, cur)) {
			want = cur
		}
		if broken != nil || got != want || changed != (want != cur) {
			t.Fatalf("%+v, changed %t, %v; want %+v", got, changed, broken, want)
		}
	})
}

// TestLimitsHold: an entry after a submission is within the limits, or is a sum that is nearer to them than before. A
// rejected submission would break a limit. A submission that changes nothing is rejected only for a score that no
// member may have.
func TestLimitsHold(t *testing.T) {
	small := rapid.Int64Range(-9, 9)
	rapid.Check(t, func(t *rapid.T) {
		r := someRules().Draw(t, "rules")
		low := small.Draw(t, "min")
		high, delta := low+rapid.Int64Range(0, 9).Draw(t, "width"), rapid.Int64Range(0, 9).Draw(t, "delta")
		r.Limits = Limits{MinScore: &low, MaxScore: &high, MaxDelta: &delta}
		cur := Entry{Member: "m", Score: small.Draw(t, "score"), CreatedTime: 1}
		sub := Submission{Member: "m", Score: small.Draw(t, "submitted")}
		got, changed, broken := r.Apply(&cur, sub, tNow, tClock)

		wanted, step := sub.Score, sub.Score-cur.Score
		if r.Policy == PolicySum {
			wanted, step = cur.Score+sub.Score, sub.Score
		}
		inside := wanted >= low && wanted <= high
		nearer := r.Policy == PolicySum && (wanted > high && step <= 0 || wanted < low && step >= 0)
		unmoved := wanted == cur.Score || r.Policy == PolicyBest && !r.Better(Entry{Member: "m", Score: wanted, CreatedTime: tNow}, cur)
		switch {
		case !inside && !nearer:
			if broken == nil || AsRule(broken).Code != CodeScoreLimit {
				t.Fatalf("%d is outside of %d to %d: %+v, %v", wanted, low, high, got, broken)
			}
		case unmoved:
			if broken != nil || changed || got != cur {
				t.Fatalf("nothing to change: %+v, %t, %v", got, changed, broken)
			}
		case max(step, -step) > delta:
			if broken == nil || AsRule(broken).Code != CodeDeltaLimit {
				t.Fatalf("a step of %d, %d are allowed: %+v, %v", step, delta, got, broken)
			}
		case broken != nil || !changed || got.Score != wanted:
			t.Fatalf("%+v, %t, %v; want %d", got, changed, broken, wanted)
		}
	})
}

// TestBestIsOrderFree: in any order of arrival, the best of all submissions stays.
func TestBestIsOrderFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := someRules().Draw(t, "rules")
		r.Policy = PolicyBest
		var cur *Entry
		entries := rapid.SliceOfN(someEntry(), 1, 8).Draw(t, "entries")
		best := entries[0]
		for _, e := range entries {
			next, _, broken := r.Apply(cur, Submission{Member: "m", Score: e.Score, Tiebreak: &e.Tiebreak}, tNow, tClock)
			if broken != nil {
				t.Fatal(broken)
			}
			cur = &next
			if r.Better(e, best) {
				best = e
			}
		}
		if cur.Score != best.Score || cur.Tiebreak != best.Tiebreak {
			t.Fatalf("kept %+v, the best is %+v", *cur, best)
		}
	})
}

// TestClockAhead: a created_time that is a second ahead of the database clock at most is stored as the clock.
func TestClockAhead(t *testing.T) {
	rules := Rules{Policy: PolicyLatest}.WithDefaults()
	for _, ahead := range []Micros{0, 1, 50_000, ClockAhead} {
		next, changed, err := rules.Apply(nil, Submission{Member: "m", Score: 1, CreatedTime: ptr(tClock + ahead)}, tClock+7, tClock)
		if err != nil || !changed || next.CreatedTime != tClock {
			t.Errorf("%d µs ahead: %+v, %t, %v", ahead, next, changed, err)
		}
	}
}
