package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// gameFields are a level, whether the member paid, and deaths, where fewer are better.
func gameFields() []leaderboard.TiebreakField {
	return []leaderboard.TiebreakField{
		{Name: "level", Bits: 20, Order: leaderboard.OrderDesc},
		{Name: "paid", Bits: 1, Order: leaderboard.OrderDesc},
		{Name: "deaths", Bits: 16, Order: leaderboard.OrderAsc},
	}
}

func withFields(member string, score, level, paid, deaths int64) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Score: score, Fields: map[string]int64{"level": level, "paid": paid, "deaths": deaths}}
}

// testFields: a value that is not whole or out of range is rejected alone, a packed tiebreak equals its fields, sum keeps
// its fields, and fields are part of the request that a key names.
func testFields(t *testing.T, s Database) {
	rules := leaderboard.Rules{Policy: leaderboard.PolicySum, Tiebreak: leaderboard.Tiebreak{Fields: gameFields()}}
	b := newBoard(t, Subject{Database: s, Rankings: s}, rules)
	tie := &b.ref.Rules.Tiebreak
	packed, broken := tie.Pack(map[string]int64{"level": 1, "paid": 1, "deaths": 65535})
	if broken != nil {
		t.Fatal(broken)
	}
	both, far := withFields("m", 1, 0, 0, 0), int64(1)<<37
	both.Tiebreak = &packed
	less := withFields("m", 1, 0, 0, 0)
	delete(less.Fields, "paid")
	got := short(b.submit(
		withFields("a", 5, 7, 1, 3), score("m", 1), both, less, withFields("m", 1, 1<<20, 0, 0), withFields("m", 1, 0, 0, -1),
		leaderboard.Submission{Member: "m", Tiebreak: &far}, leaderboard.Submission{Member: "b", Score: 5, Tiebreak: &packed},
		score("a", 1), withFields("b", 1, 2, 0, 0),
	))
	bad := strings.Repeat("m rejected -<- invalid-fields; ", 6)
	if want := "a applied 5<-; " + bad + "b applied 5<-; a applied 6<5; b applied 6<5"; got != want {
		t.Errorf("results are %s\nwant %s", got, want)
	}
	b.wantFields("a 6 map[deaths:3 level:7 paid:1]", "b 6 map[deaths:0 level:2 paid:0]")

	request := func(level int64) leaderboard.SubmitRequest {
		return leaderboard.SubmitRequest{Board: b.ref.Board, Key: "k", Entries: []leaderboard.Submission{withFields("c", 1, level, 0, 0)}}
	}
	for range 2 {
		r, err := s.Submit(t.Context(), request(5))
		if err != nil || short(r.Results) != "c applied 1<-" {
			t.Errorf("with a key: %s, %v", short(r.Results), err)
		}
		b.last = r.Seq
	}
	if _, err := s.Submit(t.Context(), request(6)); !errors.Is(err, leaderboard.ErrKeyReused) {
		t.Errorf("the key with other fields: %v", err)
	}
	rules.Tiebreak.Fields = gameFields()[:2]
	_, _, err := s.PutBoard(t.Context(), b.ref.Board, rules)
	wantConflict(t, err, "/tiebreak/fields", "tiebreak.fields stay as they are, because the board has entries")
}

// wantFields compares all entries, as "member score fields".
func (b *board) wantFields(want ...string) {
	b.t.Helper()
	p, err := b.Rankings.Page(b.t.Context(), b.ref, leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), Limit: leaderboard.MaxLimit})
	if err != nil {
		b.t.Fatal(err)
	}
	var got []string
	for _, e := range p.Entries {
		fields := map[string]int64{}
		for _, f := range b.ref.Rules.Tiebreak.Unpack(e.Tiebreak) {
			fields[f.Name] = f.Value
		}
		got = append(got, fmt.Sprint(e.Member, " ", e.Score, " ", fields))
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("entries are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// plainEntry is an entry for people who know nothing of packing.
type plainEntry struct {
	member  string
	score   int64
	fields  map[string]int64
	arrived int
}

// compare is negative when a is better than b: by score, then field by field, then by arrival.
func (a plainEntry) compare(b plainEntry, rules *leaderboard.Rules, arrival bool) int {
	directed := func(o leaderboard.Order, x, y int64) int {
		if o == leaderboard.OrderDesc {
			x, y = y, x
		}
		return cmp.Compare(x, y)
	}
	if c := directed(rules.Order, a.score, b.score); c != 0 {
		return c
	}
	for _, f := range rules.Tiebreak.Fields {
		if c := directed(f.Order, a.fields[f.Name], b.fields[f.Name]); c != 0 {
			return c
		}
	}
	if arrival {
		return cmp.Compare(a.arrived, b.arrived)
	}
	return 0
}

// testFieldRanks holds boards with random fields against entries that are compared field by field and kept whole: under
// best, no entry has the score of one submission and a field of another.
func testFieldRanks(t *testing.T, s Subject) {
	r := rand.New(rand.NewPCG(1, 2))
	orders := []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc}
	for i, policy := range []leaderboard.Policy{leaderboard.PolicyBest, leaderboard.PolicyBest, leaderboard.PolicyBest, leaderboard.PolicyLatest, leaderboard.PolicySum} {
		t.Run(fmt.Sprint(policy, " ", i), func(t *testing.T) {
			rules := leaderboard.Rules{Policy: policy, Order: orders[r.IntN(2)], Tiebreak: leaderboard.Tiebreak{Order: orders[r.IntN(2)]}}
			for left, j := leaderboard.MaxTiebreakBits, 0; left > 0 && j < 4; j++ {
				f := leaderboard.TiebreakField{Name: fmt.Sprint("f", j), Bits: 1 + r.IntN(left), Order: orders[r.IntN(2)]}
				rules.Tiebreak.Fields, left = append(rules.Tiebreak.Fields, f), left-f.Bits
			}
			b := newBoard(t, s, rules)
			kept := map[string]plainEntry{}
			var subs []leaderboard.Submission
			for n := range 120 {
				e := plainEntry{fmt.Sprint("m", r.IntN(20)), r.Int64N(3), map[string]int64{}, n}
				for _, f := range rules.Tiebreak.Fields {
					e.fields[f.Name] = []int64{0, 1, f.Max(), r.Int64() & f.Max()}[r.IntN(4)]
				}
				subs = append(subs, leaderboard.Submission{Member: e.member, Score: e.score, Fields: e.fields})
				cur, there := kept[e.member]
				if there && policy == leaderboard.PolicySum {
					e.score += cur.score
				}
				same := there && cur.compare(e, b.ref.Rules, false) == 0
				if !there || !same && (policy != leaderboard.PolicyBest || e.compare(cur, b.ref.Rules, false) < 0) {
					kept[e.member] = e
				}
			}
			for chunk := range slices.Chunk(subs, 7) {
				b.submit(chunk...)
			}
			sorted := slices.SortedFunc(maps.Values(kept), func(x, y plainEntry) int { return x.compare(y, b.ref.Rules, true) })
			var want []string
			for _, e := range sorted {
				want = append(want, fmt.Sprint(e.member, " ", e.score, " ", e.fields))
			}
			b.wantFields(want...)
		})
	}
}
