package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
)

// TestReplicaDocument runs every command about a source and a replica of docs/failover.md under writers: while the replica is frozen nothing is acknowledged; the source
// is killed, and the replica promoted; the old source comes back read-only, gets no write, and is made a replica of the new one. Nothing that was
// acknowledged is lost or there twice (promise A9).
func TestReplicaDocument(t *testing.T) {
	t.Parallel()
	g := testenv.PrivateMySQLMembers(t, 2)
	source, replica := g.Nodes[0], g.Nodes[1]
	o := startFailover(t, "A source and a replica", g.Nodes, mysqlClient())
	o.section(t, "Set up")
	if t.Failed() {
		t.FailNow()
	}
	d := groupOn(t, g, fmt.Sprintf("root@tcp(%s,%s)/leaderboard", source.Addr, replica.Addr))
	for _, s := range d.servers {
		if said := s.err.text(); strings.Contains(said, `"check":"replication"`) {
			t.Errorf("%s warns of semi-synchronous replication:\n%s", s.name, said)
		}
	}
	stop := d.write(t)
	d.grow(t, "writes go on")
	if err := replica.Pause(); err != nil {
		t.Fatal(err)
	}
	d.mark()
	eventually(t, "writes wait for the replica", func() error {
		if said, _ := d.answers(); said.unknown == 0 {
			return errors.New("no outcome is unknown")
		}
		return nil
	})
	if said, _ := d.answers(); !said.first.IsZero() {
		t.Error("a request was acknowledged that the replica cannot have")
	}
	if err := replica.Resume(); err != nil {
		t.Fatal(err)
	}
	d.grow(t, "writes go on with the replica")
	if err := source.Kill(); err != nil {
		t.Fatal(err)
	}
	d.mark()
	o.section(t, "Promote the replica")
	d.grow(t, "writes go on at the promoted replica")
	if err := source.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	had := carriedOut(t, source)
	d.grow(t, "writes go on beside the old source")
	if has := carriedOut(t, source); has != had {
		t.Errorf("the old source has %s after %s, so it took writes", has, had)
	}
	end := supervise(t, g.Nodes)
	o.section(t, "The old source comes back")
	d.grow(t, "writes go on with a replica again")
	end()
	stop()
	d.check(t)
	if len(o.sections) > 0 {
		t.Errorf("these sections were not run: %v", o.sections)
	}
}

// carriedOut returns the transactions of a server that is read-only.
func carriedOut(t *testing.T, s *devserver.Server) (all string) {
	t.Helper()
	db, err := sql.Open("mysql", s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var readOnly bool
	if err := db.QueryRowContext(t.Context(), "SELECT @@super_read_only, @@gtid_executed").Scan(&readOnly, &all); err != nil || !readOnly {
		t.Fatalf("read-only %t, %v", readOnly, err)
	}
	return all
}
