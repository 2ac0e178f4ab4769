package storetest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Modes returns all modes of queries.
func Modes() []leaderboard.Mode {
	return []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense, leaderboard.ModeAll}
}

// testClassic is the table that the numbering is known from: created times decide a tie in strict mode.
func testClassic(t *testing.T, s Subject) {
	b := newBoard(t, s, leaderboard.Rules{})
	b.submit(at("1", 90, 1534429870e6), at("2", 80, 1534429871e6), at("3", 82, 1534412273e6), at("4", 96, 1534429243e6),
		at("5", 100, 1534429133e6), at("6", 5, 1534429273e6), at("7", 8, 1534429823e6), at("8", 80, 1534429801e6))
	for mode, want := range map[leaderboard.Mode]string{
		leaderboard.ModeStrict: "1 5 100, 2 4 96, 3 1 90, 4 3 82, 5 8 80, 6 2 80, 7 7 8, 8 6 5",
		leaderboard.ModeTied:   "1 5 100, 2 4 96, 3 1 90, 4 3 82, 5 8 80, 5 2 80, 7 7 8, 8 6 5",
		leaderboard.ModeDense:  "1 5 100, 2 4 96, 3 1 90, 4 3 82, 5 8 80, 5 2 80, 6 7 8, 7 6 5",
		leaderboard.ModeAll:    "1/1/1 5 100, 2/2/2 4 96, 3/3/3 1 90, 4/4/4 3 82, 5/5/5 8 80, 6/5/5 2 80, 7/7/6 7 8, 8/8/7 6 5",
	} {
		if got := strings.Join(b.page(leaderboard.PageQuery{Query: b.query(mode), Limit: 10}), ", "); got != want {
			t.Errorf("%s: %s\nwant %s", mode, got, want)
		}
		for _, line := range strings.Split(want, ", ") {
			var place, member string
			var points int64
			if _, err := fmt.Sscan(line, &place, &member, &points); err != nil {
				t.Fatal(err)
			}
			got, err := s.Rankings.Members(t.Context(), b.ref, leaderboard.MembersQuery{Query: b.query(mode), Members: []string{member}})
			if err != nil || len(got.Entries) != 1 || rankText(mode, got.Entries[0].Ranks) != place || got.Entries[0].Score != points {
				t.Errorf("%s rank of %s: %+v, %v; want %s", mode, member, got, err, place)
			}
		}
	}
}

// ladder returns a board of n members m00, m01, …, best first, two of them on each score.
func ladder(t testing.TB, s Subject, n int, rules leaderboard.Rules) *board {
	b := newBoard(t, s, rules)
	var subs []leaderboard.Submission
	for i := range n {
		subs = append(subs, at(fmt.Sprintf("m%02d", i), int64(-(i/2)), leaderboard.Micros(i)))
	}
	b.submit(subs...)
	return b
}

// numbered returns the lines of a ladder's entries from..to.
func numbered(mode leaderboard.Mode, from, to int) []string {
	out := []string{}
	for i := from; i < to; i++ {
		ranks := leaderboard.Ranks{Strict: int64(i) + 1, Tied: int64(i/2*2) + 1, Dense: int64(i/2) + 1}
		out = append(out, fmt.Sprintf("%s m%02d %d", rankText(mode, ranks), i, -(i/2)))
	}
	return out
}

func testPages(t *testing.T, s Subject) {
	const n = 12
	b := ladder(t, s, n, leaderboard.Rules{})
	for _, mode := range Modes() {
		for offset := range n + 3 {
			for _, limit := range []int{0, 1, 2, 5, 100, leaderboard.MaxLimit} {
				q := leaderboard.PageQuery{Query: b.query(mode), Offset: int64(offset), Limit: limit}
				page, err := s.Rankings.Page(t.Context(), b.ref, q)
				if err != nil {
					t.Fatal(err)
				}
				from, to := min(offset, n), min(offset+limit, n)
				if want := numbered(mode, from, to); !slices.Equal(lines(page, mode), want) {
					t.Errorf("%s, offset %d, limit %d: %q, want %q", mode, offset, limit, lines(page, mode), want)
				}
				next := ""
				if to > from && to < n {
					next = string(rank.CodecOf(b.ref.Rules).Key(page.Entries[to-from-1].Entry))
				}
				if page.Next != next {
					t.Errorf("offset %d, limit %d: next is %q, want %q", offset, limit, page.Next, next)
				}
				b.checkState(page.State)
			}
		}
		if got := b.page(leaderboard.PageQuery{Query: b.query(mode), Offset: math.MaxInt64, Limit: 10}); len(got) != 0 {
			t.Errorf("beyond everything: %q", got)
		}
	}
}

