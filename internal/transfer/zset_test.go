package transfer

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// TestZsetInOrder: a member that was read twice is written once, with the score read last, and ties are in the order of Redis.
func TestZsetInOrder(t *testing.T) {
	for order, want := range map[leaderboard.Order][]ZsetMember{
		leaderboard.OrderDesc: {{"b", 9}, {"d", 5}, {"a", 5}, {"c", -1}},
		leaderboard.OrderAsc:  {{"c", -1}, {"a", 5}, {"d", 5}, {"b", 9}},
	} {
		z := ZsetRead{Source: ZsetSource{Order: order}}
		if got := z.inOrder([]ZsetMember{{"a", 5}, {"b", 2}, {"d", 5}, {"c", -1}, {"b", 7}, {"b", 9}}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", order, got, want)
		}
	}
}

// TestZsetFile: the import reads every member unchanged from the file of a sorted set, whatever its bytes are.
func TestZsetFile(t *testing.T) {
	members := []string{"\ufeffada", "plain", "\ufeff", "a,b", `"a"`, `a"b`, " a ", "=1", "'=1", "高橋", "a;b", "\u00a0", "#", "-", "\u200b"}
	z, want := ZsetRead{File: filepath.Join(t.TempDir(), "zset.csv"), Source: ZsetSource{Multiply: 1}}, ""
	var all []ZsetMember
	for i, m := range members {
		all = append(all, ZsetMember{m, float64(i)})
		want += lines(i+2, 1, fmt.Sprintf("%q=%d", m, i))
	}
	if err := z.write(all); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(z.File)
	if err != nil {
		t.Fatal(err)
	}
	if got := readImport(strings.NewReader(string(content)), client.FormatCSV); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestZsetScore: every double is written as the exact whole number that it stands for, or in a form that the import refuses.
func TestZsetScore(t *testing.T) {
	for _, c := range []struct {
		score    float64
		multiply int64
		want     string
	}{
		{0, 1, "0"},
		{math.Copysign(0, -1), 1, "0"},
		{-7, 1, "-7"},
		{1 << 53, 1, "9007199254740992"},
		{1 << 60, 1, "1152921504606846976"}, // its shortest decimal has other digits
		{-math.MaxInt64, 1, "-9223372036854775808"},
		{math.MaxInt64, 1, "9223372036854775808"}, // one too many, which the import says
		{1e300, 1, ""},
		{7.5, 1, "7.5"},
		{7.5, 2, "15"},
		{0.1, 1000, "100"},
		{12.34, 100, "1234"},
		{-12.345, 1000, "-12345"},
		{12.345, 100, "12.345"},
		{0.30000000000000004, 10, "0.30000000000000004"},
		{5e-324, 1000, "5e-324"},
		{1 << 52, 1_000_000_000, "4503599627370496000000000"},
		{math.Inf(1), 1000, "+Inf"},
		{math.Inf(-1), 1, "-Inf"},
	} {
		got := zsetScore(c.score, c.multiply)
		if c.want == "" && len(got) == 301 {
			continue
		}
		if got != c.want {
			t.Errorf("%g times %d is %s, want %s", c.score, c.multiply, got, c.want)
		}
	}
}
