package httpapi

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// reference encodes v with encoding/json, without its escapes for HTML.
func reference(t testing.TB, v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// TestAppendEntries: a page is encoded as encoding/json would.
func TestAppendEntries(t *testing.T) {
	type entry struct {
		Rank        int64              `json:"rank"`
		Member      string             `json:"member"`
		Score       int64              `json:"score"`
		Tiebreak    int64              `json:"tiebreak"`
		CreatedTime leaderboard.Micros `json:"created_time"`
	}
	number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0, 1<<53 + 1}))
	rapid.Check(t, func(t *rapid.T) {
		want := struct {
			Entries []entry `json:"entries"`
		}{[]entry{}}
		var in []leaderboard.Ranked
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			e := entry{
				rapid.Int64Min(1).Draw(t, "rank"), rapid.String().Draw(t, "member"), number.Draw(t, "score"),
				number.Draw(t, "tiebreak"), leaderboard.Micros(rapid.Int64Range(0, int64(leaderboard.MaxTime)).Draw(t, "time")),
			}
			want.Entries = append(want.Entries, e)
			in = append(in, leaderboard.Ranked{Ranks: leaderboard.Ranks{Strict: e.Rank}, Entry: leaderboard.Entry{Member: e.Member, Score: e.Score, Tiebreak: e.Tiebreak, CreatedTime: e.CreatedTime}})
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(text, &a); err != nil {
			t.Fatal(err)
		}
		got := "{" + string(AppendEntries(nil, wire.EntryForm{Tie: &leaderboard.Tiebreak{}}, in, nil)) + "}"
		if err := json.Unmarshal([]byte(got), &b); err != nil {
			t.Fatalf("%s: %s", err, got)
		}
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(want); err != nil {
			t.Fatal(err)
		}
		if have := strings.TrimSpace(out.String()); have != got {
			t.Fatalf("got  %s\nwant %s", got, have)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{
		"", "u1", "\"\\/", "\x00\x01\x1f\x7f", "\b\f\n\r\t", "é日本😀", "\u2028\u2029", "\xff", "a\xc3", "\xed\xa0\x80", "\ufffd",
		"\xe2\x80", "<>&'", strings.Repeat("x", 64) + "\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := string(wire.AppendString([]byte("x"), s))
		if want := "x" + reference(t, s); got != want {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	})
}
