package store_test

import (
	"errors"
	"strings"
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestUnsupportedServer: a server of an engine that is not supported is refused by every pool, before anything is sent to
// it, with its version and the remedy; a supported one passes the same way.
func TestUnsupportedServer(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	for version, comment := range map[string]string{
		"8.0.11-TiDB-v8.5.3": "", "8.0.30-Vitess": "",
		"8.0.40": "Version: 24.0.4 (Git revision 8a4c branch release-24.0) built on Tue Mar  3 10:00:00 UTC 2026 by a@b using go1.26 linux/amd64", // Vitess, configured to hide itself
	} {
		s, err := store.Open(t.Context(), store.Config{DSN: testenv.WithVersion(t, dsn, version, comment)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnsupported) || !strings.Contains(err.Error(), version) ||
			!strings.Contains(err.Error(), "take a MySQL or a MariaDB") {
			t.Errorf("%s: ping: %v", version, err)
		}
		if _, err := migrations.Up(t.Context(), s.DB()); !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s: migrate: %v", version, err)
		}
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); !errors.Is(err, leaderboard.ErrUnavailable) || !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s: submit: %v", version, err)
		}
	}
	s, err := store.Open(t.Context(), store.Config{DSN: testenv.WithVersion(t, dsn, "8.0.40", "")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	var tables int
	const count = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"
	if err := s.DB().QueryRowContext(t.Context(), count).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables were made: %v", tables, err)
	}
}