func testCursor(t *testing.T, s Subject) {
	const n = 25
	b := ladder(t, s, n, leaderboard.Rules{})
	for _, mode := range Modes() {
		var got []string
		q := leaderboard.PageQuery{Query: b.query(mode), Limit: 4}
		for pages := 0; pages <= n; pages++ {
			page, err := s.Rankings.Page(t.Context(), b.ref, q)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, lines(page, mode)...)
			if q.After = page.Next; page.Next == "" {
				break
			}
		}
		if want := numbered(mode, 0, n); !slices.Equal(got, want) {
			t.Errorf("%s pages add up to %q, want %q", mode, got, want)
		}
	}
	// A cursor outlives its entry: the page continues after its place.
	page, err := s.Rankings.Page(t.Context(), b.ref, leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: "m04"})
	if err != nil {
		t.Fatal(err)
	}
	b.last = r.Seq
	got := b.page(leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), After: page.Next, Limit: 2})
	if want := []string{"5 m05 -2", "6 m06 -3"}; !slices.Equal(got, want) {
		t.Errorf("behind a removed entry: %q, want %q", got, want)
	}
}

// testForgedCursors: a cursor comes from a client: with any bytes in it the answer is a page or an error, never a wrong
// page.
func testForgedCursors(t *testing.T, s Subject) {
	b := ladder(t, s, 6, leaderboard.Rules{})
	codec := rank.CodecOf(b.ref.Rules)
	forge := func(score int64, created leaderboard.Micros, member string) string {
		return string(codec.Key(leaderboard.Entry{Member: member, Score: score, CreatedTime: created}))
	}
	for after, want := range map[string][]string{
		forge(1, 0, "x"):                                         {"1 m00 0", "2 m01 0"},
		forge(0, math.MinInt64, "x"):                             {"1 m00 0", "2 m01 0"},
		forge(0, -1, "\xff"):                                     {"1 m00 0", "2 m01 0"},
		forge(0, 0, "m"):                                         {"1 m00 0", "2 m01 0"},
		forge(0, 0, "m00\x00"):                                   {"2 m01 0", "3 m02 -1"},
		forge(0, leaderboard.MaxTime+1, "x"):                     {"3 m02 -1", "4 m03 -1"},
		forge(-1, math.MaxInt64, "x"):                            {"5 m04 -2", "6 m05 -2"},
		forge(-2, leaderboard.MaxTime, strings.Repeat("~", 64)):  {},
		forge(math.MinInt64, leaderboard.Forever, "' OR 1=1 --"): {},
	} {
		q := leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), After: after, Limit: 2}
		if got := b.page(q); !slices.Equal(got, want) {
			t.Errorf("behind %q: %q, want %q", after, got, want)
		}
	}
}

func testAround(t *testing.T, s Subject) {
	const n = 12
	b := ladder(t, s, n, leaderboard.Rules{})
	for _, mode := range Modes() {
		for at := range n {
			for _, c := range []struct{ before, limit int }{{0, 1}, {2, 5}, {3, 4}, {5, 11}, {5, 20}, {11, 12}, {0, 5}, {500, 1001}} {
				q := leaderboard.PageQuery{Query: b.query(mode), Around: fmt.Sprintf("m%02d", at), Before: c.before, Limit: c.limit}
				from := max(0, min(at-c.before, n-c.limit))
				want := numbered(mode, from, min(from+c.limit, n))
				page, err := s.Rankings.Page(t.Context(), b.ref, q)
				if err != nil || !slices.Equal(lines(page, mode), want) {
					t.Errorf("%s around %d, %+v: %q, %v; want %q", mode, at, c, lines(page, mode), err, want)
				}
			}
		}
	}
	for _, member := range []string{"nobody", "M00", "m00 ", "\xff"} {
		q := leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), Around: member, Before: 1, Limit: 3}
		if _, err := s.Rankings.Page(t.Context(), b.ref, q); !errors.Is(err, leaderboard.ErrNotRanked) {
			t.Errorf("around %q: %v", member, err)
		}
	}
}

