package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 3}} {
		if got := median(slices.Clone(c.in)); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.in, got, c.want)
		}
	}
	if got := median([]time.Duration{time.Second, time.Minute, time.Millisecond}); got != time.Second {
		t.Errorf("median of durations is %v", got)
	}
}

// TestPaired runs on a machine that becomes ten times slower: the ratio of neighbours does not notice.
func TestPaired(t *testing.T) {
	var order strings.Builder
	speed := []float64{100, 10, 10}
	round := 0
	a := func() (float64, error) { order.WriteByte('a'); return 2 * speed[round], nil }
	b := func() (float64, error) { order.WriteByte('b'); round++; return speed[round-1], nil }
	ours, yardstick, ratio, err := paired(3, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if ours != 20 || yardstick != 10 || ratio != 2 {
		t.Errorf("got %v, %v, ratio %v", ours, yardstick, ratio)
	}
	if order.String() != "ababab" {
		t.Errorf("ran in the order %s, not in turn", order.String())
	}
	broken := errors.New("broken")
	if _, _, _, err := paired(2, func() (float64, error) { return 1, nil }, func() (float64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("the error of the yardstick is lost: %v", err)
	}
}

func TestRatioMet(t *testing.T) {
	for _, c := range []struct {
		goal  string
		ratio float64
		want  string
	}{
		{"≥ 0.8", 0.8, "yes"},
		{"≥ 0.8", 0.79, "no"},
		{"≤ 4", 4, "yes"},
		{"≤ 4", 4.01, "no"},
		{"< 10", 9.9, "yes"},
		{"< 10", 10, "no"},
		{"> 2", 2.1, "yes"},
		{"> 2", 2, "no"},
		{"", 1, ""},
		{"back to where it was", 1, ""},
		{"≥", 1, ""},
		{"= 3", 3, ""},
	} {
		if got := ratioMet(c.goal, c.ratio); got != c.want {
			t.Errorf("ratio %v, goal %q: %q, want %q", c.ratio, c.goal, got, c.want)
		}
	}
}

func TestReportRows(t *testing.T) {
	var rep report
	rep.add(row{What: "a page", Here: "9/s", Yardstick: "10/s", Ratio: 0.9, Goal: "≥ 0.8"})
	rep.add(row{What: "memory", Here: "200 MiB", Goal: "< 150 MB", Met: "no"})
	var out strings.Builder
	writeRows(&out, rep.rows)
	want := `| what | here | yardstick | ratio | goal | met |
|---|---|---|---|---|---|
| a page | 9/s | 10/s | 0.90 | ≥ 0.8 | yes |
| memory | 200 MiB |  |  | < 150 MB | no |
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345: "12,345", 10_000_000: "10,000,000", -1234: "-1,234", -123: "-123"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
	if got := thousands(1999.9); got != "1,999" {
		t.Errorf("1999.9 is written %s", got)
	}
}
