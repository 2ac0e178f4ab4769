package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Table prints rows in columns that are aligned by their width on a terminal. On a terminal the rows fit its width: long texts
// are cut and end with …, numbers are not cut. Elsewhere nothing is cut.
type Table struct {
	w       io.Writer
	rows    [][]string
	ink     []Ink // of the rows
	details int   // the number of last columns that are details
}

// gap is the space between two columns.
const gap = "  "

// NewTable begins a table with the names of its columns.
func NewTable(w io.Writer, head ...string) *Table {
	t := &Table{w: w}
	t.add(InkBold, head)
	return t
}

// Details says that the last n columns are details, however long they are. On a terminal they are cut before the others,
// and are beyond its edge if the terminal has no room for them; elsewhere they are not aligned.
func (t *Table) Details(n int) { t.details = n }

// Row adds a row; every cell is made fit for a terminal, and a time is shown as Time does, or as a dash if it is nil.
func (t *Table) Row(cells ...any) { t.Inked(InkNone, cells...) }

// Inked adds a row in an ink, as Row does.
func (t *Table) Inked(ink Ink, cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case time.Time:
			texts[i] = t.Time(c)
		case *time.Time:
			texts[i] = "-"
			if c != nil {
				texts[i] = t.Time(*c)
			}
		default:
			texts[i] = Printable(fmt.Sprint(c))
		}
	}
	t.add(ink, texts)
}

// Time shows a moment in a cell.
func (t *Table) Time(at time.Time) string { return Time(t.w, at) }

// Second shows a moment to the second.
func (t *Table) Second(at time.Time) string { return timeIn(t.w, at, apiSecond) }

// Cells adds a row of texts that are fit for a terminal.
func (t *Table) Cells(cells ...string) { t.add(InkNone, cells) }

func (t *Table) add(ink Ink, cells []string) {
	t.rows, t.ink = append(t.rows, cells), append(t.ink, ink)
}

// Flush prints the rows.
func (t *Table) Flush() error {
	columns := Columns(t.w)
	widths := t.fit(columns)
	var out strings.Builder
	for i, row := range t.rows {
		var line strings.Builder
		for j, cell := range row {
			text := Cut(cell, widths[j])
			line.WriteString(text)
			if j < len(row)-1 {
				if columns > 0 || j < len(row)-t.details {
					line.WriteString(strings.Repeat(" ", widths[j]-Width(text)))
				}
				line.WriteString(gap)
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if columns > 0 {
			text = Cut(text, columns)
		}
		out.WriteString(Paint(t.w, t.ink[i], text) + "\n")
	}
	t.rows, t.ink = nil, nil
	_, err := io.WriteString(t.w, out.String())
	return err
}

// fit returns the widths of the columns: the widths of their cells, or less if the sum does not fit the terminal. The
// widest column is cut first.
func (t *Table) fit(columns int) []int {
	var widths, floors []int
	for _, row := range t.rows {
		for j, cell := range row {
			if j == len(widths) {
				widths, floors = append(widths, 0), append(floors, 0)
			}
			widths[j] = max(widths[j], Width(cell))
		}
	}
	if columns == 0 {
		return widths
	}
	total := -len(gap)
	for j := range widths {
		total += widths[j] + len(gap)
		floors[j] = t.floor(j, widths[j])
		if t.details > 0 {
			least := wholeText
			if j >= len(widths)-t.details {
				least = leastDetail
			}
			floors[j] = max(floors[j], min(widths[j], least))
		}
	}
	for ; total > columns; total-- {
		widest := -1
		for j := range widths {
			if widths[j] > floors[j] && (widest < 0 || widths[j] > widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			break // the lines are cut
		}
		widths[widest]--
	}
	return widths
}

// The least widths that columns are cut to.
const (
	leastText   = 6
	leastDetail = 16
	wholeText   = 24 // before details
	leastTime   = len("2026-11-20T13:00:00…") - len("…") + 1
)

// floor returns the least width of a column: numbers are not cut at all, times to seconds, and texts to a few letters.
func (t *Table) floor(column, width int) int {
	numbers, times := true, true
	for _, row := range t.rows[1:] {
		if column < len(row) && row[column] != "-" {
			numbers = numbers && strings.Trim(row[column], "0123456789.,+-") == ""
			times = times && isTime(row[column])
		}
	}
	switch {
	case numbers:
		return width
	case times:
		return min(width, leastTime)
	default:
		return min(width, leastText)
	}
}

// isTime reports whether a cell is a moment.
func isTime(cell string) bool {
	_, err := time.Parse(time.RFC3339, cell)
	return err == nil
}
