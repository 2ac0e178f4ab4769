package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// table prints rows in aligned columns.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, head ...string) *table {
	t := &table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.line(head)
	return t
}

// row adds a row; every cell is made fit for a terminal.
func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = printable(fmt.Sprint(c))
	}
	t.line(texts)
}

func (t *table) line(cells []string) { fmt.Fprintln(t.w, strings.Join(cells, "\t")) }

func (t *table) flush() error { return t.w.Flush() }

// printable quotes a text that would confuse a terminal or a column: member ids may hold any bytes of UTF-8.
func printable(s string) string {
	bad := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if s == "" || strings.ContainsFunc(s, bad) || strings.TrimSpace(s) != s {
		return strconv.Quote(s)
	}
	return s
}

// passJSON prints the server's answer as it is, on a line of its own.
func passJSON(w io.Writer, body []byte) error {
	_, err := fmt.Fprintf(w, "%s\n", strings.TrimSpace(string(body)))
	return err
}

// printJSON prints a value on one line.
func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
