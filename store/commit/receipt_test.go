package commit

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// TestReceiptRoundTrip: decoding with the request gives the encoded receipt, for all kinds of results.
func TestReceiptRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 5, 6, 7, math.MaxInt64})
		maybe := rapid.Ptr(number, true)
		result := rapid.Custom(func(t *rapid.T) leaderboard.Result {
			r := leaderboard.Result{
				Status: rapid.SampledFrom([]leaderboard.Status{leaderboard.StatusApplied, leaderboard.StatusUnchanged, leaderboard.StatusRejected}).Draw(t, "status"),
				Score:  maybe.Draw(t, "score"), Previous: maybe.Draw(t, "previous"), CreatedTime: (*leaderboard.Micros)(maybe.Draw(t, "created")),
			}
			if r.Status == leaderboard.StatusRejected {
				r.Rule = &leaderboard.RuleError{Code: "c", Detail: rapid.StringN(0, 5, 9).Draw(t, "detail"), Fields: []leaderboard.FieldError{{Pointer: "/p", Detail: "e"}}}
			}
			return r
		})
		results := rapid.SliceOf(result).Draw(t, "results")
		seqs := rapid.MapOf(rapid.SampledFrom(leaderboard.Windows()), number).Draw(t, "seqs")
		if len(seqs) == 0 {
			seqs = nil
		}
		subs, on := make([]leaderboard.Submission, len(results)), make([]string, len(results))
		for i := range results {
			subs[i], on[i] = leaderboard.Submission{Member: strings.Repeat("\xff", i%3), Score: number.Draw(t, "submitted")}, "b1"
			results[i].Member = subs[i].Member
		}
		one := leaderboard.BoardSeqs{Seq: number.Draw(t, "seq"), Seqs: seqs}
		for _, want := range []*submission{
			{entries: subs, results: results, states: map[string]leaderboard.BoardSeqs{"": one}},
			{entries: subs, on: on, results: results, states: map[string]leaderboard.BoardSeqs{"b1": {Seq: 3, Seqs: seqs}, "b2": {Seq: 9}}},
		} {
			b, got := want.stored(), &submission{entries: subs, on: want.on}
			if err := got.decode(b); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v, %v; want %+v", got, err, want)
			}
			for cut := range b {
				if err := got.decode(b[:cut]); err == nil && len(subs) > 0 {
					t.Fatalf("the first %d of %d bytes are a receipt", cut, len(b))
				}
			}
		}
	})
	for _, bad := range []string{"", "{", "\x01", "\x02", "\x02\x02\x00\x01\x03", "\x02\x02\x00\x7f\x00", "\x02\x02\xff\xff\xff\xff\xff\x7f"} {
		s := &submission{entries: make([]leaderboard.Submission, 1)}
		if err := s.decode([]byte(bad)); err == nil {
			t.Errorf("receipt %q: %+v without an error", bad, s)
		}
	}
}

