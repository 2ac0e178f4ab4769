package e2e

import (
	"slices"
	"testing"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
)

// TestGaleraDies: the node of a Galera cluster that takes writes is killed again and again and replaced by another, under
// writers that use two servers in turn and repeat each request under its key; a read-only node is killed, and writes
// continue; all of them are killed, and are a cluster again. Each submission is there once, on all nodes; seqs have no
// gaps, sums are exact, reads succeed meanwhile and are eventually marked stale (promise A9).
func TestGaleraDies(t *testing.T) {
	t.Parallel()
	g := testenv.PrivateGalera(t)
	dsn, err := g.DSN(t.Context(), "e2e")
	if err != nil {
		t.Fatal(err)
	}
	d := databasesOn(t, &g.Nodes, dsn)
	for _, of := range []databaseFaults{
		{databaseFaultKilled, testenv.Size(1, 5)},
		{databaseFaultOtherKilled, testenv.Size(0, 3)},
		{databaseFaultAllKilled, testenv.Size(0, 5)},
	} {
		for n := range of.times {
			d.galeraRound(t, g, of.fault, n+1)
		}
	}
}

// galeraRound lets one fault happen to a cluster under the writers, and checks the data when all nodes are back.
func (d *dyingGroup) galeraRound(t *testing.T, g *devserver.Galera, fault databaseFault, number int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s, round %d: %s", fault, number, err)
		}
	}
	stop := d.write(t)
	d.warm(t)
	writer := g.Writer(t.Context())
	if writer == nil {
		t.Fatal("none of the nodes takes writes, or more than one")
	}
	next := g.Nodes[(slices.Index(g.Nodes, writer)+1)%len(g.Nodes)]
	dead := []*devserver.Server{writer}
	switch fault {
	case databaseFaultOtherKilled:
		dead = []*devserver.Server{next}
	case databaseFaultAllKilled:
		dead = g.Nodes
	}
	for _, node := range dead {
		must(node.Kill())
	}
	d.mark()
	d.awaitStale(t)
	switch fault {
	case databaseFaultKilled:
		must(g.Promote(t.Context(), writer, next))
	case databaseFaultAllKilled:
		must(g.RestartAll(t.Context()))
		must(g.Promote(t.Context(), writer, next))
	}
	d.grow(t, "writes go on")
	if fault != databaseFaultAllKilled {
		must(dead[0].Restart(t.Context()))
	}
	must(g.AwaitNodes(t.Context(), len(g.Nodes)))
	d.grow(t, "writes go on with all nodes")
	stop()
	d.report(t, fault, number)
	d.check(t)
}