func testMembers(t *testing.T, s Subject) {
	b := ladder(t, s, 60, leaderboard.Rules{})
	ask := []string{"m59", "x", "m03", "m02", "\xff", "m20", "", "m00", "m21", "M00", "m05"}
	for mode, want := range map[leaderboard.Mode]string{
		leaderboard.ModeStrict: "1 m00 1; 3 m02 3; 4 m03 3; 6 m05 5; 21 m20 21; 22 m21 21; 60 m59 59; ",
		leaderboard.ModeTied:   "1 m00 1; 3 m02 3; 3 m03 3; 5 m05 5; 21 m20 21; 21 m21 21; 59 m59 59; ",
		leaderboard.ModeDense:  "1 m00 1; 2 m02 3; 2 m03 3; 3 m05 5; 11 m20 21; 11 m21 21; 30 m59 59; ",
		leaderboard.ModeAll:    "1/1/1 m00 1; 3/3/2 m02 3; 4/3/2 m03 3; 6/5/3 m05 5; 21/21/11 m20 21; 22/21/11 m21 21; 60/59/30 m59 59; ",
	} {
		out, err := s.Rankings.Members(t.Context(), b.ref, leaderboard.MembersQuery{Query: b.query(mode), Members: ask})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range out.Entries {
			got += fmt.Sprintf("%s %s %d; ", rankText(mode, e.Ranks), e.Member, e.Tied)
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", mode, got, want)
		}
		if !slices.Equal(out.NotRanked, []string{"x", "\xff", "", "M00"}) {
			t.Errorf("not ranked: %q", out.NotRanked)
		}
		b.checkState(out.State)
	}
	var all []string
	for i := range leaderboard.MaxLimit {
		all = append(all, fmt.Sprintf("m%02d", i))
	}
	out, err := s.Rankings.Members(t.Context(), b.ref, leaderboard.MembersQuery{Query: b.query(leaderboard.ModeTied), Members: all})
	if err != nil || len(out.Entries) != 60 || len(out.NotRanked) != leaderboard.MaxLimit-60 || out.Entries[58].Tied != 59 {
		t.Errorf("a thousand members: %d ranked, %d not, %v", len(out.Entries), len(out.NotRanked), err)
	}
	out, err = s.Rankings.Members(t.Context(), b.ref, leaderboard.MembersQuery{Query: b.query(leaderboard.ModeTied)})
	if err != nil || len(out.Entries)+len(out.NotRanked) != 0 {
		t.Errorf("no members: %+v, %v", out, err)
	}
}

func testScoreRank(t *testing.T, s Subject) {
	for _, order := range []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc} {
		t.Run(string(order), func(t *testing.T) {
			b := newBoard(t, s, leaderboard.Rules{Order: order})
			tie := int64(1)
			b.submit(score("a", 10), score("b", 10), score("c", 20), score("d", math.MaxInt64), score("e", math.MinInt64),
				leaderboard.Submission{Member: "f", Score: 10, Tiebreak: &tie})
			for _, c := range []struct{ score, tiebreak, strict, tied, strictAsc, tiedAsc int64 }{
				{math.MaxInt64, 0, 2, 1, 7, 6},
				{math.MinInt64, 0, 7, 6, 2, 1},
				{15, 0, 3, 3, 5, 5},
				{10, 0, 6, 4, 5, 3},
				{10, 1, 4, 3, 3, 2},
				{10, math.MinInt64, 6, 6, 5, 5},
				{20, 0, 3, 2, 6, 5},
			} {
				got, err := s.Rankings.ScoreRank(t.Context(), b.ref, leaderboard.ScoreQuery{MinSeq: b.last, Score: c.score, Tiebreak: c.tiebreak})
				if err != nil {
					t.Fatal(err)
				}
				strict, tied := c.strict, c.tied
				if order == leaderboard.OrderAsc {
					strict, tied = c.strictAsc, c.tiedAsc
				}
				if got.Strict != strict || got.Tied != tied {
					t.Errorf("(%d, %d): strict %d, tied %d; want %d, %d", c.score, c.tiebreak, got.Strict, got.Tied, strict, tied)
				}
				b.checkState(got.State)
			}
		})
	}
}

