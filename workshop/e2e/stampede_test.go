package e2e

import (
	"errors"
	"fmt"
	"net/http/httptrace"
	"sync"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// stampedeBoards returns how many boards are read.
func stampedeBoards() int { return testenv.Size(3, 20) }

// stampede has three servers on one Redis, and boards with readers.
type stampede struct {
	*world
	servers []*server
	boards  []string
	readers []*readers
}

func newStampede(t *testing.T) *stampede {
	t.Helper()
	// FLUSHALL needs a separate Redis.
	s := &stampede{world: worldOn(t, testenv.MySQL(t), testenv.PrivateRedis(t).URL)}
	for i := range 3 {
		s.servers = append(s.servers, s.serve(t, fmt.Sprintf("server %d", i), "--resident-memory=0")) // whose reads need the copies
	}
	for i := range stampedeBoards() {
		board := fmt.Sprintf("board-%d", i)
		want := s.servers[0].fill(t, board, 3000, leaderboard.Rules{TopN: 1000})
		s.boards = append(s.boards, board)
		s.readers = append(s.readers, read(t, 8, 0, board, want, s.servers...))
	}
	s.awaitCopies(t)
	return s
}

// awaitCopies waits until every board has a copy, readers continue, and no run is under way.
func (s *stampede) awaitCopies(t *testing.T) {
	t.Helper()
	for i, board := range s.boards {
		eventually(t, "a copy of "+board, func() error {
			if _, err := s.servers[0].verify(t.Context(), board); err != nil {
				return err
			}
			runs, err := s.servers[0].runs(t.Context(), board)
			for _, r := range runs {
				if r.State == "running" {
					err = errors.Join(err, fmt.Errorf("run %d is under way", r.ID))
				}
			}
			return err
		})
		s.readers[i].awaitMore(t, 50)
	}
}

// builds counts the full builds of a board that were carried out, by all servers.
func (s *stampede) builds(t *testing.T, board string) int {
	t.Helper()
	runs, err := s.servers[0].runs(t.Context(), board)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range runs {
		if r.State == "done" && r.Kind == "full" {
			n++
		}
	}
	return n
}

// allBuilds returns builds per board.
func (s *stampede) allBuilds(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, board := range s.boards {
		n[board] = s.builds(t, board)
	}
	return n
}

func (s *stampede) flush(t *testing.T) {
	t.Helper()
	if err := s.redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

// TestStampede empties Redis under readers at three servers. Every answer is right all the time, and each board is
// built once, or twice when Redis is emptied again in the middle of it (promises B3, C1).
func TestStampede(t *testing.T) {
	s := newStampede(t)
	for round := range 3 {
		before := s.allBuilds(t)
		s.flush(t)
		s.awaitCopies(t)
		for board, n := range s.allBuilds(t) {
			if n -= before[board]; n != 1 {
				t.Errorf("round %d: %s was built %d times after one FLUSHALL, want 1", round, board, n)
			}
		}
	}
	before := s.allBuilds(t)
	s.flush(t)
	period := s.periodOf(t, s.boards[0])
	eventually(t, "a build begins", func() error {
		n, _, _, err := s.temporaryKeys(t.Context(), period)
		if seq, _ := s.copySeq(t.Context(), period); err == nil && n == 0 && seq == "" {
			err = errNoCopy
		}
		return err
	})
	s.flush(t)
	s.awaitCopies(t)
	for board, n := range s.allBuilds(t) {
		if n -= before[board]; n < 1 || n > 2 {
			t.Errorf("%s was built %d times after FLUSHALL twice, want 1 or 2", board, n)
		}
	}
	for _, r := range s.readers {
		r.check(t)
	}
}

// TestForcedRebuilds: 500 rebuilds requested at once from three servers are all answered and cost two builds at most.
func TestForcedRebuilds(t *testing.T) {
	w := newWorld(t)
	s := &stampede{world: w}
	for i := range 3 {
		s.servers = append(s.servers, w.serve(t, fmt.Sprintf("server %d", i), "--key-quota", "20000/500000/0")) // 500 at once are a quota
	}
	s.servers[0].fill(t, "demo", 3000, leaderboard.Rules{TopN: 3000})
	const demands = 500
	warm(t, s.servers, demands)

	var sent burst
	runs, errs := make([]client.Run, demands), make([]error, demands)
	var all sync.WaitGroup
	for i := range demands {
		all.Go(func() {
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent.note() }})
			runs[i], errs[i] = s.servers[i%len(s.servers)].rebuild(ctx, "demo")
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	states, different := map[leaderboard.RunState]int{}, map[int64]bool{}
	for _, r := range runs {
		states[r.State]++
		different[r.ID] = true
		if r.State != "done" && r.State != "shared" || r.ToSeq != 3000 {
			t.Errorf("a demand was answered with %+v", r)
		}
	}
	t.Logf("sent within %s, runs as answered: %v", sent.took(), states)
	if most := (2 + int(sent.took()/time.Second)) * len(s.servers); len(different) > most { // the run under way and the next
		t.Errorf("%d demands made %d runs, want at most %d: they do not share", demands, len(different), most)
	}
	// Builds begin at least a second apart, and a request after the second one began needs a third.
	if n, most := s.builds(t, "demo"), 2+int(sent.took()/time.Second); n < 1 || n > most {
		t.Errorf("%d demands within %s made %d builds, want 1 to %d", demands, sent.took(), n, most)
	}
	if v, err := s.servers[1].verify(t.Context(), "demo"); err != nil || v.Checked != 3000 {
		t.Errorf("the copy: %+v, %v", v, err)
	}
}

// warm opens the connections of n concurrent requests.
func warm(t *testing.T, servers []*server, n int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := servers[i%len(servers)].Live(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// burst is when requests were sent.
type burst struct {
	mu          sync.Mutex
	first, last time.Time
}

func (b *burst) note() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last = time.Now(); b.first.IsZero() {
		b.first = b.last
	}
}

func (b *burst) took() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last.Sub(b.first).Round(time.Millisecond)
}
