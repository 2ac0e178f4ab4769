package e2e

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

const (
	chaosPace    = 20 * time.Millisecond // between the requests of a client
	chaosPause   = 1500 * time.Millisecond
	chaosMembers = 200
)

// chaos is two servers whose processes, MySQL and Redis are killed and stopped at random.
type chaos struct {
	*world
	stores  map[string]*devserver.Server
	servers [2]atomic.Pointer[server]

	mu      sync.Mutex
	started []*server   // all of them, the dead too
	answers map[int]int // by status, 0 for none
	faults  []error     // answers 500, or 400
}

// TestNoFaultIsA500 kills (kill -9) and stops (SIGSTOP) two servers, MySQL and Redis at random, several at once, while clients
// send every kind of request. No answer is a 500, which would say that the program has a fault. If an answer is a 500, the logs
// of all servers are kept (promise D6).
func TestNoFaultIsA500(t *testing.T) {
	t.Parallel()
	mysql, redis := testenv.PrivateMySQL(t), testenv.PrivateRedis(t)
	c := &chaos{world: worldOn(t, databaseOn(t, mysql), redis.URL), answers: map[int]int{}}
	c.stores = map[string]*devserver.Server{"MySQL": mysql, "Redis": redis}
	for i := range c.servers {
		c.begin(t, i)
		c.servers[i].Load().awaitReady(t)
	}
	for _, board := range []string{"best", "sum"} {
		c.servers[0].Load().fill(t, board, chaosMembers, leaderboard.Rules{
			Policy: leaderboard.Policy(board), TopN: 100, Windows: []leaderboard.Window{"all_time", "hour"},
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Size(8*time.Second, 300*time.Second))
	defer cancel()
	seed := uint64(time.Now().UnixNano())
	var clients sync.WaitGroup
	for id := range 8 {
		clients.Go(func() { c.client(ctx, rand.New(rand.NewPCG(seed, uint64(id))), id) })
	}
	happened := c.disturb(ctx, t, rand.New(rand.NewPCG(seed, 99)))
	clients.Wait()
	for i := range c.servers {
		c.servers[i].Load().awaitReady(t)
	}
	t.Logf("seed %d, answers by status: %v, faults: %v", seed, c.answers, happened)
	if c.answers[http.StatusOK] == 0 {
		t.Error("nothing was answered")
	}
	if len(c.faults) > 0 {
		t.Errorf("%d answers are 500 or 400, the first: %s\n%s", len(c.faults), c.faults[0], c.keepLogs(t))
	}
}

// begin starts a server in a place, without waiting until it is ready.
func (c *chaos) begin(t *testing.T, i int) {
	t.Helper()
	p := start(t, fmt.Sprintf("server %d.%d", i, len(c.started)), c.environment(), "serve")
	s := &server{p, newAPI(t, p.err.awaitLog(t, "serving", "addr"))}
	c.started = append(c.started, s)
	c.servers[i].Store(s)
}

// disturb kills or stops what works, and brings back what does not, until ctx ends. In the end all works.
func (c *chaos) disturb(ctx context.Context, t *testing.T, random *rand.Rand) map[string]int {
	t.Helper()
	names, happened, back := []string{"MySQL", "Redis", "0", "1"}, map[string]int{}, map[string]func(){}
	restore := func(name string) {
		back[name]()
		delete(back, name)
	}
	for {
		select {
		case <-ctx.Done():
			for _, name := range names {
				if back[name] != nil {
					restore(name)
				}
			}
			return happened
		case <-time.After(time.Duration(random.Int64N(int64(chaosPause)))):
		}
		name, kill := names[random.IntN(len(names))], random.IntN(2) == 0
		switch {
		case back[name] == nil:
			back[name] = c.harm(t, name, kill)
			happened[name]++
		case len(name) == 1 && back["MySQL"] != nil:
			restore("MySQL") // a server starts when MySQL answers
		default:
			restore(name)
		}
	}
}

// harm kills or stops something, and returns how it comes back.
func (c *chaos) harm(t *testing.T, name string, kill bool) (back func()) {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if store := c.stores[name]; store != nil {
		if kill {
			check(store.Kill())
			return func() { check(store.Restart(t.Context())) }
		}
		check(store.Pause())
		return func() { check(store.Resume()) }
	}
	i := int(name[0] - '0')
	s := c.servers[i].Load()
	if kill {
		s.kill9(t)
		return func() { c.begin(t, i) }
	}
	s.signal(syscall.SIGSTOP)
	await(t, s.stopped, "the server stops")
	return func() { s.signal(syscall.SIGCONT) }
}

// client sends one request after the other.
func (c *chaos) client(ctx context.Context, random *rand.Rand, id int) {
	pace := time.NewTicker(chaosPace)
	defer pace.Stop()
	kinds := chaosRequests()
	for i := 0; ctx.Err() == nil; i++ {
		<-pace.C
		a := c.servers[random.IntN(len(c.servers))].Load().api
		board, member := []string{"best", "sum"}[random.IntN(2)], fmt.Sprintf("m%05d", random.IntN(chaosMembers))
		asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		var err error
		if kind := random.IntN(soakKinds + len(kinds)); kind < soakKinds {
			err = soakRequest(asked, a, kind, board, member, fmt.Sprintf("key-%d-%d", id, i))
		} else {
			if err = kinds[kind-soakKinds](asked, a, board, member); err != nil {
				err = fmt.Errorf("kind %d of chaosRequests: %w", kind-soakKinds, err)
			}
		}
		cancel()
		c.mu.Lock()
		c.answers[status(err)]++
		if code := status(err); code == http.StatusInternalServerError || code == http.StatusBadRequest { // 400: this test has a fault
			c.faults = append(c.faults, err)
		}
		c.mu.Unlock()
	}
}

// all reads a list to its end.
func all[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// second returns the error of an answer.
func second[T any](_ T, err error) error { return err }

// chaosRequests returns the kinds of requests that soakRequest lacks.
func chaosRequests() []func(ctx context.Context, a *api, board, member string) error {
	return []func(ctx context.Context, a *api, board, member string) error{
		func(ctx context.Context, a *api, board, _ string) error {
			return second(a.Verify(ctx, board, client.VerifyQuery{}))
		},
		func(ctx context.Context, a *api, board, member string) error {
			_, err := a.SubmitMultiBoard(ctx, []leaderboard.BoardSubmission{
				{Board: "best", Submission: scored(member, 7)}, {Board: "sum", Submission: scored(member, 7)},
			}, client.SubmitOptions{})
			return err
		},
		func(ctx context.Context, a *api, board, member string) error {
			return second(a.RemoveMember(ctx, board, member, client.RemoveOptions{}))
		},
		func(ctx context.Context, a *api, _, member string) error {
			_, _, err := a.PutBoard(ctx, member, leaderboard.Rules{Policy: leaderboard.PolicyBest})
			return errors.Join(err, a.DeleteBoard(ctx, member))
		},
		func(ctx context.Context, a *api, board, _ string) error {
			return second(a.PatchBoard(ctx, board, map[string]any{"title": board}, ""))
		},
		func(ctx context.Context, a *api, _, _ string) error { return all(a.Boards(ctx, nil)) },
		func(ctx context.Context, a *api, board, _ string) error { return all(a.Periods(ctx, board, "hour")) },
		func(ctx context.Context, a *api, _, member string) error {
			k, err := a.CreateKey(ctx, client.KeyRequest{Name: member, Scope: leaderboard.ScopeRead})
			if err == nil {
				err = a.RevokeKey(ctx, k.ID)
			}
			return err
		},
		func(ctx context.Context, a *api, _, _ string) error { return all(a.Keys(ctx)) },
		func(ctx context.Context, a *api, _, _ string) error { return all(a.Endpoints(ctx)) },
		func(ctx context.Context, a *api, _, member string) error { return second(a.ForgetMember(ctx, member)) },
		func(ctx context.Context, a *api, _, member string) error { return second(a.MemberData(ctx, member)) },
		func(ctx context.Context, a *api, _, member string) error {
			return second(a.AddFriends(ctx, member, []string{"m00001x", "m00002x"}))
		},
		func(ctx context.Context, a *api, board, member string) error {
			return second(a.FriendRanks(ctx, board, member, 10, 0, client.ReadQuery{}))
		},
		func(ctx context.Context, a *api, board, _ string) error {
			return second(a.FindMembers(ctx, board, client.FindQuery{Name: "m000"}))
		},
		func(ctx context.Context, a *api, board, _ string) error {
			return second(a.Changes(ctx, board, client.ChangesQuery{}))
		},
		func(ctx context.Context, a *api, board, _ string) error { return second(a.Activity(ctx, board, 24)) },
		func(ctx context.Context, a *api, board, _ string) error {
			return second(a.Race(ctx, board, client.RaceQuery{}))
		},
		func(ctx context.Context, a *api, board, member string) error {
			return second(a.History(ctx, board, member, client.HistoryQuery{}))
		},
		func(ctx context.Context, a *api, board, member string) error {
			return all(a.Submissions(ctx, board, member))
		},
		func(ctx context.Context, a *api, _, member string) error { return second(a.BarMember(ctx, member)) },
		func(ctx context.Context, a *api, _, _ string) error { return second(a.Status(ctx)) },
		func(ctx context.Context, a *api, _, member string) error {
			return second(a.Standings(ctx, member, client.BoardsQuery{Boards: []string{"best", "sum"}}))
		},
		func(ctx context.Context, a *api, _, _ string) error {
			for _, err := range a.Audit(ctx, client.AuditQuery{}) {
				return err // one page
			}
			return nil
		},
	}
}

// keepLogs writes the logs of all servers to a folder, and returns their lines about failed requests.
func (c *chaos) keepLogs(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "leaderboard-chaos-")
	if err != nil {
		t.Fatal(err)
	}
	said := []string{"the logs are in " + dir}
	for _, s := range c.started {
		text := s.err.text()
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(s.name, " ", "-")+".log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, `"request failed"`) || strings.Contains(line, `"request panicked"`) {
				said = append(said, s.name+": "+strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(said, "\n")
}
