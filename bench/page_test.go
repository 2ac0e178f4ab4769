package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func testEnv() environment {
	return environment{Cores: 2, MemoryGB: 4, System: "linux/amd64", Go: "go1.26", MySQL: "9.7.4", Redis: "Redis 8.0.6"}
}

func testSection(name, figure string) section {
	return section{Name: name, Date: "2026-07-01", Members: 20_000, Env: testEnv(), Rows: []row{{What: "something", Here: figure}}}
}

func readPage(t *testing.T, dir string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(dir, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestPageKeepsOtherSections measures three sections in three runs, and one of them once more.
func TestPageKeepsOtherSections(t *testing.T) {
	dir := t.TempDir()
	reads := testSection("reads", "new/s")
	reads.Command, reads.Seconds, reads.Readings = "make bench ARGS='-only reads'", 61, []reading{{What: "top 10", Goal: "≥ 0.9"}}
	index := testSection("index", "0.3 ms")
	index.Points = []point{{10_000, 100_000, 300_000, time.Millisecond}, {20_000, 100_000, 300_000, 2 * time.Millisecond}}
	for _, sec := range []section{testSection("writes", "7/s"), index, testSection("reads", "old/s"), reads} {
		if err := writePage(dir, sec); err != nil {
			t.Fatal(err)
		}
	}
	page := readPage(t, dir)
	at := -1
	for _, want := range []string{
		"2 cores, 4 GB of memory, linux/amd64, go1.26, MySQL 9.7.4, Redis 8.0.6 (reads, writes, index)",
		"make bench ARGS=-huge", "(reads, changing, friends, categories, beyond, loading, freshness, rebuild, field, writes, overload, quotas, streams, windows, derived, boards, housekeeping, structure, index, giant)",
		"## Reading", "20,000 members.", "| top 10 | ", "| something | new/s |", "Measured on 2026-07-01 in 61 s with `make bench ARGS='-only reads'`.",
		"## Writing", "| something | 7/s |", "Measured on 2026-07-01.", "## Any rank at any depth", "](benchmarks-rank.svg)", "| something | 0.3 ms |",
	} {
		next := strings.Index(page, want)
		if next < at {
			t.Errorf("%q is not on the page, or not in this order:\n%s", want, page)
		}
		at = next
	}
	for _, gone := range []string{"old/s", "## Rebuilding"} {
		if strings.Contains(page, gone) {
			t.Errorf("%q is on the page, though it was not measured, or measured again", gone)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, plotFile)); err != nil {
		t.Error(err)
	}
}

func TestPageNamesEachEnvironment(t *testing.T) {
	other, same := testSection("writes", "1/s"), testSection("field", "")
	other.Env.Cores = 8
	same.Env.MemoryGB += 0.001 // which is not shown
	lines := environments([]section{testSection("reads", ""), other, same})
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "(reads, field)") || !strings.HasPrefix(lines[1], "8 cores") || !strings.HasSuffix(lines[1], "(writes)") {
		t.Errorf("got %q", lines)
	}
}

func TestPageRefusesBrokenResults(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, resultsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(dir, testSection("reads", "1/s")); err == nil {
		t.Error("results that cannot be read were overwritten")
	}
}

// TestEverySectionIsOnThePage: a step without a heading would be measured for nothing.
func TestEverySectionIsOnThePage(t *testing.T) {
	var measured []string
	for _, s := range steps() {
		measured = append(measured, s.name)
	}
	if !slices.Equal(measured, sectionNames()) {
		t.Errorf("the sections are %v, measured are %v", sectionNames(), measured)
	}
	known := map[string]bool{}
	for _, h := range headings() {
		known[h.name] = true
	}
	for _, name := range sectionNames() {
		if !known[name] {
			t.Errorf("section %s has no heading", name)
		}
	}
	if len(known) != len(sectionNames()) {
		t.Errorf("%d headings for %d sections", len(known), len(sectionNames()))
	}
}

func TestMemTotal(t *testing.T) {
	got, err := memTotal("MemFree: 1 kB\nMemTotal:        4096 kB\n")
	if err != nil || got != 4<<20 {
		t.Errorf("got %d, %v", got, err)
	}
	for _, bad := range []string{"", "MemTotal:", "MemTotal: many kB"} {
		if _, err := memTotal(bad); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}
