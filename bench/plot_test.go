package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
)

func TestPlotRanks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plot.svg")
	points := []point{
		{10_000, 80 * time.Microsecond, 300 * time.Microsecond, time.Millisecond},
		{1_000_000, 80 * time.Microsecond, 300 * time.Microsecond, 100 * time.Millisecond},
		{10_000_000, 80 * time.Microsecond, 300 * time.Microsecond, 0}, // not measured
	}
	if err := plotRanks(file, points); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	texts := textsOf(t, string(svg))
	for _, want := range []string{"Rank of a random member, p50", "members", "rank by COUNT", "rank by the index", "primary-key read", "10k", "100k", "1M", "10M", "10 µs", "1 ms", "100 ms"} {
		if !strings.Contains(texts, "\n"+want+"\n") {
			t.Errorf("the plot does not say %q, but:%s", want, texts)
		}
	}
}

// textsOf returns the texts of an SVG, each between line breaks; it fails for a file that is not XML.
func textsOf(t *testing.T, svg string) string {
	t.Helper()
	var texts strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if chars, ok := token.(xml.CharData); ok {
			texts.WriteString("\n" + strings.TrimSpace(string(chars)) + "\n")
		}
	}
}

func TestDecades(t *testing.T) {
	var labels []string
	var count int
	for _, tick := range decades(labelCount).Ticks(10_000, 1_000_000) {
		count++
		if !tick.IsMinor() {
			labels = append(labels, tick.Label)
		}
	}
	if got := strings.Join(labels, " "); got != "10k 100k 1M" || count != 3+2*8 {
		t.Errorf("labels %s, %d ticks", got, count)
	}
	if lo, hi := decadesAround(0.0003, 0.02); lo != 0.0001 || hi != 0.1 {
		t.Errorf("decades around 0.0003 to 0.02 are %v to %v", lo, hi)
	}
	var _ plot.Ticker = decades(labelTime)
}

func TestLabels(t *testing.T) {
	for e, want := range map[int]string{-7: "100 ns", -6: "1 µs", -5: "10 µs", -3: "1 ms", -1: "100 ms", 0: "1 s", 2: "100 s", 4: "10000 s"} {
		if got := labelTime(e); got != want {
			t.Errorf("10^%d s is labelled %q, want %q", e, got, want)
		}
	}
	for e, want := range map[int]string{0: "1", 2: "100", 3: "1k", 6: "1M", 7: "10M"} {
		if got := labelCount(e); got != want {
			t.Errorf("10^%d is labelled %q, want %q", e, got, want)
		}
	}
}
