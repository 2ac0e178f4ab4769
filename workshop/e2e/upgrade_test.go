package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// upgrade has servers of the last release and of the version after it on one database and one Redis, under load.
type upgrade struct {
	*world
	released, next string // programs

	servers             atomic.Pointer[[]*server] // that are up and ready
	asked, added, stale atomic.Int64              // requests; additions, and additions that were read in a stale answer
	acked               chan struct{}             // one for each addition, if it has room

	mu   sync.Mutex
	errs []error
}

// TestUpgrade rolls this version out over the last release, and back, under load. Today's program has one more migration,
// which gives every table a column, so both meet a newer schema: old servers continue while new ones migrate, and start on
// the newer schema; a new server waits for its migration and says so. With both at work, a write through one is read
// through the other, a request with one idempotency key through both counts once with equal answers, and the copies and
// ranks of both are equal. Copies of another format are left alone (promise F3).
func TestUpgrade(t *testing.T) {
	t.Parallel()
	released, next := releasedProgram(t), nextProgram(t)
	databases := map[string]func(testing.TB) string{"mysql": testenv.MySQL}
	if testenv.Size(false, true) {
		databases["mariadb"] = testenv.MariaDB
	}
	for name, dsn := range databases {
		t.Run(name, func(t *testing.T) {
			u := &upgrade{world: worldBefore(t, dsn(t), testenv.Redis(t)), released: released, next: next, acked: make(chan struct{}, 1<<20)}
			u.run(t)
		})
	}
}

func (u *upgrade) run(t *testing.T) {
	u.must(t, u.released, "migrate", "up")
	before := u.serveReady(t, u.released, "server of the release")
	want := before.fill(t, "race", 2000, leaderboard.Rules{Policy: leaderboard.PolicyLatest, TopN: 500})
	before.putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum})
	u.servers.Store(&[]*server{before})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var clients sync.WaitGroup
	for id := range 8 {
		clients.Go(func() { u.load(ctx, id) })
	}
	u.await(t)

	waits := u.launch(t, u.next, "new server without --migrate")
	waits.err.awaitLog(t, "the schema waits for MySQL", "error")
	if h, err := waits.Ready(t.Context()); status(err) != http.StatusServiceUnavailable || !strings.Contains(fmt.Sprint(h), "migrate up") {
		t.Errorf("before its migration the new server says %+v, %v", h, err)
	}
	u.await(t)
	after := u.serveReady(t, u.next, "new server with --migrate", "--migrate")
	waits.awaitReady(t)
	u.servers.Store(&[]*server{before, after, waits})
	u.await(t)
	if err := before.health(t.Context()); err != nil {
		t.Errorf("the old server on the new schema: %s", err)
	}
	u.compare(t, before, after, want)
	u.otherFormats(t, before, after)

	u.stop(t, after, before, waits)
	back := u.serveReady(t, u.released, "server of the release on the new schema")
	u.servers.Store(&[]*server{back, waits})
	u.await(t)
	u.compare(t, waits, back, want)
	u.stop(t, waits, back)
	if p := u.start(t, u.released, "migrate down of the release", "migrate", "down", "--yes"); p.awaitExit(t).ExitStatus() == 0 || !strings.Contains(p.err.awaitEnd(t), "newer than this program") {
		t.Errorf("the release takes a migration back that it does not have: %s", p.err.text())
	}
	u.must(t, u.next, "migrate", "down", "--yes")
	u.await(t)
	cancel()
	clients.Wait()
	if err := errors.Join(u.errs...); err != nil {
		t.Error(err)
	}
	if got := u.scores(t, "sums")["m"]; got != u.added.Load() {
		t.Errorf("the sum is %d, %d additions were acknowledged", got, u.added.Load())
	}
	if stale := u.stale.Load(); stale > u.added.Load()/10 {
		t.Errorf("%d of %d additions were read in a stale answer", stale, u.added.Load())
	}
	t.Logf("%d requests, %d additions, each sent twice", u.asked.Load(), u.added.Load())
}

// start starts a program on the world.
func (u *upgrade) start(t *testing.T, program, name string, args ...string) *process {
	t.Helper()
	return startProgram(t, program, name, u.environment(), args...)
}

// must runs a command to its end.
func (u *upgrade) must(t *testing.T, program string, args ...string) {
	t.Helper()
	p := u.start(t, program, strings.Join(args, " "), args...)
	if status := p.awaitExit(t); status.ExitStatus() != 0 {
		t.Fatalf("%s: status %d: %s", p.name, status.ExitStatus(), p.err.awaitEnd(t))
	}
}

