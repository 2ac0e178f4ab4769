package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestGroupDies: the primary of a group of three databases is killed, frozen and cut off from the majority, and all three
// are killed and begin again, under writers that use two servers in turn and repeat each request under its key. Each
// submission is there once, seqs have no gaps, sums are exact, reads succeed meanwhile and are eventually marked stale,
// nothing is acknowledged without a majority, and writes continue without help (promise A9).
func TestGroupDies(t *testing.T) {
	t.Parallel()
	d := newDyingGroup(t)
	for _, of := range []databaseFaults{
		{databaseFaultKilled, testenv.Size(1, 20)},
		{databaseFaultFrozen, testenv.Size(0, 5)},
		{databaseFaultCutOff, testenv.Size(1, 5)},
		{databaseFaultAllKilled, testenv.Size(0, 5)},
	} {
		for n := range of.times {
			d.round(t, of.fault, n+1)
		}
	}
}

// databaseFault is a fault of several databases.
type databaseFault string

const (
	databaseFaultKilled      databaseFault = "killed" // the primary, also of the next two
	databaseFaultFrozen      databaseFault = "frozen"
	databaseFaultCutOff      databaseFault = "cut off"
	databaseFaultOtherKilled databaseFault = "another killed"
	databaseFaultAllKilled   databaseFault = "all three killed"
)

// databaseFaults draws a number of faults.
type databaseFaults struct {
	fault databaseFault
	times int
}

// groupWriters is how many write at once.
func groupWriters() int { return testenv.Size(16, 48) }

// groupPace is how often each writer begins a request at most: the members share the machine with others.
const groupPace = 10 * time.Millisecond

// dyingGroup is a group of databases under two servers, with the answers to its writers.
type dyingGroup struct {
	*world
	group   *devserver.MySQLGroup // nil when the databases are another kind of group
	nodes   *[]*devserver.Server  // the databases
	servers [2]*server
	load    keyedLoad
	next    atomic.Int64 // number of the last request that was begun

	mu    sync.Mutex
	begun map[int]*groupRequest // not acknowledged yet
	seqs  []int64               // of the acknowledged ones
	sums  map[string]int64      // of the acknowledged ones
	said  groupAnswers          // since the fault of this round
}

// groupRequest is the result of a request.
type groupRequest struct {
	begun   time.Time
	tries   int
	unknown bool // whether it was done was unknown once
}

// groupAnswers are the answers after a fault.
type groupAnswers struct {
	rate                           int // acknowledged in the second before the fault
	fault                          time.Time
	acknowledged, refused, unknown int
	first                          time.Time // acknowledgement of a request that was begun after the fault
}

func newDyingGroup(t *testing.T) *dyingGroup {
	t.Helper()
	g := testenv.PrivateMySQLGroup(t)
	dsn, err := g.DSN(t.Context(), "e2e")
	if err != nil {
		t.Fatal(err)
	}
	return groupOn(t, g, dsn)
}

// groupOn starts the servers on a group.
func groupOn(t *testing.T, g *devserver.MySQLGroup, dsn string) *dyingGroup {
	t.Helper()
	d := databasesOn(t, &g.Nodes, dsn)
	d.group = g
	return d
}

// databasesOn starts the servers on several databases that replicate each other's commits.
func databasesOn(t *testing.T, nodes *[]*devserver.Server, dsn string) *dyingGroup {
	t.Helper()
	d := &dyingGroup{world: worldOn(t, dsn, ""), nodes: nodes, begun: map[int]*groupRequest{}, sums: map[string]int64{}}
	d.servers = [2]*server{d.serve(t, "first"), d.serve(t, "second")}
	d.servers[0].putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum})
	d.load.send = d.send
	return d
}

