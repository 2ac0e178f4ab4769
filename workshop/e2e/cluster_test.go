//go:build failover

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/client"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

const (
	// clusterBoards is how many boards the tests have: their periods are in slots of all primaries.
	clusterBoards = 12
	// failoverLimit is how soon boards must be read from Redis again after their primary was killed.
	failoverLimit = 10 * time.Second
)

// cluster is a world whose Redis is a cluster.
type cluster struct {
	*world
	nodes  *devserver.Cluster
	client *redis.ClusterClient
	boards []*clusterBoard
}

// clusterBoard is a board under load.
type clusterBoard struct {
	*ages
	period int64
	node   int  // the index of the primary that has its copy at first
	still  bool // it gets no writes
}

// newCluster makes boards of 500 members with copies, at a server, and finds the primary of each.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{world: worldOn(t, testenv.MySQL(t), ""), nodes: testenv.PrivateRedisCluster(t)}
	c.redisURL = c.nodes.URL
	c.client = redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.nodes.Nodes[4].Addr, c.nodes.Nodes[5].Addr}, ClusterStateReloadInterval: time.Second})
	t.Cleanup(func() { _ = c.client.Close() })
	return c
}

func (c *cluster) fill(t *testing.T, s *server) {
	t.Helper()
	var found [3]int
	for i := range clusterBoards {
		b := &clusterBoard{ages: &ages{board: fmt.Sprint("board", i), base: 1_000_000}}
		s.fill(t, b.board, 500, leaderboard.Rules{
			Policy: leaderboard.PolicyLatest, TopN: 100, Refresh: leaderboard.Refresh{Incremental: "off"}, // which would repair copies, too
		})
		s.mustRebuild(t, b.board)
		b.period = c.periodOf(t, b.board)
		slot, err := c.client.ClusterKeySlot(t.Context(), strconv.FormatInt(b.period, 10)).Result()
		if err != nil {
			t.Fatal(err)
		}
		b.node = int(slot) * 3 / 16384
		found[b.node]++
		c.boards = append(c.boards, b)
	}
	if slices.Min(found[:]) < 2 {
		t.Fatalf("boards are spread over the primaries as %v", found)
	}
}

// of returns the boards that a primary has at the start, or the boards of the other primaries.
func (c *cluster) of(node int, has bool) (boards []*clusterBoard) {
	for _, b := range c.boards {
		if (b.node == node) == has {
			boards = append(boards, b)
		}
	}
	return boards
}

// load writes to all boards at one server and reads them at another until the test ends or stop is called.
func (c *cluster) load(t *testing.T, writing, reading *server) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, b := range c.boards {
		if b.still {
			all.Go(func() { b.browse(ctx, reading, 10*time.Millisecond) })
			continue
		}
		all.Go(func() { b.commit(ctx, writing, 50*time.Millisecond) })
		all.Go(func() { b.poll(ctx, reading, 20*time.Millisecond) })
	}
	stop = func() { cancel(); all.Wait() }
	t.Cleanup(stop)
	return stop
}

// browse reads pages that no server has kept.
func (b *clusterBoard) browse(ctx context.Context, s *server, pace time.Duration) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		<-tick.C
		p := poll{sent: time.Now(), shown: -1}
		page, err := s.top(context.WithoutCancel(ctx), b.board, n%97, 1+n/97%97)
		p.stale, p.source, p.took = page.Stale, page.Source, time.Since(p.sent)
		b.mu.Lock()
		if b.polls = append(b.polls, p); err != nil {
			b.errs = append(b.errs, err)
		}
		b.mu.Unlock()
	}
}

// since returns the sources of the answers to polls sent since a moment, and how long they took.
func (b *clusterBoard) since(from time.Time) (by map[leaderboard.Source]int, took []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	by = map[leaderboard.Source]int{}
	for _, p := range b.polls {
		if p.sent.After(from) {
			by[p.source]++
			took = append(took, p.took)
		}
	}
	return by, took
}

// measured sums up the polls of boards since a moment.
type measured struct {
	n             int
	fromMySQL     float64 // share
	median, worst time.Duration
}

func (m measured) String() string {
	return fmt.Sprintf("%d answers, %.1f %% from MySQL, median %s, 99th percentile %s", m.n, m.fromMySQL*100, m.median.Round(100*time.Microsecond), m.worst.Round(time.Millisecond))
}

