package store

import (
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leaderboard"
	"leaderboard/store/internal/db"
)

func entry(member string, score, tiebreak int64, created leaderboard.Micros) *leaderboard.Entry {
	return &leaderboard.Entry{Member: member, Score: score, Tiebreak: tiebreak, CreatedTime: created}
}

// TestPayloadGolden fixes the bytes of format 1: rows of the log outlive the program that wrote them.
func TestPayloadGolden(t *testing.T) {
	t.Parallel()
	rules := (leaderboard.Rules{Order: leaderboard.OrderAsc}).WithDefaults()
	changes := []leaderboard.Change{
		{Seq: 7, Member: "a", New: entry("a", 5, 0, 1)},
		{Seq: 8, Member: "bé", Old: entry("bé", -1, math.MaxInt64, 2), New: entry("bé", math.MinInt64, -1, 3)},
		{Seq: 9, Member: "a", Old: entry("a", 5, 0, 1)},
	}
	const want = "0101" + // format 1, score ascending
		"0201" + "61" + "8000000000000005" + "7fffffffffffffff" + "8000000000000001" +
		"0303" + "62c3a9" + "7fffffffffffffff" + "0000000000000000" + "8000000000000002" +
		"0000000000000000" + "8000000000000000" + "8000000000000003" +
		"0101" + "61" + "8000000000000005" + "7fffffffffffffff" + "8000000000000001"
	got := encodeChanges(nil, &rules, changes)
	if hex.EncodeToString(got) != want {
		t.Errorf("payload is\n%x\nwant\n%s", got, want)
	}
	back, err := decodeChanges(got, 7, 9)
	if err != nil || !reflect.DeepEqual(back, changes) {
		t.Errorf("decoded %+v, %v", back, err)
	}
}

func TestPayloadRoundTrip(t *testing.T) {
	t.Parallel()
	orders := []leaderboard.Order{leaderboard.OrderAsc, leaderboard.OrderDesc}
	rapid.Check(t, func(t *rapid.T) {
		rules := leaderboard.Rules{Order: rapid.SampledFrom(orders).Draw(t, "order")}.WithDefaults()
		rules.Tiebreak.Order = rapid.SampledFrom(orders).Draw(t, "tiebreak order")
		first := rapid.Int64Range(1, 1<<40).Draw(t, "first")
		var changes []leaderboard.Change
		for i := range rapid.IntRange(1, 20).Draw(t, "changes") {
			c := leaderboard.Change{Seq: first + int64(i), Member: rapid.StringN(1, 16, 64).Draw(t, "member")}
			for _, side := range []**leaderboard.Entry{&c.Old, &c.New} {
				if rapid.Bool().Draw(t, "there") {
					*side = entry(c.Member, rapid.Int64().Draw(t, "score"), rapid.Int64().Draw(t, "tiebreak"),
						leaderboard.Micros(rapid.Int64Range(0, int64(leaderboard.MaxTime)).Draw(t, "created")))
				}
			}
			changes = append(changes, c)
		}
		b := encodeChanges(nil, &rules, changes)
		last := first + int64(len(changes)) - 1
		back, err := decodeChanges(b, first, last)
		if err != nil || !reflect.DeepEqual(back, changes) {
			t.Fatalf("%+v, %v; want %+v", back, err, changes)
		}
		if _, err := decodeChanges(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")], first, last); !errors.Is(err, errPayload) {
			t.Fatalf("a payload cut short: %v", err)
		}
		if _, err := decodeChanges(append(b, 0), first, last); !errors.Is(err, errPayload) {
			t.Fatalf("a payload with more than its changes: %v", err)
		}
		b[0]++
		if _, err := decodeChanges(b, first, last); !errors.Is(err, errPayload) {
			t.Fatalf("a payload of a format to come: %v", err)
		}
	})
}

func FuzzPayload(f *testing.F) {
	rules := leaderboard.Rules{}.WithDefaults()
	f.Add(encodeChanges(nil, &rules, []leaderboard.Change{{Seq: 1, Member: "m", New: entry("m", 1, 2, 3)}}), int64(1))
	f.Add([]byte{}, int64(0))
	f.Fuzz(func(t *testing.T, b []byte, n int64) {
		changes, err := decodeChanges(b, 1, min(n, 100))
		if err == nil && int64(len(changes)) != max(0, min(n, 100)) {
			t.Errorf("%d changes of %d without an error", len(changes), n)
		}
	})
}

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
	b, err := encodeAnswer(answer{receipt: want})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeAnswer(b); err != nil || !reflect.DeepEqual(got, answer{receipt: want}) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "{", `{"v":2}`, "null"} {
		if r, err := decodeAnswer([]byte(bad)); err == nil {
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

func TestText(t *testing.T) {
	t.Parallel()
	rules := leaderboard.Rules{Order: leaderboard.OrderAsc}.WithDefaults()
	p := &period{ref: leaderboard.PeriodRef{ID: 3, Rules: &rules}, codec: orientedCodec(scoreAsc)}
	got := appendEntry(&db.Text{}, p.ref.ID, p.codec, *entry("'\\\x00é", math.MaxInt64, math.MinInt64, leaderboard.MaxTime)).String()
	const want = "(3,x'275c00c3a9',-9223372036854775808,-9223372036854775808,'9999-12-31 23:59:59.999999')"
	if got != want {
		t.Errorf("row is %s\nwant   %s", got, want)
	}
}