// send sends a request once: to the two servers in turn.
func (d *dyingGroup) send(ctx context.Context, _ *server, i int, key string) ([]client.Result, error) {
	d.mu.Lock()
	request := d.begun[i]
	if request == nil {
		request = &groupRequest{begun: time.Now()}
		d.begun[i] = request
	}
	s := d.servers[(i+request.tries)%2]
	request.tries++
	d.mu.Unlock()
	sub := increment(i)
	r, err := s.submit(ctx, "sums", key, sub)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.seqs = append(d.seqs, r.Seq)
		d.sums[sub.Member] += sub.Score
		d.said.acknowledged++
		if request.begun.After(d.said.fault) && d.said.first.IsZero() {
			d.said.first = time.Now()
		}
		delete(d.begun, i)
	case errors.Is(err, leaderboard.ErrOutcomeUnknown):
		if !request.unknown {
			d.said.unknown++
		}
		request.unknown = true
	default:
		d.said.refused++
	}
	return r.Results, err
}

// write starts the writers. stop waits until each has its last request acknowledged.
func (d *dyingGroup) write(t *testing.T) (stop func()) {
	t.Helper()
	writing, end := context.WithCancel(context.Background())
	limit, cancel := context.WithTimeout(context.Background(), 20*maxWait) // a document takes minutes
	var writers sync.WaitGroup
	for range groupWriters() {
		writers.Go(func() {
			tick := time.NewTicker(groupPace)
			defer tick.Stop()
			for writing.Err() == nil {
				i := int(d.next.Add(1))
				if err := d.load.repeat(limit, i); err != nil {
					t.Errorf("request %d: %s", i, err)
					return
				}
				<-tick.C
			}
		})
	}
	stop = func() { end(); writers.Wait(); cancel() }
	t.Cleanup(stop)
	return stop
}

// answers returns the answers since the fault, and how many requests were acknowledged in all.
func (d *dyingGroup) answers() (groupAnswers, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said, len(d.seqs)
}

// grow waits until 20 more requests of each writer are acknowledged.
func (d *dyingGroup) grow(t *testing.T, what string) {
	t.Helper()
	_, from := d.answers()
	eventually(t, what, func() error {
		if _, n := d.answers(); n < from+20*groupWriters() {
			return fmt.Errorf("%d requests are acknowledged", n-from)
		}
		return nil
	})
}

// round lets one fault happen under the writers, and checks the data when all databases are back.
func (d *dyingGroup) round(t *testing.T, fault databaseFault, number int) {
	t.Helper()
	stop := d.write(t)
	d.warm(t)
	primary := d.group.Primary(t.Context())
	if primary == nil {
		t.Fatal("the group has no primary")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s, round %d: %s", fault, number, err)
		}
	}
	var others []*devserver.Server
	for _, node := range d.group.Nodes {
		if node != primary {
			others = append(others, node)
		}
	}
	switch fault {
	case databaseFaultKilled:
		must(primary.Kill())
	case databaseFaultFrozen:
		must(primary.Pause())
	case databaseFaultCutOff:
		must(errors.Join(others[0].Pause(), others[1].Pause()))
	case databaseFaultAllKilled:
		must(errors.Join(primary.Kill(), others[0].Kill(), others[1].Kill()))
	}
	d.mark()
	d.awaitStale(t)
	switch fault {
	case databaseFaultCutOff:
		if said, _ := d.answers(); !said.first.IsZero() {
			t.Errorf("without a majority a request is acknowledged %s after it is gone", said.first.Sub(said.fault))
		}
		must(errors.Join(others[0].Resume(), others[1].Resume()))
	case databaseFaultAllKilled:
		for _, node := range d.group.Nodes {
			must(node.Restart(t.Context()))
		}
		must(d.group.Begin(t.Context()))
	}
	d.grow(t, "writes go on")
	switch fault {
	case databaseFaultKilled:
		must(primary.Restart(t.Context()))
	case databaseFaultFrozen:
		must(primary.Resume())
	}
	if fault != databaseFaultAllKilled {
		eventually(t, "the old primary is a member again", func() error { return d.group.Rejoin(t.Context(), primary) })
	}
	d.grow(t, "writes go on with all members")
	stop()
	d.report(t, fault, number)
	d.check(t)
}

