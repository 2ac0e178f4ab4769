package dbtest_test

import (
	"os"
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/store/storetest/dbtest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestProxy: a statement that is cut off before the server has it is not done; a statement that loses its answer is done.
func TestProxy(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		dbtest.Open(t, dsn, nil) // migrates
		db := dbtest.Connect(t, dsn)
		p, through := dbtest.NewProxy(t, dsn)
		cut := dbtest.Connect(t, through)
		for i, fault := range []dbtest.Fault{dbtest.FaultCutBefore, dbtest.FaultCutAfter, dbtest.FaultPass} {
			p.On("INSERT", fault, 1)
			_, err := cut.ExecContext(t.Context(), "INSERT INTO table_versions (name, version, changed_at) VALUES ('test', 1, NOW(6))")
			if passed := fault == dbtest.FaultPass; passed != (err == nil) {
				t.Errorf("fault %d: %v", fault, err)
			}
			if n := dbtest.Count(t, db, "table_versions WHERE name = 'test'"); n != min(i, 1) {
				t.Errorf("fault %d: %d rows", fault, n)
			}
			dbtest.MustExec(t, db, "DELETE FROM table_versions WHERE name = 'test'")
		}
	})
}
