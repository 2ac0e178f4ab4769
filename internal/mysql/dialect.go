package mysql

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
)

// ErrUnsupported is a server of an engine that the service does not work on. It is an ErrUnavailable that no retry cures:
// only another server does.
var ErrUnsupported = fmt.Errorf("%w: the service does not work on this database server", leaderboard.ErrUnavailable)

// Dialects: where the servers differ.
const (
	dialectMySQL   = 1
	dialectMariaDB = 2
)

// dialect is which of the dialects the server speaks.
type dialect struct{ v atomic.Int32 }

func (d *dialect) known() bool { return d.v.Load() != 0 }

// askServer asks a server for its version and its makers' comment. Vitess can be configured to give another version, but
// not another comment.
const askServer = "SELECT CONCAT_WS(' ', VERSION(), @@version_comment)"

// set takes the answer to askServer, as in 8.4.3 MySQL Community Server - GPL or 11.8.2-MariaDB-1 Debian. Errors: ErrUnsupported.
func (d *dialect) set(version string) error {
	lower := strings.ToLower(version)
	for _, name := range strangers() {
		if strings.Contains(lower, name) {
			return fmt.Errorf("%w, which says that it is %q: take a MySQL or a MariaDB; docs/engines.md has the reasons", ErrUnsupported, version)
		}
	}
	if strings.Contains(lower, "mariadb") {
		d.v.Store(dialectMariaDB)
	} else {
		d.v.Store(dialectMySQL)
	}
	return nil
}

// strangers returns parts of answers to askServer, in lower case, of engines that speak MySQL's protocol but lock and order rows
// in other ways. Only Vitess gives the revision from which it was built in this form.
func strangers() []string { return []string{"tidb", "vitess", "(git revision "} }

// limited gives a reading statement that begins with SELECT a limit of time at the server: ending the context closes
// the socket, but the server would work on.
func (d *dialect) limited(query string, limit time.Duration) string {
	if d.v.Load() == dialectMariaDB {
		return fmt.Sprintf("SET STATEMENT max_statement_time=%.3f FOR %s", limit.Seconds(), query)
	}
	return fmt.Sprintf("SELECT /*+ MAX_EXECUTION_TIME(%d) */%s", limit.Milliseconds(), strings.TrimPrefix(query, "SELECT"))
}