// launch starts a server and does not wait until it is ready.
func (u *upgrade) launch(t *testing.T, program, name string, args ...string) *server {
	t.Helper()
	p := u.start(t, program, name, append([]string{"serve", "--resident-memory", "0"}, args...)...) // so that copies are read
	return &server{p, newAPI(t, p.err.awaitLog(t, "serving", "addr"))}
}

func (u *upgrade) serveReady(t *testing.T, program, name string, args ...string) *server {
	t.Helper()
	s := u.launch(t, program, name, args...)
	s.awaitReady(t)
	return s
}

// stop ends a server while the given others continue.
func (u *upgrade) stop(t *testing.T, s *server, others ...*server) {
	t.Helper()
	u.servers.Store(&others)
	s.signal(syscall.SIGTERM)
	if status := s.awaitExit(t); status.ExitStatus() != 0 {
		t.Errorf("%s ended with %d", s.name, status.ExitStatus())
	}
}

// await waits until more of the load was acknowledged.
func (u *upgrade) await(t *testing.T) {
	t.Helper()
	for range len(u.acked) {
		<-u.acked
	}
	for range testenv.Size(100, 5000) {
		await(t, u.acked, "additions go on")
	}
}

// load adds to a sum again and again, each time through two servers with one idempotency key, and reads the sum through the
// second.
func (u *upgrade) load(ctx context.Context, id int) {
	for i := 0; ctx.Err() == nil; i++ {
		err := u.addTwice(context.WithoutCancel(ctx), id+i, fmt.Sprintf("key-%d-%d", id, i))
		if err == nil {
			select {
			case u.acked <- struct{}{}:
			default:
			}
			continue
		}
		u.mu.Lock()
		if len(u.errs) < 5 {
			u.errs = append(u.errs, err)
		}
		u.mu.Unlock()
		return
	}
}

func (u *upgrade) addTwice(ctx context.Context, n int, key string) error {
	request := client.SubmitRequest("sums", []leaderboard.Submission{scored("m", 1)}, client.SubmitOptions{IdempotencyKey: key})
	var first, second *client.Answer
	if err := u.try(n, func(s *server) (err error) { first, err = s.Do(ctx, request); return err }); err != nil {
		return fmt.Errorf("add: %w", err)
	}
	sum := u.added.Add(1)
	if err := u.try(n+1, func(s *server) (err error) { second, err = s.Do(ctx, request); return err }); err != nil {
		return fmt.Errorf("add again: %w", err)
	}
	again := []byte(`,"replayed":true`) // the previous release does not say so, and the first may be a repetition too
	if !bytes.Equal(bytes.Replace(first.Body, again, nil, 1), bytes.Replace(second.Body, again, nil, 1)) {
		return fmt.Errorf("the answers to one key are %s and %s", first.Body, second.Body)
	}
	var r client.Receipt
	if err := first.Decode(&r); err != nil {
		return err
	}
	var m client.MemberEntry
	err := u.try(n+1, func(s *server) (err error) {
		m, err = s.Member(ctx, "sums", "m", client.ReadQuery{MinSeq: r.Seq})
		return err
	})
	if err != nil || m.Seq < r.Seq || r.Results[0].Score == nil || m.Score < *r.Results[0].Score {
		return fmt.Errorf("after %+v (addition %d) another server says %+v, %w", r, sum, m, err)
	}
	if m.Stale {
		u.stale.Add(1)
	}
	return nil
}

// try asks a server, and the next ones when no answer comes: it may be about to end.
func (u *upgrade) try(n int, ask func(*server) error) (err error) {
	u.asked.Add(1)
	for i := range 6 {
		servers := *u.servers.Load()
		if err = ask(servers[(n+i)%len(servers)]); status(err) != 0 {
			return err
		}
	}
	return err
}

// health returns an error unless the server is ready.
func (s *server) health(ctx context.Context) error { _, err := s.Ready(ctx); return err }

// compare writes through each of two servers, has each build the copy, and compares their answers of all kinds.
func (u *upgrade) compare(t *testing.T, a, b *server, want ranking) {
	t.Helper()
	for i, pair := range [][2]*server{{a, b}, {b, a}} {
		score := 1_000_000 + int64(i)
		if _, err := freshlyRead(t.Context(), pair[0], pair[1], score); err != nil {
			t.Errorf("written through %s, read through %s: %s", pair[0].name, pair[1].name, err)
		}
		pair[0].mustRebuild(t, "race")
		for _, s := range pair {
			eventually(t, s.name+" finds the copy right", func() error { _, err := s.verify(t.Context(), "race"); return err })
		}
		u.compareAnswers(t, pair[0], pair[1])
	}
	p, err := b.top(t.Context(), "race", 1, 100)
	if err != nil || p.Entries[0].Member != want[0].Member || p.Total != int64(len(want))+1 {
		t.Errorf("below the writer there is %+v (%v), want %+v", p, err, want[0])
	}
}

