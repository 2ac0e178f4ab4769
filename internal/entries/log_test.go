package entries

import (
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

func entryOf(member string, score, tiebreak int64, created leaderboard.Micros) *leaderboard.Entry {
	return &leaderboard.Entry{Member: member, Score: score, Tiebreak: tiebreak, CreatedTime: created}
}

// TestPayloadGolden fixes the bytes of format 1: rows of the log outlive the program that wrote them.
func TestPayloadGolden(t *testing.T) {
	t.Parallel()
	rules := (leaderboard.Rules{Order: leaderboard.OrderAsc}).WithDefaults()
	changes := []leaderboard.Change{
		{Seq: 7, Member: "a", New: entryOf("a", 5, 0, 1)},
		{Seq: 8, Member: "bé", Old: entryOf("bé", -1, math.MaxInt64, 2), New: entryOf("bé", math.MinInt64, -1, 3)},
		{Seq: 9, Member: "a", Old: entryOf("a", 5, 0, 1)},
	}
	const want = "0101" + // format 1, score ascending
		"0201" + "61" + "8000000000000005" + "7fffffffffffffff" + "8000000000000001" +
		"0303" + "62c3a9" + "7fffffffffffffff" + "0000000000000000" + "8000000000000002" +
		"0000000000000000" + "8000000000000000" + "8000000000000003" +
		"0101" + "61" + "8000000000000005" + "7fffffffffffffff" + "8000000000000001"
	got := EncodeChanges(nil, &rules, changes)
	if hex.EncodeToString(got) != want {
		t.Errorf("payload is\n%x\nwant\n%s", got, want)
	}
	back, err := DecodeChanges(got, 7, 9)
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
					*side = entryOf(c.Member, rapid.Int64().Draw(t, "score"), rapid.Int64().Draw(t, "tiebreak"),
						leaderboard.Micros(rapid.Int64Range(0, int64(leaderboard.MaxTime)).Draw(t, "created")))
				}
			}
			changes = append(changes, c)
		}
		b := EncodeChanges(nil, &rules, changes)
		last := first + int64(len(changes)) - 1
		back, err := DecodeChanges(b, first, last)
		if err != nil || !reflect.DeepEqual(back, changes) {
			t.Fatalf("%+v, %v; want %+v", back, err, changes)
		}
		if _, err := DecodeChanges(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")], first, last); !errors.Is(err, ErrPayload) {
			t.Fatalf("a payload cut short: %v", err)
		}
		if _, err := DecodeChanges(append(b, 0), first, last); !errors.Is(err, ErrPayload) {
			t.Fatalf("a payload with more than its changes: %v", err)
		}
		b[0]++
		if _, err := DecodeChanges(b, first, last); !errors.Is(err, ErrPayload) {
			t.Fatalf("a payload of a format to come: %v", err)
		}
	})
}

func FuzzPayload(f *testing.F) {
	rules := leaderboard.Rules{}.WithDefaults()
	f.Add(EncodeChanges(nil, &rules, []leaderboard.Change{{Seq: 1, Member: "m", New: entryOf("m", 1, 2, 3)}}), int64(1))
	f.Add([]byte{}, int64(0))
	f.Fuzz(func(t *testing.T, b []byte, n int64) {
		changes, err := DecodeChanges(b, 1, min(n, 100))
		if err == nil && int64(len(changes)) != max(0, min(n, 100)) {
			t.Errorf("%d changes of %d without an error", len(changes), n)
		}
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	got := AppendRow(&mysql.Text{}, 3, orientedCodec(scoreAsc), *entryOf("'\\\x00é", math.MaxInt64, math.MinInt64, leaderboard.MaxTime)).String()
	const want = "(3,x'275c00c3a9',-9223372036854775808,-9223372036854775808,'9999-12-31 23:59:59.999999')"
	if got != want {
		t.Errorf("row is %s\nwant   %s", got, want)
	}
}