func testDistribution(t *testing.T, s Subject) {
	for _, order := range []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc} {
		for name, c := range map[string]struct {
			scores  []int64
			buckets int
			want    string
		}{
			"thirds":      {[]int64{1, 2, 3, 4, 5, 6, 9}, 3, "[1,3]:3 [4,6]:3 [7,9]:1 "},
			"one":         {[]int64{1, 2, 9}, 1, "[1,9]:3 "},
			"equal":       {[]int64{5, 5, 5}, 40, "[5,5]:3 "},
			"few scores":  {[]int64{1, 3}, 40, "[1,1]:1 [2,2]:0 [3,3]:1 "},
			"narrow last": {[]int64{0, 10}, 3, "[0,3]:1 [4,7]:0 [8,10]:1 "},
			"all": {[]int64{math.MinInt64, -1, 0, math.MaxInt64}, 2, fmt.Sprintf("[%d,-1]:2 [0,%d]:2 ",
				int64(math.MinInt64), int64(math.MaxInt64))},
			"outliers": {
				[]int64{-9e18, 100, 101, 104, 107, 109, 110, 9e18},
				7,
				"[-9000000000000000000,92]:1 [93,97]:0 [98,102]:2 [103,107]:2 [108,112]:2 [113,117]:0 [118,9000000000000000000]:1 ",
			},
			"outlier of many": {
				append(slices.Repeat([]int64{1, 2, 3, 4, 5}, 70), 5000), 40,
				"[1,1]:70 [2,2]:70 [3,3]:70 [4,4]:70 [5,5]:70 [6,6]:0 [7,7]:0 [8,8]:0 [9,9]:0 [10,5000]:1 ",
			},
			"far, but not few": {[]int64{1, 2, 3, 1001, 1002, 1003}, 4, "[1,251]:3 [252,502]:0 [503,753]:0 [754,1003]:3 "},
			"all in one":       {[]int64{math.MinInt64, math.MaxInt64}, 1, fmt.Sprintf("[%d,%d]:2 ", int64(math.MinInt64), int64(math.MaxInt64))},
		} {
			t.Run(string(order)+" "+name, func(t *testing.T) {
				b := newBoard(t, s, leaderboard.Rules{Order: order})
				var subs []leaderboard.Submission
				for i, v := range c.scores {
					subs = append(subs, score(fmt.Sprint(i), v))
				}
				b.submit(subs...)
				d, err := s.Rankings.Distribution(t.Context(), b.ref, leaderboard.DistributionQuery{MinSeq: b.last, Buckets: c.buckets})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, bucket := range d.Buckets {
					got += fmt.Sprintf("[%d,%d]:%d ", bucket.From, bucket.To, bucket.Count)
				}
				if got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
				b.checkState(d.State)
			})
		}
	}
}

func testEmpty(t *testing.T, s Subject) {
	b := newBoard(t, s, leaderboard.Rules{})
	for _, mode := range Modes() {
		if got := b.page(leaderboard.PageQuery{Query: b.query(mode), Limit: 10}); len(got) != 0 {
			t.Errorf("page of an empty period: %q", got)
		}
		out, err := s.Rankings.Members(t.Context(), b.ref, leaderboard.MembersQuery{Query: b.query(mode), Members: []string{"a"}})
		if err != nil || len(out.Entries) != 0 || !reflect.DeepEqual(out.NotRanked, []string{"a"}) {
			t.Errorf("members of an empty period: %+v, %v", out, err)
		}
	}
	sr, err := s.Rankings.ScoreRank(t.Context(), b.ref, leaderboard.ScoreQuery{Score: 5})
	if err != nil || sr.Strict != 1 || sr.Tied != 1 {
		t.Errorf("rank of a score in an empty period: %+v, %v", sr, err)
	}
	d, err := s.Rankings.Distribution(t.Context(), b.ref, leaderboard.DistributionQuery{Buckets: 5})
	if err != nil || len(d.Buckets) != 0 {
		t.Errorf("distribution of an empty period: %+v, %v", d, err)
	}
}

