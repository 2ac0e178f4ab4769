package devserver

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestStartGalera: three nodes have the commits of each, two of them take no writes, and a killed node gets the missed
// commits; after all were killed they are a cluster again with their data.
func TestStartGalera(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g, err := StartGalera(ctx, Config{Dir: t.TempDir(), Ephemeral: true, Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	has := func(want string) {
		t.Helper()
		for _, node := range g.Nodes {
			must(poll(ctx, func() error {
				got, err := node.value(ctx, "SELECT GROUP_CONCAT(n ORDER BY n) FROM lb.t")
				if err == nil && got != want {
					t.Errorf("node %s has %q, want %q", node.Addr, got, want)
				}
				return err
			}))
		}
	}
	must(g.AwaitNodes(ctx, len(g.Nodes)))
	writer := g.Writer(ctx)
	if writer != g.Nodes[0] {
		t.Fatalf("the writing node is %v", writer)
	}
	if _, err := g.DSN(ctx, "lb"); err != nil {
		t.Fatal(err)
	}
	must(writer.Exec(ctx, "CREATE TABLE lb.t (n INT PRIMARY KEY)"))
	must(writer.Exec(ctx, "INSERT INTO lb.t VALUES (1)"))
	must(g.Nodes[1].Exec(ctx, "SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1"))
	must(g.Nodes[2].Exec(ctx, "SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1"))
	has("1")

	must(writer.Kill())
	must(g.Promote(ctx, writer, g.Nodes[1]))
	if size, err := g.Nodes[1].status(ctx, "wsrep_cluster_size"); err != nil || size != "2" {
		t.Errorf("a node takes writes in a cluster of %s nodes, %v: the dead one is not given up yet", size, err)
	}
	if now := g.Writer(ctx); now != g.Nodes[1] {
		t.Fatalf("the writing node is %v", now)
	}
	must(g.Nodes[1].Exec(ctx, "INSERT INTO lb.t VALUES (2)"))
	must(writer.Restart(ctx))
	must(g.AwaitNodes(ctx, len(g.Nodes)))
	has("1,2")
	if now := g.Writer(ctx); now != g.Nodes[1] {
		t.Errorf("with the old one back the writing node is %v", now)
	}

	for _, node := range g.Nodes {
		must(node.Kill())
	}
	must(g.RestartAll(ctx))
	has("1,2")
	if now := g.Writer(ctx); now != nil {
		t.Errorf("after all were away the writing node is %v", now)
	}
	for _, node := range g.Nodes {
		log, err := os.ReadFile(node.LogFile)
		must(err)
		if n := strings.Count(string(log), "initial position: 00000000-"); n != 1 {
			t.Errorf("node %s was started %d times without knowing how far it was: once, with no data, is right", node.Addr, n)
		}
	}
}
