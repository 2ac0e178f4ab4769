package migrations_test

import (
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/migrations"
)

// TestTables: Tables are all tables that Up makes except the tables of migrations, each with one of its columns.
func TestTables(t *testing.T) {
	t.Parallel()
	db := openDB(t, testenv.MySQL(t))
	if _, err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	var want int
	err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"+
		" AND table_name NOT IN ('goose_db_version', 'schema_baseline')").Scan(&want)
	if err != nil {
		t.Fatal(err)
	}
	tables := migrations.Tables()
	if len(tables) != want {
		t.Errorf("%d tables, the database has %d", len(tables), want)
	}
	for _, table := range tables {
		if _, err := db.ExecContext(t.Context(), "SELECT "+table.Column+" FROM "+table.Name+" LIMIT 1"); err != nil {
			t.Error(err)
		}
	}
}