// withoutRow turns a period's reference into the reference of a period without a row.
func withoutRow(ref leaderboard.PeriodRef, asOf leaderboard.Micros) leaderboard.PeriodRef {
	ref.ID, ref.Incarnation, ref.LastSeq, ref.Closed, ref.AsOf = 0, 0, 0, true, asOf
	return ref
}

// testWithoutRow: a period without a row is an empty one, at seq 0 as of its end.
func testWithoutRow(t *testing.T, s Subject) {
	b := newBoard(t, s, leaderboard.Rules{})
	ref := withoutRow(b.ref, 7)
	check := func(st leaderboard.State, err error) {
		t.Helper()
		if err != nil || st.Revision != (leaderboard.Revision{AsOf: 7}) || st.Total != 0 || st.Stale {
			t.Errorf("state %+v, %v", st, err)
		}
	}
	for _, mode := range Modes() {
		q := leaderboard.Query{Mode: mode}
		page, err := s.Rankings.Page(t.Context(), ref, leaderboard.PageQuery{Query: q, Limit: 10})
		if check(page.State, err); len(page.Entries) != 0 || page.Next != "" {
			t.Errorf("page: %+v", page)
		}
		out, err := s.Rankings.Members(t.Context(), ref, leaderboard.MembersQuery{Query: q, Members: []string{"a"}})
		if check(out.State, err); len(out.Entries) != 0 || !reflect.DeepEqual(out.NotRanked, []string{"a"}) {
			t.Errorf("members: %+v", out)
		}
		if _, err := s.Rankings.Page(t.Context(), ref, leaderboard.PageQuery{Query: q, Around: "a", Limit: 10}); !errors.Is(err, leaderboard.ErrNotRanked) {
			t.Errorf("around: %v", err)
		}
		q.MinSeq = 1
		if _, err := s.Rankings.Page(t.Context(), ref, leaderboard.PageQuery{Query: q, Limit: 10}); !errors.Is(err, leaderboard.ErrSeqAhead) {
			t.Errorf("page at a later state: %v", err)
		}
	}
	sr, err := s.Rankings.ScoreRank(t.Context(), ref, leaderboard.ScoreQuery{Score: 5})
	if check(sr.State, err); sr.Strict != 1 || sr.Tied != 1 {
		t.Errorf("rank of a score: %+v", sr)
	}
	d, err := s.Rankings.Distribution(t.Context(), ref, leaderboard.DistributionQuery{Buckets: 5})
	if check(d.State, err); len(d.Buckets) != 0 {
		t.Errorf("distribution: %+v", d)
	}
}