// TestReceiptSize: an entry that was applied as submitted takes next to nothing, and a previous score takes little.
func TestReceiptSize(t *testing.T) {
	t.Parallel()
	const n = 1000
	for name, c := range map[string]struct {
		policy leaderboard.Policy
		entry  func(i int) *leaderboard.Entry
		most   int // bytes
	}{
		"import":             {leaderboard.PolicyBest, func(int) *leaderboard.Entry { return nil }, 20},
		"better than before": {leaderboard.PolicyBest, func(i int) *leaderboard.Entry { return &leaderboard.Entry{Score: int64(i)} }, 2 * n},
		"worse than before": {leaderboard.PolicyBest, func(i int) *leaderboard.Entry {
			return &leaderboard.Entry{Score: 2_000_000, CreatedTime: leaderboard.Micros(i * 1e9)}
		}, 12 * n},
		"added to what there": {leaderboard.PolicySum, func(i int) *leaderboard.Entry { return &leaderboard.Entry{Score: int64(i)} }, 2 * n},
	} {
		p := freshPeriod(c.policy, 1_700_000_000_000_000)
		var subs []leaderboard.Submission
		for i := range n {
			subs = append(subs, leaderboard.Submission{Member: fmt.Sprintf("member-%07d", i), Score: int64(1_000_000 + 7919*i%100_000)})
			if p.entries[subs[i].Member] = c.entry(i); p.entries[subs[i].Member] != nil {
				p.entries[subs[i].Member].Member = subs[i].Member
			}
		}
		s := newSubmission(&leaderboard.SubmitRequest{Board: "b", Key: "k", Entries: subs})
		l := oneBoard(p)
		if err := s.apply(l); err != nil {
			t.Fatal(err)
		}
		b := s.stored()
		t.Logf("%s: %d bytes for %d entries", name, len(b), n)
		if len(b) > c.most {
			t.Errorf("%s: %d bytes, want %d at most", name, len(b), c.most)
		}
		want := s.receipt()
		want.Replayed = true
		if err := s.replay(l, b); err != nil || !reflect.DeepEqual(s.receipt(), want) {
			t.Errorf("%s: replayed as another one, %v", name, err)
		}
	}
}

// TestRequestHash: different requests must not share a hash, with any bytes in a member.
func TestRequestHash(t *testing.T) {
	t.Parallel()
	zero, created := int64(0), leaderboard.Micros(0)
	seen := map[[32]byte]string{}
	for name, entries := range map[string][]leaderboard.Submission{
		"none":     {},
		"a":        {{Member: "a"}},
		"a 1":      {{Member: "a", Score: 1}},
		"tiebreak": {{Member: "a", Tiebreak: &zero}},
		"created":  {{Member: "a", CreatedTime: &created}},
		"both":     {{Member: "a", Tiebreak: &zero, CreatedTime: &created}},
		"two":      {{Member: "a"}, {Member: "b"}},
		"turned":   {{Member: "b"}, {Member: "a"}},
		"long":     {{Member: "a" + strings.Repeat("\x00", 17) + "\x01b"}},
		"zeros":    {{Member: "a\x00"}},
		"no field": {{Member: "a", Fields: map[string]int64{}}},
		"field":    {{Member: "a", Fields: map[string]int64{"l": 0}}},
		"value":    {{Member: "a", Fields: map[string]int64{"l": 1}}},
		"fields":   {{Member: "a", Fields: map[string]int64{"l": 0, "m": 0}}},
		"second":   {{Member: "a"}, {Member: "b", Fields: map[string]int64{"l": 0}}},
		"first":    {{Member: "a", Fields: map[string]int64{"l": 0}}, {Member: "b"}},
		"play":     {{Member: "a", Play: &leaderboard.PlayID{1}}},
		"plays":    {{Member: "a", Play: &leaderboard.PlayID{2}}},
		"metadata": {{Member: "a", Metadata: `{"a":1}`}},
		"other":    {{Member: "a", Metadata: `{"a":2}`}},
		"no num":   {{Member: "a", BadNumber: "1.5"}},
		"nor this": {{Member: "a", BadNumber: "2.5"}},
		"nothing":  {{}},
		"nothings": {{}, {}},
	} {
		h := requestHash(entries)
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have one hash", name, other)
		}
		seen[h] = name
		if again := requestHash(entries); again != h {
			t.Errorf("%q has two hashes", name)
		}
	}
}

// TestRequestHashGolden: keys outlive the program, so a request of before there were fields has the hash of then.
func TestRequestHashGolden(t *testing.T) {
	t.Parallel()
	tie, created := int64(-3), leaderboard.Micros(9)
	got := requestHash([]leaderboard.Submission{{Member: "a", Score: 5}, {Member: "bé", Score: -1, Tiebreak: &tie, CreatedTime: &created}})
	const want = "47e3029127ea3e4ff1122e2816c81442036bf30af69792f5ceaa27f06f180a26"
	if hex.EncodeToString(got[:]) != want {
		t.Errorf("hash is %x, want %s", got, want)
	}
}
