package main

import (
	"errors"
	"os"
	"path/filepath"
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
	durations := []time.Duration{time.Second, time.Minute, time.Millisecond}
	if got := median(durations); got != time.Second || durations[0] != time.Second {
		t.Errorf("median of durations is %v, they are then %v", got, durations)
	}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.99: 4, 1: 4} {
		if got := quantile([]float64{4, 3, 1, 2}, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
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

func TestTable(t *testing.T) {
	var rep report
	rep.add(row{what: "a page", here: "9/s", yardstick: "10/s", ratio: 0.9, goal: "≥ 0.8"})
	rep.add(row{what: "memory", here: "200 MiB", goal: "< 150 MB", met: "no"})
	const want = `| what | here | yardstick | ratio; goal |
|---|---|---|---|
| a page | 9/s | 10/s | 0.90; ≥ 0.8 |
| memory | 200 MiB |  | < 150 MB; missed |
`
	if got := rep.table(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestReplaceSection replaces two sections and leaves everything else unchanged. A section names its machine unless the page
// names it at the top.
func TestReplaceSection(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	const text = "# Page\n\nOn 2 cores, 24 GB.\n\n## Reads\n\n<!-- reads -->\nold\n<!-- end of reads -->\n\n## More\n\n<!-- writes -->\n<!-- end of writes -->\nend\n"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range [][3]string{{"reads", "new", "2 cores, 24 GB"}, {"writes", "written", "4 cores, 24 GB"}} {
		if err := replaceSection(page, s[0], s[1], s[2]); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.ReplaceAll(strings.ReplaceAll(text, "old", "new."), "<!-- writes -->\n", "<!-- writes -->\nwritten; 4 cores, 24 GB.\n")
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("the page is\n%s\n%v", got, err)
	}
	if err := replaceSection(page, "nothing", "", ""); err == nil {
		t.Error("a section that the page has no place for was written")
	}
}

// TestPlaces: the page has a place for every topic that it shows, in their order.
func TestPlaces(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(page)
	for _, name := range topicNames() {
		if name == beforeTopic {
			continue // two programs of one machine are compared, not shown
		}
		_, after, begins := strings.Cut(rest, "\n<!-- "+name+" -->\n")
		_, rest, _ = strings.Cut(after, "\n<!-- end of "+name+" -->\n")
		if !begins || rest == "" && name != giantTopic {
			t.Errorf("docs/benchmarks.md has no place for %s", name)
		}
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