// testMemberBytes: member ids are bytes: neither case nor trailing spaces nor any collation make two of them one.
func testMemberBytes(t *testing.T, s Subject) {
	b := newBoard(t, s, leaderboard.Rules{})
	members := []string{
		"a", "A", "a ", " a", "é", "e\u0301", "e", "ß", "ss", "'", `"`, `\`, "%", "_", "?", "a;b", "--",
		"日本", "👩‍👩‍👧", "ａ", strings.Repeat("x", 64), strings.Repeat("x", 63), "ſ", "s", "ı", "i", "İ",
	}
	var subs []leaderboard.Submission
	for i, m := range members {
		subs = append(subs, score(m, int64(-i)))
	}
	for _, r := range b.submit(subs...) {
		if r.Status != leaderboard.StatusApplied || r.Previous != nil {
			t.Errorf("%q: %+v", r.Member, r)
		}
	}
	page, err := s.Rankings.Page(t.Context(), b.ref, leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), Limit: 100})
	if err != nil || len(page.Entries) != len(members) {
		t.Fatalf("%d entries, %v", len(page.Entries), err)
	}
	for i, m := range members {
		if page.Entries[i].Member != m {
			t.Errorf("place %d: %q, want %q", i+1, page.Entries[i].Member, m)
		}
		out, err := s.Rankings.Members(t.Context(), b.ref, leaderboard.MembersQuery{Query: b.query(leaderboard.ModeStrict), Members: []string{m}})
		if err != nil || len(out.Entries) != 1 || out.Entries[0].Strict != int64(i+1) {
			t.Errorf("%q: %+v, %v", m, out, err)
		}
	}
	// Equal score and time: the bytes of the member decide.
	ties := newBoardNamed(t, s, boardName(t)[:20]+"-ties", leaderboard.Rules{})
	subs = subs[:0]
	for _, m := range members {
		subs = append(subs, at(m, 1, 1))
	}
	ties.submit(subs...)
	slices.Sort(members)
	page, err = s.Rankings.Page(t.Context(), ties.ref, leaderboard.PageQuery{Query: ties.query(leaderboard.ModeStrict), Limit: 100})
	if err != nil || len(page.Entries) != len(members) {
		t.Fatalf("%d entries, %v", len(page.Entries), err)
	}
	for i, m := range members {
		if page.Entries[i].Member != m {
			t.Errorf("tied place %d: %q, want %q", i+1, page.Entries[i].Member, m)
		}
	}
}

// testExtremes: no score is rounded, and none overflows where it is turned round.
func testExtremes(t *testing.T, s Subject) {
	scores := []int64{
		math.MaxInt64, math.MaxInt64 - 1, 1<<53 + 1, 1 << 53, 1<<53 - 1, 1, 0, -1, -(1<<53 - 1), -(1 << 53), -(1<<53 + 1),
		math.MinInt64 + 1, math.MinInt64,
	}
	for _, order := range []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc} {
		for _, tiebreak := range []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc} {
			t.Run(string(order)+" "+string(tiebreak), func(t *testing.T) {
				b := newBoard(t, s, leaderboard.Rules{Order: order, Tiebreak: leaderboard.Tiebreak{Order: tiebreak}})
				var subs []leaderboard.Submission
				for _, v := range scores {
					for _, tie := range scores {
						m := fmt.Sprintf("%d/%d", v, tie)
						subs = append(subs, leaderboard.Submission{Member: m, Score: v, Tiebreak: &tie})
					}
				}
				slices.SortFunc(subs, func(x, y leaderboard.Submission) int {
					return b.ref.Rules.Compare(leaderboard.Entry{Score: x.Score, Tiebreak: *x.Tiebreak}, leaderboard.Entry{Score: y.Score, Tiebreak: *y.Tiebreak})
				})
				b.submit(subs...)
				for _, mode := range Modes() { // no two are tied
					var want []string
					for i, sub := range subs {
						n := int64(i) + 1
						want = append(want, fmt.Sprintf("%s %s %d", rankText(mode, leaderboard.Ranks{Strict: n, Tied: n, Dense: n}), sub.Member, sub.Score))
					}
					if got := b.page(leaderboard.PageQuery{Query: b.query(mode), Limit: 1000}); !slices.Equal(got, want) {
						t.Errorf("%s: %q\nwant %q", mode, got, want)
					}
				}
			})
		}
	}
}

func testSeqAhead(t *testing.T, s Subject) {
	b := ladder(t, s, 3, leaderboard.Rules{})
	ahead := leaderboard.Query{MinSeq: b.last + 1}
	for name, err := range b.all(ahead, "m01") {
		if !errors.Is(err, leaderboard.ErrSeqAhead) {
			t.Errorf("%s at a seq to come: %v", name, err)
		}
	}
	for name, err := range b.all(leaderboard.Query{MinSeq: b.last}, "m01") {
		if err != nil {
			t.Errorf("%s at the present seq: %v", name, err)
		}
	}
}

func testNoPeriod(t *testing.T, s Subject) {
	b := ladder(t, s, 3, leaderboard.Rules{})
	b.ref.ID += 1 << 40
	for name, err := range b.all(leaderboard.Query{}, "m01") {
		if !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("%s of no period: %v", name, err)
		}
	}
}

// all asks every kind of query and returns the errors.
func (b *board) all(q leaderboard.Query, member string) map[string]error {
	errs := map[string]error{}
	key := string(rank.Codec{}.Key(leaderboard.Entry{Member: "m", Score: 5}))
	for name, page := range map[string]leaderboard.PageQuery{
		"page": {Limit: 2}, "offset": {Limit: 2, Offset: 1}, "cursor": {Limit: 2, After: key}, "around": {Limit: 2, Around: member},
	} {
		for _, mode := range Modes() {
			page.Query = leaderboard.Query{Mode: mode, MinSeq: q.MinSeq}
			_, errs[name+" "+string(mode)] = b.Rankings.Page(b.t.Context(), b.ref, page)
		}
	}
	_, errs["members"] = b.Rankings.Members(b.t.Context(), b.ref, leaderboard.MembersQuery{Query: q, Members: []string{member}})
	_, errs["score rank"] = b.Rankings.ScoreRank(b.t.Context(), b.ref, leaderboard.ScoreQuery{MinSeq: q.MinSeq})
	_, errs["distribution"] = b.Rankings.Distribution(b.t.Context(), b.ref, leaderboard.DistributionQuery{MinSeq: q.MinSeq, Buckets: 3})
	return errs
}

// testAsOf: the state is never older than its entries, whose times in a large batch run ahead of the clock.
func testAsOf(t *testing.T, s Subject) {
	b := newBoard(t, s, leaderboard.Rules{})
	var batch []leaderboard.Submission
	for i := range 1000 {
		batch = append(batch, score(fmt.Sprint("m", i), int64(i)))
	}
	b.submit(batch...)
	b.page(leaderboard.PageQuery{Limit: 1000})
	b.submit(at("import", 5, 5))
	b.page(leaderboard.PageQuery{Limit: 1000})
}

// testFriends reads some of many members: the best of them, a run further down, and one in any case.
func testFriends(t *testing.T, s Subject) {
	b := ladder(t, s, 60, leaderboard.Rules{})
	many := []string{"m59", "x", "m03", "m02", "m20", "m00", "m21", "m05", "m04"}
	for i := range leaderboard.MaxMembers - len(many) {
		many = append(many, fmt.Sprint("friend", i))
	}
	for _, c := range []struct {
		mode          leaderboard.Mode
		limit, offset int
		self, want    string
	}{
		{leaderboard.ModeStrict, 3, 0, "m02", "1/1 m00; 3/2 m02; 4/3 m03; self 3/2 m02 3"},
		{leaderboard.ModeTied, 3, 0, "m59", "1/1 m00; 3/2 m02; 3/2 m03; self 59/8 m59 59"},
		{leaderboard.ModeTied, 3, 2, "m00", "3/2 m03; 5/4 m04; 5/4 m05; self 1/1 m00 1"},
		{leaderboard.ModeDense, 3, 3, "m21", "3/3 m04; 3/3 m05; 11/4 m20; self 11/4 m21 21"},
		{leaderboard.ModeStrict, 1000, 6, "x", "22/7 m21; 60/8 m59; "},
		{leaderboard.ModeStrict, 1, 0, "", "1/1 m00; "},
		{leaderboard.ModeTied, 10, 8, "m20", "self 21/6 m20 21"},
		{leaderboard.ModeTied, 10, 5000, "", ""},
	} {
		q := leaderboard.MembersQuery{Query: b.query(c.mode), Members: many, Limit: c.limit, Offset: c.offset, Self: c.self}
		out, err := s.Rankings.Members(t.Context(), b.ref, q)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range out.Entries {
			got += fmt.Sprintf("%s/%s %s; ", rankText(c.mode, e.Ranks), rankText(c.mode, e.Position), e.Member)
		}
		if out.Self != nil {
			got += fmt.Sprintf("self %s/%s %s %d", rankText(c.mode, out.Self.Ranks), rankText(c.mode, out.Self.Position), out.Self.Member, out.Self.Tied)
		}
		if got != c.want {
			t.Errorf("%s, %d from %d: %s\nwant %s", c.mode, c.limit, c.offset, got, c.want)
		}
		if out.Ranked != 8 || len(out.NotRanked) != leaderboard.MaxMembers-8 || out.NotRanked[0] != "x" {
			t.Errorf("%d ranked, %d not", out.Ranked, len(out.NotRanked))
		}
		b.checkState(out.State)
	}
}
