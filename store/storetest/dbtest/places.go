package dbtest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// CheckForgotten looks for texts, such as the id of a member who is erased, in every column of every table.
func CheckForgotten(t testing.TB, db *sql.DB, texts ...string) {
	t.Helper()
	agesOut := []string{"changes.payload", "idempotency_keys.receipt"} // after Config.ChangeTTL and KeyTTL
	for _, text := range texts {
		for _, place := range PlacesOf(t, db, text) {
			if !slices.Contains(agesOut, place) {
				t.Errorf("%s still names the member", place)
			}
		}
	}
}

// PlacesOf returns the columns of all tables, as table.column, in which a text is.
func PlacesOf(t testing.TB, db *sql.DB, text string) (places []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT c.table_name, c.column_name FROM information_schema.columns c"+
		" JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'"+
		" WHERE c.table_schema = DATABASE() AND (c.data_type LIKE '%char' OR c.data_type LIKE '%binary' OR c.data_type LIKE '%blob' OR c.data_type LIKE '%text')")
	if err != nil {
		t.Fatal(err)
	}
	var columns [][2]string
	for rows.Next() {
		var c [2]string
		if err := rows.Scan(&c[0], &c[1]); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, c)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(columns) < 20 {
		t.Fatalf("%d columns, %v", len(columns), err)
	}
	for _, c := range columns {
		var n int
		query := fmt.Sprintf("SELECT COUNT(*) FROM `%s` WHERE INSTR(`%s`, ?) > 0", c[0], c[1])
		if err := db.QueryRowContext(t.Context(), query, []byte(text)).Scan(&n); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if n > 0 {
			places = append(places, c[0]+"."+c[1])
		}
	}
	return places
}
