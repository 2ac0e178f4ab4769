package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/store"
)

// TestMigrationsAtOnce starts processes that all migrate the same empty database, and kills some of them in the middle.
// The others succeed, every migration is applied once, and a further process has nothing to do (promise F2).
func TestMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{dsn: dsn(t)}
			db, err := store.Connect(w.dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			const all, killed = 10, 3
			var started []*process
			for i := range all {
				started = append(started, start(t, fmt.Sprintf("migration %d", i), w.environment(), "migrate", "up"))
			}
			for i := range killed { // one of them may be doing the migration
				eventually(t, "tables appear", func() error {
					var n int
					err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&n)
					if err == nil && n < 3*i+1 {
						err = errors.New("there are too few")
					}
					return err
				})
				started[i].kill9(t)
			}
			for _, p := range started[killed:] {
				if status := p.awaitExit(t); status.ExitStatus() != 0 {
					t.Errorf("%s ended with %d", p.name, status.ExitStatus())
				}
			}
			if status := start(t, "status", w.environment(), "migrate", "status").awaitExit(t); status.ExitStatus() != 0 {
				t.Errorf("migrate status ended with %d", status.ExitStatus())
			}
			var twice sql.NullInt64
			const applied = "SELECT version_id FROM goose_db_version WHERE is_applied GROUP BY version_id HAVING COUNT(*) > 1"
			if err := db.QueryRowContext(t.Context(), applied).Scan(&twice); !errors.Is(err, sql.ErrNoRows) {
				t.Errorf("version %d is there more than once, %v", twice.Int64, err)
			}
		})
	}
}
