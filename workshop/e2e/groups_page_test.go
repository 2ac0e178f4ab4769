package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
)

// failoverPage is the document about machines of databases that die.
const failoverPage = "../../docs/failover.md"

// TestGroupsDocument runs every command about groups of docs/failover.md: a group is made of servers; under writers a member is replaced, and each is
// restarted; all are killed, and begin again. Members that come back have the settings that were persisted. Nothing that was acknowledged is lost or there twice (promise A9).
func TestGroupsDocument(t *testing.T) {
	t.Parallel()
	g := testenv.PrivateMySQLMembers(t, 4)
	o := startFailover(t, "A group of three", g.Nodes, mysqlClient())
	o.section(t, "Make a group")
	o.section(t, "Change a setting")
	if t.Failed() {
		t.FailNow()
	}

	d := groupOn(t, g, fmt.Sprintf("root@tcp(%s,%s,%s,%s)/leaderboard", g.Nodes[0].Addr, g.Nodes[1].Addr, g.Nodes[2].Addr, g.Nodes[3].Addr))
	stop := d.write(t)
	d.grow(t, "writes go on")
	if err := g.Nodes[2].Kill(); err != nil {
		t.Fatal(err)
	}
	gone := g.Nodes[2]
	g.Nodes = append(g.Nodes[:2:2], g.Nodes[3])
	t.Cleanup(func() { _ = gone.Stop(t.Context()) })
	end := supervise(t, g.Nodes)
	o.section(t, "Replace a member")
	d.grow(t, "writes go on with the new member")
	o.section(t, "Upgrade one after another")
	d.grow(t, "writes go on at another primary")
	end()
	for _, node := range g.Nodes {
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range g.Nodes {
		if err := node.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	o.section(t, "All members have stopped")
	d.grow(t, "writes go on when all are back")
	for _, node := range g.Nodes { // each has ended again
		if has := settingOf(t, node, "group_replication_transaction_size_limit"); has != "300000000" {
			t.Errorf("%s has a limit of %s after its restart", node.Addr, has)
		}
	}
	stop()
	d.check(t)
	if len(o.sections) > 0 {
		t.Errorf("these sections were not run: %v", o.sections)
	}
}

// settingOf returns a variable of a server.
func settingOf(t *testing.T, s *devserver.Server, name string) (value string) {
	t.Helper()
	db, err := sql.Open("mysql", s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT @@GLOBAL."+name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// mysqlClient returns the program of MySQL that commands use, and its package.
func mysqlClient() map[string]string { return map[string]string{"mysql": "mysql-client-core"} }

// startFailover returns an operator for the commands in a part of the page about failovers, which calls the nodes db1, db2 …
func startFailover(t *testing.T, part string, nodes []*devserver.Server, tools map[string]string) *operator {
	t.Helper()
	o := &operator{page: failoverPage, part: part, dir: t.TempDir()}
	var sections strings.Builder
	var names []string // the names on the page, and their values here
	for i, node := range nodes {
		host, port, _ := strings.Cut(node.Addr, ":")
		name := fmt.Sprintf("db%d", i+1)
		fmt.Fprintf(&sections, "[client_%s]\nhost=%s\nport=%s\nuser=root\nprotocol=tcp\n", name, host, port)
		names = append(names, "'"+name+":3306'", "'"+node.Addr+"'", "'"+name+"':3306", "'"+host+"':"+port, "'"+name+"', SOURCE_PORT = 3306", "'"+host+"', SOURCE_PORT = "+port)
	}
	o.rewrite = strings.NewReplacer(names...)
	write(t, filepath.Join(o.dir, ".my.cnf"), sections.String())
	o.env = map[string]string{"HOME": o.dir, "PATH": o.programs(t, tools) + ":/usr/bin:/bin"}
	o.read(t)
	return o
}

// supervise restarts servers that have ended, like a service manager, until end is called.
func supervise(t *testing.T, servers []*devserver.Server) (end func()) {
	t.Helper()
	done := make(chan struct{})
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-s.Exited():
				}
				if err := s.Restart(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var once sync.Once
	end = func() { once.Do(func() { close(done) }); all.Wait() }
	t.Cleanup(end)
	return end
}
