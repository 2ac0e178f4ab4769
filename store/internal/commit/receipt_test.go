package commit

import (
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"

	"leaderboard"
)

func TestReceiptRoundTrip(t *testing.T) {
	t.Parallel()
	n, created := int64(math.MinInt64), leaderboard.Micros(5)
	want := leaderboard.Receipt{
		Seq: math.MaxInt64, Seqs: map[leaderboard.Window]int64{"day": 3, "all_time": math.MaxInt64},
		Results: []leaderboard.Result{
			{Member: "a", Status: leaderboard.StatusApplied, Score: &n, Previous: &n, CreatedTime: &created},
			{Member: "\xff\x00<&>\u2028", Status: leaderboard.StatusRejected, Rule: &leaderboard.RuleError{
				Code: "c", Detail: "d", Fields: []leaderboard.FieldError{{Pointer: "/p", Detail: "e"}},
			}},
			{Member: "", Status: leaderboard.StatusUnchanged},
		},
	}
	b, err := encodeReceipt(storeReceipt(&want))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeReceipt(b); err != nil || !reflect.DeepEqual(got.receipt(), want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	several := leaderboard.MultiBoardReceipt{
		Results: []leaderboard.BoardResult{{Board: "b1", Result: want.Results[0]}, {Board: "b2", Result: want.Results[1]}},
		Boards:  map[string]leaderboard.BoardSeqs{"b1": {Seq: 3, Seqs: want.Seqs}, "b2": {Seq: 9}},
	}
	if b, err = encodeReceipt(storeMultiBoardReceipt(&several)); err != nil {
		t.Fatal(err)
	}
	if got, err := decodeReceipt(b); err != nil || !reflect.DeepEqual(got.multiBoardReceipt(), several) {
		t.Errorf("%+v, %v; want %+v", got, err, several)
	}
	for _, bad := range []string{"", "{", `{"v":2}`, "null"} {
		if r, err := decodeReceipt([]byte(bad)); err == nil {
			t.Errorf("receipt %q: %+v without an error", bad, r)
		}
	}
}

// TestRequestHash: different requests must not share a hash, whatever is in a member.
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
