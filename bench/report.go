package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// row is one line of a table: a figure, what it was held against, and the ratio.
type row struct {
	What      string  `json:"what"`
	Here      string  `json:"here"`
	Yardstick string  `json:"yardstick,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // 0: there is none
	Goal      string  `json:"goal,omitempty"`  // such as "≥ 0.8": of the ratio, if there is one
	Met       string  `json:"met,omitempty"`   // yes, no, or "" where there is no goal
}

// point is one place on the curves of the plot: a number of members, and the medians of times.
type point struct {
	Members int           `json:"members"`
	Read    time.Duration `json:"read_ns"`  // primary-key read of a random member
	Index   time.Duration `json:"index_ns"` // rank of a random member by the index
	Count   time.Duration `json:"count_ns"` // the same by COUNT over the ordered index
}

// report gathers the rows of a section.
type report struct {
	rows   []row
	points []point
}

// add takes a row; whether a ratio meets its goal is found out here, other goals say so themselves.
func (r *report) add(row row) {
	if row.Ratio > 0 && row.Met == "" {
		row.Met = ratioMet(row.Goal, row.Ratio)
	}
	r.rows = append(r.rows, row)
}

// ratioMet holds a ratio against a goal such as "≥ 0.8", "≤ 4" or "< 10"; "" if there is no such goal.
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
	case "<":
		return yesNo(ratio < limit)
	case ">":
		return yesNo(ratio > limit)
	}
	return ""
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// writeRows prints a Markdown table.
func writeRows(w io.Writer, rows []row) {
	fmt.Fprintln(w, "| what | here | yardstick | ratio | goal | met |\n|---|---|---|---|---|---|")
	for _, row := range rows {
		ratio := ""
		if row.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", row.Ratio)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", row.What, row.Here, row.Yardstick, ratio, row.Goal, row.Met)
	}
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

// median returns the middle one of the values, the greater one of two; 0 of none. values gets sorted.
func median[T int64 | float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
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

// ms returns a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