func measure(boards []*clusterBoard, from time.Time) (m measured) {
	var all []time.Duration
	for _, b := range boards {
		by, took := b.since(from)
		all = append(all, took...)
		m.fromMySQL += float64(by[leaderboard.SourceMySQL])
	}
	if m.n = len(all); m.n == 0 {
		return m
	}
	slices.Sort(all)
	m.fromMySQL /= float64(m.n)
	m.median, m.worst = all[m.n/2], all[m.n*99/100]
	return m
}

// awaitPolls waits until each board was polled a number of times since a moment.
func awaitPolls(t *testing.T, boards []*clusterBoard, from time.Time, n int) {
	t.Helper()
	for _, b := range boards {
		eventually(t, fmt.Sprintf("%s was read %d times", b.board, n), func() error {
			if _, took := b.since(from); len(took) < n {
				return fmt.Errorf("it was read %d times", len(took))
			}
			return nil
		})
	}
}

// awaitRedisAgain waits until a poll of a board sent from now on is answered from Redis, and returns how long that took.
func awaitRedisAgain(t *testing.T, boards []*clusterBoard, began time.Time) time.Duration {
	t.Helper()
	for _, b := range boards {
		from := time.Now()
		eventually(t, b.board+" is read from Redis again", func() error {
			if by, _ := b.since(from); by[leaderboard.SourceRedis] < 3 {
				return fmt.Errorf("its answers are from %v", by)
			}
			return nil
		})
	}
	return time.Since(began)
}

// TestRedisClusterPrimaryKilled: see losePrimary. It comes back as an empty replica.
func TestRedisClusterPrimaryKilled(t *testing.T) {
	losePrimary(t, (*devserver.Server).Kill, func(primary *devserver.Server) error { return primary.Restart(t.Context()) })
}

// TestRedisClusterPrimaryFrozen: see losePrimary. The connections of the primary stay open, and it comes back with its old copies,
// as a primary that does not know of the failover.
func TestRedisClusterPrimaryFrozen(t *testing.T) {
	losePrimary(t, (*devserver.Server).Pause, (*devserver.Server).Resume)
}

// losePrimary takes a primary of a Redis Cluster away under readers and writers. Only boards with copies on it are read from
// elsewhere meanwhile, and within failoverLimit they are read from Redis again. No answer is older than it says, also when the
// primary comes back.
func losePrimary(t *testing.T, away, back func(*devserver.Server) error) {
	t.Helper()
	c := newCluster(t)
	writing, reading := c.serve(t, "server a", "--resident-memory=0"), c.serve(t, "server b", "--resident-memory=0")
	c.fill(t, writing)
	const lost = 0
	gone, others := c.of(lost, true), c.of(lost, false)
	for _, b := range gone[1:] { // writers would notice before readers
		b.still = true
	}
	stop := c.load(t, writing, reading)
	began := time.Now()
	awaitPolls(t, c.boards, began, 100)
	awaitRedisAgain(t, c.boards, began)
	healthy := time.Now()
	awaitPolls(t, c.boards, healthy, 100)
	before := measure(c.boards, healthy)

	left := time.Now()
	if err := away(c.nodes.Nodes[lost]); err != nil {
		t.Fatal(err)
	}
	again := awaitRedisAgain(t, gone, left)
	of, kept := measure(gone, left), measure(others, left)
	t.Logf("before: %s", before)
	t.Logf("until its boards were read from Redis again, %s after their primary left: %s", again.Round(10*time.Millisecond), of)
	t.Logf("other boards meanwhile: %s", kept)
	if again > failoverLimit {
		t.Errorf("its boards were read from Redis again after %s, want %s at most", again, failoverLimit)
	}
	if kept.fromMySQL > before.fromMySQL+0.05 {
		t.Errorf("%.1f %% of the answers about other boards came from MySQL, before it were %.1f %%", kept.fromMySQL*100, before.fromMySQL*100)
	}
	if kept.median > 2*before.median+5*time.Millisecond {
		t.Errorf("others waited for %s, before it was %s", kept.median, before.median)
	}

	if err := back(c.nodes.Nodes[lost]); err != nil {
		t.Fatal(err)
	}
	old := redis.NewClient(&redis.Options{Addr: c.nodes.Nodes[lost].Addr})
	defer old.Close()
	awaitRole(t, old, "role:slave")
	awaitPolls(t, c.boards, time.Now(), 100)
	stop()
	c.check(t, writing)
}

