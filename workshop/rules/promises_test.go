package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promisesDoc has a row for each promise: the guarantee, the faults and the load, and the tests.
const promisesDoc = "docs/promises.md"

var (
	promiseRow = regexp.MustCompile(`^\| ([A-I]\d+) \|`)
	// promiseClaim matches the promises in the comment of a test that proves them: "(promise A1)", "(promises A1, B2)".
	promiseClaim = regexp.MustCompile(`\(promises? ([A-I]\d+(?:,\s*[A-I]\d+)*)\)`)
)

// promiseNumbers returns the numbers of all promises.
func promiseNumbers() []string {
	var all []string
	for _, group := range []struct {
		letter string
		n      int
	}{{"A", 9}, {"B", 10}, {"C", 7}, {"D", 6}, {"E", 5}, {"F", 5}, {"G", 11}, {"H", 2}, {"I", 3}} {
		for i := range group.n {
			all = append(all, fmt.Sprint(group.letter, i+1))
		}
	}
	return all
}

// TestPromises wants each promise in the document with tests that exist, in the packages that it names; and each test that
// claims a promise in the row of that promise (promise I3).
func TestPromises(t *testing.T) {
	t.Parallel()
	rows := promiseRows(t)
	_, inTree := testsInTree(t)
	proves := map[string][]string{} // package.Test, by promise
	for _, number := range promiseNumbers() {
		row, ok := rows[number]
		if !ok {
			t.Errorf("%s has no row for %s", promisesDoc, number)
			continue
		}
		delete(rows, number)
		for _, cell := range row {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("%s: %s has an empty cell", promisesDoc, number)
			}
		}
		for _, m := range testsOf.FindAllStringSubmatch(row[1], -1) {
			for _, name := range testName.FindAllString(m[2], -1) {
				if proves[number] = append(proves[number], m[1]+"."+name); !inTree[m[1]][name] {
					t.Errorf("%s: %s names %s of %s, which is not there", promisesDoc, number, name, m[1])
				}
			}
		}
		if len(proves[number]) == 0 {
			t.Errorf("%s: %s names no test", promisesDoc, number)
		}
	}
	for number := range rows {
		t.Errorf("%s has a row for %s, which is no promise", promisesDoc, number)
	}
	claims := promiseClaims(t)
	for test, numbers := range claims {
		for _, number := range numbers {
			if !slices.Contains(proves[number], test) {
				t.Errorf("%s claims to prove %s, and %s does not say so", test, number, promisesDoc)
			}
		}
	}
	if len(claims) < 5 {
		t.Errorf("found %d tests that claim promises, the search is broken", len(claims))
	}
}

// promiseRows returns the cells of each row of the document after the number: the guarantee, and the tests.
func promiseRows(t *testing.T) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for line := range strings.Lines(readDoc(t, promisesDoc)) {
		m := promiseRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			t.Fatalf("%s: %s has %d cells, want 3", promisesDoc, m[1], len(cells))
		}
		if rows[m[1]] != nil {
			t.Errorf("%s has two rows for %s", promisesDoc, m[1])
		}
		rows[m[1]] = cells[1:]
	}
	return rows
}

// promiseClaims returns the promises that tests claim to prove, by package.Test.
func promiseClaims(t *testing.T) map[string][]string {
	t.Helper()
	claims := map[string][]string{}
	for _, file := range allGoFiles(t) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if m := promiseClaim.FindStringSubmatch(strings.ReplaceAll(f.Doc.Text(), "\n", " ")); m != nil {
				claims[path.Dir(file)+"."+f.Name.Name] = strings.Fields(strings.ReplaceAll(m[1], ",", " "))
			}
		}
	}
	return claims
}
