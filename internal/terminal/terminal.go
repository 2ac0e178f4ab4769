// Package terminal prints to people and programs: tables, JSON, progress bars, and texts that a terminal can take.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"
)

// Table prints rows in aligned columns.
type Table struct{ w *tabwriter.Writer }

// NewTable begins a table with the names of its columns.
func NewTable(w io.Writer, head ...string) *Table {
	t := &Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.Cells(head...)
	return t
}

// Row adds a row; every cell is made fit for a terminal.
func (t *Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = Printable(fmt.Sprint(c))
	}
	t.Cells(texts...)
}

// Cells adds a row of texts that are fit for a terminal.
func (t *Table) Cells(cells ...string) { fmt.Fprintln(t.w, strings.Join(cells, "\t")) }

// Flush prints what was added.
func (t *Table) Flush() error { return t.w.Flush() }

// Printable quotes a text that would confuse a terminal or a column: member ids may hold any bytes of UTF-8.
func Printable(s string) string {
	bad := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if s == "" || strings.ContainsFunc(s, bad) || strings.TrimSpace(s) != s {
		return strconv.Quote(s)
	}
	return s
}

// Say prints a line of progress, in place of a progress bar that is drawn on the same terminal until its next step.
func Say(w io.Writer, line string) {
	if IsTerminal(w) {
		line = "\r\x1b[K" + line
	}
	fmt.Fprintln(w, line)
}

// IsTerminal says whether somebody looks at what is written to w.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Count shows a number to people, as in 5,002.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// PassJSON prints the server's answer as it is, on a line of its own.
func PassJSON(w io.Writer, body []byte) error {
	_, err := fmt.Fprintf(w, "%s\n", strings.TrimSpace(string(body)))
	return err
}

// PrintJSON prints a value on one line.
func PrintJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