// check fails for an answer that was older than it said, and for a wrong copy.
func (c *cluster) check(t *testing.T, s *server) {
	t.Helper()
	for _, b := range c.boards {
		b.check(t)
		eventually(t, "the copy of "+b.board+" is right", func() error { _, err := s.verify(t.Context(), b.board); return err })
	}
}

// TestRedisClusterLosesWrites: a replica that lacks the last write takes over. The older state is never shown as fresh, and the
// copy is brought up to date without another write.
func TestRedisClusterLosesWrites(t *testing.T) {
	c := newCluster(t)
	writing, reading := c.serve(t, "server a", "--resident-memory=0"), c.serve(t, "server b", "--resident-memory=0")
	c.fill(t, writing)
	b := c.boards[0]
	primary, replica := c.nodes.Nodes[b.node], c.nodes.Nodes[b.node+3]
	n := 0
	top := func() (client.Page, error) { // another page each time, that the process does not keep
		n++
		return reading.top(t.Context(), b.board, n%97, 1+n/97%97)
	}
	direct := redis.NewClient(&redis.Options{Addr: primary.Addr})
	defer direct.Close()
	// Commands on its connection would wait there until it continues.
	if err := errors.Join(replica.Pause(), direct.Do(t.Context(), "CLIENT", "KILL", "TYPE", "replica").Err()); err != nil {
		t.Fatal(err)
	}
	want := writing.mustSubmit(t, b.board, scored("last", 2_000_000)).Seq
	base, err := c.base(t.Context(), b.period)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the write is in Redis", func() error {
		if seq, err := direct.HGet(t.Context(), base+"meta", "seq").Int64(); err != nil || seq != want {
			return fmt.Errorf("seq %d, %w", seq, err)
		}
		return nil
	})
	if err := errors.Join(primary.Kill(), replica.Resume()); err != nil {
		t.Fatal(err)
	}
	promoted := redis.NewClient(&redis.Options{Addr: replica.Addr})
	defer promoted.Close()
	awaitRole(t, promoted, "role:master") // it is looked at before anybody reads the board: its copy is the older one
	if seq, err := promoted.HGet(t.Context(), base+"meta", "seq").Int64(); err != nil || seq >= want {
		t.Fatalf("the copy is at seq %d, %v: nothing was lost", seq, err)
	}
	taken := time.Now()
	eventually(t, "the copy is up to date and read", func() error {
		page, err := top()
		switch {
		case err != nil:
			return err
		case page.Seq < want && !page.Stale:
			t.Errorf("seq %d from %s is not marked stale, want %d", page.Seq, page.Source, want)
		case page.Source != "redis" || page.Stale:
			return fmt.Errorf("it is read from %s, stale: %t", page.Source, page.Stale)
		}
		return nil
	})
	t.Logf("read from Redis again, with what was lost, %s after the replica took over", time.Since(taken).Round(time.Millisecond))
	if _, err := reading.verify(t.Context(), b.board); err != nil {
		t.Error(err)
	}
}

// TestRedisClusterMovesASlot moves the slot of a board from one primary to another under readers and writers, key by key. No
// answer is wrong or older than it says, and the board is read from Redis nearly all the time.
func TestRedisClusterMovesASlot(t *testing.T) {
	c := newCluster(t)
	writing, reading := c.serve(t, "server a", "--resident-memory=0"), c.serve(t, "server b", "--resident-memory=0")
	c.fill(t, writing)
	stop := c.load(t, writing, reading)
	began := time.Now()
	awaitRedisAgain(t, c.boards, began)

	b := c.boards[0]
	moved := time.Now()
	c.move(t, b, (b.node+1)%3)
	took := time.Since(moved)
	back := awaitRedisAgain(t, c.boards, moved)
	t.Logf("moved in %s, read from Redis after %s; meanwhile: %s", took.Round(time.Millisecond), back.Round(time.Millisecond), measure([]*clusterBoard{b}, moved))
	after := time.Now()
	awaitPolls(t, c.boards, after, 50)
	stop()
	if m := measure([]*clusterBoard{b}, after); m.fromMySQL > 0.05 {
		t.Errorf("after the move: %s", m)
	}
	c.check(t, writing)
}

