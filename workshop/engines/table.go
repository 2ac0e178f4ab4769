package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The lines of the document around the table.
const (
	beginMark = "<!-- table of engines: begin -->"
	endMark   = "<!-- table of engines: end -->"
)

const header = "| Engine | Version | Run | Tests | Failed | What differs | Remedy |\n|---|---|---|---|---|---|---|\n"

// row is a line of the table, a text a cell; the first is the engine's title.
type row []string

// rowOf returns the row of an engine. when has the day and the revision.
func rowOf(e engine, version, when string, results []result, once []string) row {
	var failed []string
	var skipped string
	ran, of := 0, 0
	for _, r := range results {
		ran, of = ran+r.Ran, of+r.Of
		for _, test := range r.Skipped {
			skipped += "; skipped " + r.Pkg + " " + test
		}
		for _, test := range r.Failed {
			failed = append(failed, r.Pkg+" "+test)
		}
	}
	for _, test := range once {
		failed = append(failed, test+", not when run again")
	}
	if len(failed) == 0 {
		failed = []string{"none"}
	}
	return row{e.title, version, when, fmt.Sprintf("%d of %d", ran, of) + skipped, strings.Join(failed, "; "), e.differs, e.remedy}
}

// absent is the row of an engine that could not be run, if there is no row of an earlier run.
func absent(e engine, why error) row {
	return row{e.title, "not run", "", "none: " + why.Error(), "", "", ""}
}

// String returns r as a line of Markdown.
func (r row) String() string {
	cells := make([]string, len(r))
	for i, cell := range r {
		cells[i] = strings.NewReplacer("|", "\\|", "\n", " ").Replace(cell)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// rowIn returns the document's row of that title, or nil.
func rowIn(doc, title string) row {
	_, rest, ok := strings.Cut(doc, "\n| "+title+" | ")
	if !ok {
		return nil
	}
	line, _, _ := strings.Cut(rest, "\n")
	return append(row{title}, strings.Split(strings.TrimSuffix(line, " |"), " | ")...)
}

// ran is the number of tests in a row, or 0.
func (r row) ran() int {
	first, _, _ := strings.Cut(r[3], " ")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}

// saysMore reports whether a row, which may be nil, is of the same version as another and of more tests.
func (r row) saysMore(other row) bool { return len(r) > 3 && r[1] == other[1] && r.ran() > other.ran() }

// replaceRow returns the document with r in its table, in place of the row of the same title. Rows are in the order of
// titles; rows of other engines are removed.
func replaceRow(doc string, r row, titles []string) (string, error) {
	before, rest, ok := strings.Cut(doc, beginMark+"\n")
	table, after, ok2 := strings.Cut(rest, endMark)
	if !ok || !ok2 {
		return "", fmt.Errorf("the document has no table between %q and %q", beginMark, endMark)
	}
	rows := map[string]string{r[0]: r.String()}
	for line := range strings.Lines(table) {
		title, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if _, ok := rows[title]; !ok && slices.Contains(titles, title) {
			rows[title] = line
		}
	}
	out := before + beginMark + "\n" + header
	for _, title := range titles {
		out += rows[title]
	}
	return out + endMark + after, nil
}

// writeRow puts r into the table of the document at path. kept reports that the row of the same title stays instead.
func writeRow(path string, r row, list []engine, stays func(old row) bool) (kept bool, err error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if old := rowIn(string(doc), r[0]); old != nil && stays(old) {
		return true, nil
	}
	var titles []string
	for _, e := range list {
		titles = append(titles, e.title)
	}
	text, err := replaceRow(string(doc), r, titles)
	if err != nil {
		return false, err
	}
	return false, os.WriteFile(path, []byte(text), 0o644)
}
