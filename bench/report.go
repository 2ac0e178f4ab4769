package main

import (
	"fmt"
	"io"
	"slices"
)

// row is one line of the table: a figure, what it was held against, and the ratio.
type row struct {
	what, ours, yardstick string
	ratio                 float64 // 0: there is none
	goal                  string
}

// report gathers rows and prints them as Markdown.
type report struct{ rows []row }

func (r *report) add(row row) { r.rows = append(r.rows, row) }

func (r *report) write(w io.Writer) {
	fmt.Fprintln(w, "| what | here | yardstick | ratio | goal |\n|---|---|---|---|---|")
	for _, row := range r.rows {
		ratio := ""
		if row.ratio > 0 {
			ratio = fmt.Sprintf("%.2f", row.ratio)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", row.what, row.ours, row.yardstick, ratio, row.goal)
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

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
