package e2e

import (
	"slices"
	"testing"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
)

// TestGaleraDies: the node of a Galera cluster that takes writes is killed again and again, and another one told to take them, under
// writers that go to two servers in turn and repeat each request under its key; so is a node that takes none, and writes go on by
// themselves. Each submission is there once, on all nodes; seqs are without gaps, sums are exact, reads succeed meanwhile and come to say
// that they are stale (promise A9).
func TestGaleraDies(t *testing.T) {
	t.Parallel()
	g := testenv.PrivateGalera(t)
	dsn, err := g.DSN(t.Context(), "e2e")
	if err != nil {
		t.Fatal(err)
	}
	d := databasesOn(t, &g.Nodes, dsn)
	for n := range testenv.Size(1, 5) {
		d.galeraRound(t, g, true, n+1)
	}
	for n := range testenv.Size(0, 3) {
		d.galeraRound(t, g, false, n+1)
	}
}

// galeraRound has the writing node of a cluster die, or another one, and checks what is there when it is back.
func (d *dyingGroup) galeraRound(t *testing.T, g *devserver.Galera, writing bool, number int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("round %d: %s", number, err)
		}
	}
	stop := d.write(t)
	d.warm(t)
	writer := g.Writer(t.Context())
	if writer == nil {
		t.Fatal("none of the nodes takes writes, or more than one")
	}
	next := g.Nodes[(slices.Index(g.Nodes, writer)+1)%len(g.Nodes)]
	fault, dead := "writing node killed", writer
	if !writing {
		fault, dead = "another node killed", next
	}
	must(dead.Kill())
	d.mark()
	d.awaitStale(t)
	if writing {
		must(g.Promote(t.Context(), writer, next))
	}
	d.grow(t, "writes go on")
	must(dead.Restart(t.Context()))
	must(g.AwaitNodes(t.Context(), len(g.Nodes)))
	d.grow(t, "writes go on with all nodes")
	stop()
	d.report(t, fault, number)
	d.check(t)
}