// report writes a line of the table of docs/failover.md.
func (d *dyingGroup) report(t *testing.T, fault databaseFault, number int) {
	said, _ := d.answers()
	t.Logf("| %s, %d | %d | %d | %d | %d | %.1f s |", fault, number, said.rate, said.acknowledged, said.refused, said.unknown, said.first.Sub(said.fault).Seconds())
}

// warm waits until writes continue and both servers have the board in memory, and counts the acknowledged writes in a
// second.
func (d *dyingGroup) warm(t *testing.T) {
	t.Helper()
	d.grow(t, "writes go on")
	for _, s := range d.servers {
		eventually(t, s.name+" has the board in memory", func() error {
			p, err := s.top(t.Context(), "sums", 0, 100)
			if err == nil && (p.Source != "local" || p.Stale) {
				err = fmt.Errorf("it is from %s, stale %t", p.Source, p.Stale)
			}
			return err
		})
	}
	_, from := d.answers()
	<-time.After(time.Second)
	_, n := d.answers()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said.rate = n - from
}

// mark begins to count answers: the fault is there.
func (d *dyingGroup) mark() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = groupAnswers{rate: d.said.rate, fault: time.Now()}
}

// awaitStale reads at both servers until both have marked an answer stale.
func (d *dyingGroup) awaitStale(t *testing.T) {
	t.Helper()
	var seq [2]int64
	var stale [2]bool
	began := time.Now()
	eventually(t, "both servers say that what they show is stale", func() error {
		for i, s := range d.servers {
			asked := time.Now()
			p, err := s.top(t.Context(), "sums", 0, 100)
			if err != nil || p.Seq < seq[i] {
				t.Fatalf("%s shows seq %d after %d: %v, %s after it was asked, %s after the fault; it said\n%s", s.name, p.Seq, seq[i], err, time.Since(asked), time.Since(began), s.err.text())
			}
			seq[i], stale[i] = p.Seq, stale[i] || p.Stale
		}
		if !stale[0] || !stale[1] {
			return fmt.Errorf("they are at seq %d, stale %t", seq, stale)
		}
		return nil
	})
}

// check compares the acknowledged writes with the data of each member of the group. A member that was away has a backlog
// first.
func (d *dyingGroup) check(t *testing.T) {
	t.Helper()
	if len(d.begun) > 0 {
		t.Errorf("%d requests have no answer", len(d.begun))
	}
	slices.Sort(d.seqs)
	for i, seq := range d.seqs {
		if seq != int64(i+1) {
			t.Fatalf("the seq of acknowledgement %d of %d is %d", i+1, len(d.seqs), seq)
		}
	}
	for _, node := range *d.nodes {
		eventually(t, node.Addr+" has what was acknowledged", func() error { return d.checkMember(t.Context(), node) })
	}
}

// checkMember compares the acknowledged writes with the data of a member of the group.
func (d *dyingGroup) checkMember(ctx context.Context, node *devserver.Server) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	db, err := sql.Open("mysql", node.DSN+d.dsn[strings.LastIndexByte(d.dsn, '/')+1:])
	if err != nil {
		return err
	}
	defer db.Close()
	var seq int64
	if err := db.QueryRowContext(ctx, "SELECT p.last_seq FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = 'sums'").Scan(&seq); err != nil {
		return err
	}
	if seq != int64(len(d.seqs)) {
		return fmt.Errorf("it is at seq %d of %d", seq, len(d.seqs))
	}
	var members int
	for member, sum := range d.sums {
		var score int64
		if err := db.QueryRowContext(ctx, "SELECT score, (SELECT COUNT(*) FROM scores WHERE board = 'sums') FROM scores WHERE board = 'sums' AND member = ?", member).Scan(&score, &members); err != nil {
			return err
		}
		if score != sum || members != len(d.sums) {
			return fmt.Errorf("of %d members, of %d, the sum of %s is %d, acknowledged is %d", members, len(d.sums), member, score, sum)
		}
	}
	return nil
}
