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

// reading is what one kind of read came to, beside the bare handler. The ratios are medians of those of neighbours,
// the other figures of each side are medians too.
type reading struct {
	What      string  `json:"what"`
	Here      side    `json:"here"`
	Bare      side    `json:"bare"`
	Ratio     float64 `json:"ratio"`      // of answers a second
	CPURatio  float64 `json:"cpu_ratio"`  // of CPU time per answer
	TailRatio float64 `json:"tail_ratio"` // of p99/p50
	Pairs     int     `json:"pairs"`
	Goal      string  `json:"goal,omitempty"`
	Met       string  `json:"met,omitempty"`
}

// side is the service, or the bare handler.
type side struct {
	Rate    float64       `json:"per_second"`
	CPU     time.Duration `json:"cpu_ns"` // of its process, per answer
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`
	Answers int64         `json:"answers"`                      // of all rounds, like those below
	Stale   int64         `json:"stale"`                        // say that they are
	Local   int64         `json:"local"`                        // say that they are from the memory of the process
	Refused int64         `json:"refused"`                      // 429 and 503
	Failed  int64         `json:"failed"`                       // those and all other errors
	Submits float64       `json:"submits_per_second,omitempty"` // were acknowledged meanwhile

	firstFail string
}

// goals are what is wanted of a reading; 0: nothing in particular. That no answer is stale or an error always is.
type goals struct{ ratio, cpu, tail float64 }

func (g goals) String() string {
	var parts []string
	for _, p := range []struct {
		limit float64
		text  string
	}{{g.ratio, "≥ %.2g"}, {g.cpu, "CPU ≤ %.3g"}, {g.tail, "p99/p50 ≤ %.2g"}} {
		if p.limit > 0 {
			parts = append(parts, fmt.Sprintf(p.text, p.limit))
		}
	}
	return strings.Join(append(parts, "0 stale"), ", ")
}

// met holds a reading against the goals.
func (g goals) met(r *reading) bool {
	return r.Ratio >= g.ratio && (g.cpu == 0 || r.CPURatio <= g.cpu) && (g.tail == 0 || r.TailRatio <= g.tail) &&
		r.Here.Stale == 0 && r.Here.Failed == 0
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
	rows      []row
	readings  []reading
	points    []point
	boardless bool // the size of the board has nothing to do with it
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

const readingsHead = "| read | here | bare handler, same bytes | ratio | CPU per answer, here | bare | ratio | p50, p99 here | bare |" +
	" p99/p50 by the bare handler's | from memory | stale | refused, other errors | goal | met |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

// writeReadings prints a Markdown table.
func writeReadings(w io.Writer, readings []reading) {
	fmt.Fprint(w, readingsHead)
	for i := range readings {
		r := &readings[i]
		fmt.Fprintf(w, "| %s | %s/s | %s/s | %.2f | %s | %s | %.2f | %s, %s | %s, %s | %.2f | %.0f %% | %s of %s | %d, %d | %s | %s |\n",
			r.What, thousands(r.Here.Rate), thousands(r.Bare.Rate), r.Ratio, inMicros(r.Here.CPU), inMicros(r.Bare.CPU), r.CPURatio,
			inMS(r.Here.P50), inMS(r.Here.P99), inMS(r.Bare.P50), inMS(r.Bare.P99), r.TailRatio,
			100*float64(r.Here.Local)/float64(max(1, r.Here.Answers)), thousands(r.Here.Stale), thousands(r.Here.Answers),
			r.Here.Refused, r.Here.Failed-r.Here.Refused, r.Goal, r.Met)
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

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func inMS(d time.Duration) string {
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}

func inMicros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}
