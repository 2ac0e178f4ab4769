package migrations

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Table is a table of the schema, and its first column.
type Table struct{ Name, Column string }

var (
	createTable = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\w+) \(\s+(\w+)`)
	dropTable   = regexp.MustCompile(`DROP TABLE IF EXISTS (\w+)`)
)

// Tables returns the tables that the migrations create and do not drop later, in order, without the tables that record
// migrations.
func Tables() []Table {
	var out []Table
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil // the pattern is good
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil // it was listed
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for _, match := range createTable.FindAllStringSubmatch(up, -1) {
			out = append(out, Table{match[1], match[2]})
		}
		for _, match := range dropTable.FindAllStringSubmatch(up, -1) {
			out = slices.DeleteFunc(out, func(t Table) bool { return t.Name == match[1] })
		}
	}
	return out
}