// move moves the slot of a board to another primary, as redis-cli --cluster reshard does.
func (c *cluster) move(t *testing.T, b *clusterBoard, to int) {
	t.Helper()
	ctx := t.Context()
	var clients [3]*redis.Client
	var ids [3]string
	for i := range clients {
		clients[i] = redis.NewClient(&redis.Options{Addr: c.nodes.Nodes[i].Addr})
		defer clients[i].Close()
		id, err := clients[i].Do(ctx, "CLUSTER", "MYID").Text()
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
	}
	from, target := clients[b.node], clients[to]
	slot, err := from.ClusterKeySlot(ctx, strconv.FormatInt(b.period, 10)).Result()
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(target.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[b.node]).Err())
	must(from.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to]).Err())
	host, port, _ := strings.Cut(c.nodes.Nodes[to].Addr, ":")
	for {
		keys, err := from.ClusterGetKeysInSlot(ctx, int(slot), 1).Result()
		must(err)
		if len(keys) == 0 {
			break
		}
		awaitPolls(t, []*clusterBoard{b}, time.Now(), 5) // readers and writers meet a copy with some moved keys
		must(from.Migrate(ctx, host, port, keys[0], 0, time.Second).Err())
	}
	for _, i := range []int{to, b.node, 3 - to - b.node} {
		must(clients[i].Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", ids[to]).Err())
	}
}

// TestRedisClusterCommands: the commands that use Redis work with a cluster.
func TestRedisClusterCommands(t *testing.T) {
	c := newCluster(t)
	s := c.serve(t, "server")
	c.fill(t, s)
	checkCommands(t, c.world, s, c.boards[0].board, c.client)
}

// TestRedisSentinelCommands: the commands that use Redis work with a Redis that sentinels watch.
func TestRedisSentinelCommands(t *testing.T) {
	sentinel := testenv.PrivateRedisSentinel(t)
	w := worldOn(t, testenv.MySQL(t), "")
	w.redisURL = sentinel.URL
	s := w.serve(t, "server")
	s.fill(t, "board", 500, leaderboard.Rules{Policy: leaderboard.PolicyLatest, TopN: 100})
	direct := redis.NewClient(&redis.Options{Addr: sentinel.Nodes[0].Addr})
	defer direct.Close()
	checkCommands(t, w, s, "board", direct)
}

// checkCommands runs each command that goes to Redis.
func checkCommands(t *testing.T, w *world, s *server, board string, client redis.UniversalClient) {
	t.Helper()
	for _, args := range [][]string{
		{"refresh", board, "--kind", "full"}, {"refresh", "--all"}, {"verify", board}, {"verify", "--all"},
	} {
		p := start(t, strings.Join(args, " "), w.environment(), args...)
		if status := p.awaitExit(t); status.ExitStatus() != 0 {
			t.Errorf("%s: exit status %d: %s%s", args, status.ExitStatus(), p.out.text(), p.err.text())
		}
	}
	var members []redis.Z
	for i := range 3000 {
		members = append(members, redis.Z{Member: fmt.Sprint("z", i), Score: float64(i)})
	}
	if err := client.ZAdd(t.Context(), "old:scores", members...).Err(); err != nil {
		t.Fatal(err)
	}
	s.putBoard(t, "imported", leaderboard.Rules{})
	p := start(t, "import", []string{"LEADERBOARD_URL=" + s.url, "LEADERBOARD_KEY=" + adminKey},
		"import", "imported", "--redis", w.redisURL, "--zset", "old:scores")
	if status := p.awaitExit(t); status.ExitStatus() != 0 {
		t.Errorf("import: exit status %d: %s", status.ExitStatus(), p.err.text())
	}
	if page, err := s.top(t.Context(), "imported", 0, 1); err != nil || page.Total != 3000 || page.Entries[0].Member != "z2999" {
		t.Errorf("imported: %+v, %v", page, err)
	}
	ready, err := s.Ready(t.Context())
	if err != nil {
		t.Errorf("ready: %+v, %v", ready, err)
	}
}
