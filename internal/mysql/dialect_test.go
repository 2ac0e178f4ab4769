package mysql

import (
	"errors"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// TestDialects: the version of a server decides the dialect, and whether it is used at all.
func TestDialects(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int32{
		"8.0.0": dialectMySQL, "8.4.3": dialectMySQL, "9.7.1": dialectMySQL, "8.0.36-28": dialectMySQL, "10.1.0": dialectMySQL,
		"8.0.40-0ubuntu0.24.04.1 (Ubuntu)": dialectMySQL, "8.4.9 MySQL Community Server - GPL": dialectMySQL,
		"8.0.36-28 Percona Server (GPL), Release 28, Revision 47601f19": dialectMySQL, "8.0.37-azure": dialectMySQL, "8.0.31-google": dialectMySQL,
		"10.8.1-MariaDB mariadb.org binary distribution": dialectMariaDB, "10.11.14-MariaDB-0+deb12u2": dialectMariaDB, "11.8.3-MariaDB-1": dialectMariaDB,
	} {
		d := &dialect{}
		if err := d.set(version); err != nil || d.v.Load() != want {
			t.Errorf("%s: dialect %d, want %d: %v", version, d.v.Load(), want, err)
		}
	}
	for _, version := range []string{"8.0.11-TiDB-v8.5.3", "5.7.25-TiDB-v6.5.0", "8.0.30-Vitess", "8.4.6-vitess-23.0.0", "8.4.6 Version: 24.0.4 (Git revision 8a4c branch 'HEAD') built on a host"} {
		d := &dialect{}
		err := d.set(version)
		if !errors.Is(err, ErrUnsupported) || !errors.Is(err, leaderboard.ErrUnavailable) || d.known() {
			t.Errorf("%s: %v, and the dialect is known: %t", version, err, d.known())
			continue
		}
		for _, want := range []string{`"` + version + `"`, "take a MySQL or a MariaDB"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", version, err, want)
			}
		}
	}
}
