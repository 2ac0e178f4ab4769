package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"leaderboard/internal/serverfault"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestGaleraCutOff: the writing node of a Galera cluster that has lost its majority still reports that it takes writes, and
// is not used: even before it notices, its data are not reported as fresh; it acknowledges no write, and a store opened
// then finds no database. With two writing nodes neither is used. A store that knows all nodes gets no warning, a store
// that knows one node does.
func TestGaleraCutOff(t *testing.T) {
	t.Parallel()
	g := testenv.PrivateGalera(t)
	dsn, err := g.DSN(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dsn, nil)
	ofGroup := func(f serverfault.Fault) bool {
		return f.Check == serverfault.CheckGroup || f.Check == serverfault.CheckReplication
	}
	if _, faults, err := s.Faults(t.Context(), 1); err != nil || slices.ContainsFunc(faults, ofGroup) {
		t.Errorf("of a cluster is said %+v, %v", faults, err)
	}
	single, err := store.Open(t.Context(), store.Config{DSN: g.Nodes[0].DSN + "lb"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = single.Close() })
	if _, faults, err := single.Faults(t.Context(), 1); err != nil || !slices.ContainsFunc(faults, ofGroup) {
		t.Errorf("of one node is said %+v, %v", faults, err)
	}
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	var acknowledged int64
	submit := func() error {
		_, err := s.Writer.Submit(t.Context(), dbtest.One("b", fmt.Sprint("k", acknowledged), "m", 1)) // until it is acknowledged it is the same one
		if err == nil {
			acknowledged++
		}
		return err
	}
	for range 20 {
		if err := submit(); err != nil {
			t.Fatal(err)
		}
	}
	late := func() error {
		l, err := store.Open(t.Context(), store.Config{DSN: dsn})
		if err != nil {
			return err
		}
		return errors.Join(l.Ping(t.Context()), l.Close())
	}
	if err := late(); err != nil {
		t.Fatalf("a store that is opened late: %s", err)
	}

	for _, node := range g.Nodes[1:] {
		if err := node.Pause(); err != nil {
			t.Fatal(err)
		}
	}
	node := root(t, g.Nodes[0])
	dbtest.PollFor(t, groupWait, 10*time.Millisecond, "nothing is told to be fresh", func() bool { // for a second the node trusts what the others said last
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Entries.Revisions(ctx, []int64{ref.ID})
		var seq int64
		if err := node.QueryRowContext(t.Context(), "SELECT last_seq FROM lb.periods WHERE id = ?", ref.ID).Scan(&seq); err != nil {
			t.Fatalf("what the node has was told to be fresh until it knew that it is alone: %s", err)
		}
		return err != nil
	})
	dbtest.PollFor(t, groupWait, 10*time.Millisecond, "the node finds that it is alone", func() bool {
		var is string
		return node.QueryRowContext(t.Context(), "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_ready'").Scan(&is) == nil && is == "OFF"
	})
	var readOnly bool
	if err := node.QueryRowContext(t.Context(), "SELECT @@GLOBAL.read_only").Scan(&readOnly); err != nil || readOnly {
		t.Fatalf("a node without a majority says read_only %t, %v: this test has lost its point", readOnly, err)
	}
	if err := late(); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("a store that is opened when the node is alone: %v", err)
	}
	if err := submit(); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("a submission when the node is alone: %v", err)
	}
	for _, node := range g.Nodes[1:] {
		if err := node.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	dbtest.PollFor(t, groupWait, 10*time.Millisecond, "writes go on", func() bool { return submit() == nil })
	if got := dbtest.ScoreOf(t, s, ref, "m"); got != acknowledged {
		t.Errorf("the score is %d, of %d that were acknowledged", got, acknowledged)
	}

	execOn(t, root(t, g.Nodes[1]), "SET GLOBAL read_only = OFF")
	dbtest.PollFor(t, groupWait, 10*time.Millisecond, "a store that is opened finds two nodes that take writes", func() bool { return errors.Is(late(), store.ErrTwoPrimaries) })
}
