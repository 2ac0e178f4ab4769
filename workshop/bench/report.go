package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// report gathers the rows of a table.
type report struct{ rows []row }

// row is a figure, its yardstick, and the ratio of both.
type row struct {
	what, here, yardstick string
	ratio                 float64 // 0: not compared
	goal                  string  // such as "≥ 0.8": for the ratio, if any
	met                   string  // yes, no, or "": the verdict of the ratio; the table marks a goal that is missed
	also                  string  // a second ratio and its goal
}

// verdict returns the ratio, the goal, and whether it is missed.
func (r *row) verdict() string {
	var parts []string
	if r.ratio > 0 {
		parts = append(parts, fmt.Sprintf("%.2f", r.ratio))
	}
	if r.goal != "" {
		parts = append(parts, r.goal)
	}
	if r.met == "no" {
		parts = append(parts, "missed")
	}
	if r.also != "" {
		parts = append(parts, r.also)
	}
	return strings.Join(parts, "; ")
}

// add adds a row. It decides whether a ratio meets its goal; other goals come with their results.
func (r *report) add(row row) {
	if row.ratio > 0 && row.met == "" {
		row.met = ratioMet(row.goal, row.ratio)
	}
	r.rows = append(r.rows, row)
}

// table returns the rows in Markdown.
func (r *report) table() string {
	var out strings.Builder
	out.WriteString("| what | here | yardstick | ratio; goal |\n|---|---|---|---|\n")
	for _, row := range r.rows {
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", row.what, row.here, row.yardstick, row.verdict())
	}
	return out.String()
}

// replaceSection puts a section in the place that a page has for it, between two comments:
//
//	<!-- reads -->
//	<!-- end of reads -->
//
// The section ends with the machine that it was measured on, unless the page names that machine above its sections.
func replaceSection(page, name, section, machine string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, begins := strings.Cut(string(text), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for %s", page, name)
	}
	if top, _, _ := strings.Cut(string(text), "\n## "); !strings.Contains(top, machine) {
		section += "; " + machine
	}
	return os.WriteFile(page, []byte(before+begin+section+".\n"+end+after), 0o644)
}

// ratioMet holds a ratio against a goal such as "≥ 0.8" or "≤ 4"; "" if there is no such goal.
func ratioMet(goal string, ratio float64) string {
	_, size := utf8.DecodeRuneInString(goal)
	limit, err := strconv.ParseFloat(strings.TrimSpace(goal[size:]), 64)
	if err != nil {
		return ""
	}
	switch goal[:size] {
	case "≥":
		return yesNo(ratio >= limit)
	case "≤":
		return yesNo(ratio <= limit)
	}
	return ""
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// paired runs a and b in turn, rounds times, and returns the median of each and of their ratios: the machine may change
// its speed between rounds, the ratio of neighbours holds.
func paired(rounds int, a, b func() (float64, error)) (ours, yardstick, ratio float64, err error) {
	var as, bs, ratios []float64
	for range rounds {
		x, err := a()
		if err != nil {
			return 0, 0, 0, err
		}
		y, err := b()
		if err != nil {
			return 0, 0, 0, err
		}
		as, bs, ratios = append(as, x), append(bs, y), append(ratios, x/y)
	}
	return median(as), median(bs), median(ratios), nil
}

// median returns the median of the values, the greater of two middle ones; 0 without values.
func median[T int64 | float64 | time.Duration](values []T) T { return quantile(values, 0.5) }

// quantile returns the value below which a part q of the values is; 0 without values.
func quantile[T int64 | float64 | time.Duration](values []T, q float64) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// thousands writes 1234567 as 1,234,567.
func thousands[T int | int64 | float64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func inMS(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms >= 1000 {
		return thousands(ms) + " ms"
	}
	return fmt.Sprintf("%.3g ms", ms)
}

func inMicros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}