// freshlyRead is writeAndRead, three times at most, until no answer is stale.
func freshlyRead(ctx context.Context, a, b *server, score int64) (source leaderboard.Source, err error) {
	for range 3 {
		var stale bool
		if source, stale, err = writeAndRead(ctx, a.api, b.api, "writer", score); err != nil || !stale {
			return source, err
		}
		score++
	}
	return source, errors.New("each time an answer was stale")
}

// compareAnswers asks two servers for the same ranks, in every way.
func (u *upgrade) compareAnswers(t *testing.T, a, b *server) {
	t.Helper()
	ctx := t.Context()
	for what, ask := range map[string]func(*server, client.ReadQuery) (any, *client.State, error){
		"top": func(s *server, q client.ReadQuery) (any, *client.State, error) {
			p, err := s.Top(ctx, "race", client.TopQuery{Limit: 100, ReadQuery: q})
			return &p, &p.State, err
		},
		"deep": func(s *server, q client.ReadQuery) (any, *client.State, error) {
			p, err := s.Top(ctx, "race", client.TopQuery{Limit: 100, Offset: 1500, ReadQuery: q})
			return &p, &p.State, err
		},
		"member": func(s *server, q client.ReadQuery) (any, *client.State, error) {
			m, err := s.Member(ctx, "race", "m01000", q)
			return &m, &m.State, err
		},
		"around": func(s *server, q client.ReadQuery) (any, *client.State, error) {
			p, err := s.Around(ctx, "race", "m01900", 5, 5, q)
			return &p, &p.State, err
		},
		"ranks": func(s *server, q client.ReadQuery) (any, *client.State, error) {
			r, err := s.Ranks(ctx, "race", []string{"m00001", "m01999", "writer", "nobody"}, q)
			return &r, &r.State, err
		},
	} {
		for _, mode := range []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense} {
			seq := u.seqOf(t, "race")
			fresh := func(s *server) (answer any) {
				eventually(t, fmt.Sprintf("%s gives a fresh %s, %s", s.name, what, mode), func() error {
					got, state, err := ask(s, client.ReadQuery{Mode: mode, MinSeq: seq})
					if err != nil {
						t.Fatal(err)
					}
					if state.Stale {
						return fmt.Errorf("it is %+v", got)
					}
					state.Source = "" // which layer knew it
					answer = got
					return nil
				})
				return answer
			}
			if x, y := fresh(a), fresh(b); !reflect.DeepEqual(x, y) {
				t.Errorf("%s, %s:\n%s: %+v\n%s: %+v", what, mode, a.name, x, b.name, y)
			}
		}
	}
}

// seqOf returns the seq of a board's only period.
func (w *world) seqOf(t *testing.T, board string) (seq int64) {
	t.Helper()
	w.queryRow(t, "SELECT p.last_seq FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = '"+board+"'", &seq)
	return seq
}

// otherFormats changes the format number of the copy that both servers use: neither reads it, a newer copy is left alone,
// an older one is replaced. Each reads a new write, which is in no answer in its memory.
func (u *upgrade) otherFormats(t *testing.T, a, b *server) {
	t.Helper()
	base, err := u.base(t.Context(), u.periodOf(t, "race"))
	if err != nil {
		t.Fatal(err)
	}
	format := strings.TrimLeft(u.redis.HGet(t.Context(), base+"meta", "format").Val(), "0123456789")
	for _, s := range []*server{a, b} {
		for number, states := range map[string][]string{"0": {"done", "shared"}, "9": {"refused"}} { // shared: the other server has done it
			if err := u.redis.HSet(t.Context(), base+"meta", "format", number+format).Err(); err != nil {
				t.Fatal(err)
			}
			source, err := freshlyRead(t.Context(), a, s, 2_000_000+time.Now().UnixMicro()&0xffff)
			if err != nil || number == "9" && source == leaderboard.SourceRedis {
				t.Errorf("a copy of format %s: %s answers from %s, %v", number, s.name, source, err)
			}
			if r, _ := s.rebuild(t.Context(), "race"); !slices.Contains(states, string(r.State)) {
				t.Errorf("a copy of format %s: a rebuild by %s is %+v, want %v", number, s.name, r, states)
			}
		}
	}
	if err := u.redis.Del(t.Context(), base+"meta").Err(); err != nil {
		t.Fatal(err)
	}
}
