package e2e

import (
	"fmt"
	"testing"

	"leaderboard/internal/testenv"
)

// TestGaleraDocument runs every command about Galera of docs/failover.md under writers: a node of a Galera cluster takes
// writes, another replaces it, is killed and replaced by a third, and comes back read-only; all are killed, and one takes
// writes again. No acknowledged write is lost or counted twice (promise A9).
func TestGaleraDocument(t *testing.T) {
	t.Parallel()
	g := testenv.PrivateGaleraNodes(t, 3)
	o := startFailover(t, "A Galera cluster", g.Nodes, map[string]string{"mariadb": "mariadb-client-core"})
	o.section(t, "Make a cluster")
	if t.Failed() {
		t.FailNow()
	}
	d := databasesOn(t, &g.Nodes, fmt.Sprintf("root@tcp(%s,%s,%s)/leaderboard", g.Nodes[0].Addr, g.Nodes[1].Addr, g.Nodes[2].Addr))
	stop := d.write(t)
	d.grow(t, "writes go on")
	o.section(t, "Another node takes writes")
	d.grow(t, "writes go on at the second node")
	if err := g.Nodes[1].Kill(); err != nil {
		t.Fatal(err)
	}
	o.section(t, "The writing node has died")
	d.grow(t, "writes go on at the third node")
	if err := g.Nodes[1].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.AwaitNodes(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	o.section(t, "A node comes back")
	d.grow(t, "writes go on with all nodes")
	for _, node := range g.Nodes {
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.RestartAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.section(t, "All nodes have stopped")
	d.grow(t, "writes go on after all were away")
	stop()
	d.check(t)
	if len(o.sections) > 0 {
		t.Errorf("these sections were not run: %v", o.sections)
	}
}
