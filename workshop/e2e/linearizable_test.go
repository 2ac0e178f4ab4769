package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"leaderboard/client"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

const (
	registers    = 5                      // members of the board, whose sums are read and written
	checkLimit   = 30 * time.Second       // for the search for an order; if there is an order it takes no second
	nemesisPause = 150 * time.Millisecond // between faults
)

// operation is a request of a client: an addition to a member if delta is not 0, otherwise a read of one member, or of the top.
type operation struct {
	member int // -1: the top
	delta  int64
}

// observation is the answer that a client got. 0 is a member without an entry.
type observation struct {
	seq      int64 // 0 when the answer names none: there is no entry
	previous int64 // of an addition
	sums     [registers]int64
}

// placed is a state of the model: the board, and how many reads of that state have their place in the order.
type placed struct {
	observation
	reads int
}

// registersModel is a board as if one client at a time used one server: additions are applied one after another, each with
// the next seq, and a read shows exactly the additions before it. reads is the number of reads that name each seq. An
// addition comes after all reads of the previous seq, since they have no other place; so the search need not try all orders
// of concurrent operations.
func registersModel(reads map[int64]int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return placed{} },
		Step: func(state, input, output any) (bool, any) {
			s, in, out := state.(placed), input.(operation), output.(observation)
			switch {
			case in.delta != 0:
				before, whole := s.sums[in.member], s.reads == reads[s.seq]
				s.seq, s.reads = s.seq+1, 0
				s.sums[in.member] += in.delta
				return whole && out.seq == s.seq && out.previous == before && out.sums[in.member] == s.sums[in.member], s
			case in.member < 0:
				s.reads++
				return out.seq == s.seq && out.sums == s.sums, s
			case out.seq == 0:
				return s.sums[in.member] == 0, s
			default:
				s.reads++
				return out.seq == s.seq && out.sums[in.member] == s.sums[in.member], s
			}
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
	}
}

// linearity is clients of two servers, and the answers that they got.
type linearity struct {
	*world
	redisServer *devserver.Server
	servers     [2]atomic.Pointer[server]
	newest      atomic.Int64 // seq that anybody has heard of
	began       time.Time

	mu       sync.Mutex
	history  []porcupine.Operation
	repeated int // writes that were sent again, because their outcome was open
	stale    int // reads that said that they are
	failed   int // reads without an answer
	errs     []error
}

// TestLinearizable: clients of two servers add to sums and read them, with min_seq from the newest seq that any of them
// has seen. Meanwhile servers are killed and paused, and Redis is emptied and paused. All answers fit one order that agrees with
// real time, and plain reads of one server never go back (promise A5).
func TestLinearizable(t *testing.T) {
	redis := testenv.PrivateRedis(t)
	for seed := range uint64(testenv.Size(1, 20)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			l := &linearity{world: worldOn(t, testenv.MySQL(t), redis.URL), redisServer: redis, began: time.Now()}
			for i := range l.servers {
				l.servers[i].Store(l.serve(t, fmt.Sprintf("server %d.0", i)))
			}
			l.servers[0].Load().putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum})
			var clients sync.WaitGroup
			for id := range testenv.Size(16, 50) {
				clients.Go(func() { l.client(t.Context(), id, seed) })
			}
			done := make(chan struct{})
			go func() { clients.Wait(); close(done) }()
			faults := l.disturb(t, rand.New(rand.NewPCG(seed, 99)), done)
			if err := errors.Join(l.errs...); err != nil {
				t.Error(err)
			}
			t.Logf("%d operations, %d repeated writes, %d stale reads, %d failed reads, faults: %v", len(l.history), l.repeated, l.stale, l.failed, faults)
			if len(l.history) < 500 {
				t.Error("too little was done")
			}
			l.check(t)
		})
	}
}

// check searches for the order, and writes a picture of the history if there is no such order.
func (l *linearity) check(t *testing.T) {
	t.Helper()
	reads := map[int64]int{}
	for _, o := range l.history {
		in, out := o.Input.(operation), o.Output.(observation)
		if in.member < 0 || in.delta == 0 && out.seq > 0 {
			reads[out.seq]++
		}
	}
	model := registersModel(reads)
	result, info := porcupine.CheckOperationsVerbose(model, l.history, checkLimit)
	if result == porcupine.Ok {
		return
	}
	picture := filepath.Join(os.TempDir(), "leaderboard-history.html")
	if err := porcupine.VisualizePath(model, info, picture); err != nil {
		t.Log(err)
	}
	t.Errorf("the history is not linearizable: %s, see %s; %s", result, picture, l.explain())
}

// explain names the first two operations that contradict each other: answers name their seq, so their order is known.
func (l *linearity) explain() string {
	place := func(o *porcupine.Operation) int64 {
		seq := 2 * o.Output.(observation).seq
		if o.Input.(operation).delta == 0 {
			seq++ // a read comes after the addition that it shows
		}
		return seq
	}
	all := slices.Clone(l.history)
	slices.SortFunc(all, func(a, b porcupine.Operation) int { return cmp.Compare(place(&a), place(&b)) })
	var sums [registers]int64
	seq := int64(0)
	var last, latest *porcupine.Operation // the latest beginning so far: before the present place, and overall
	for i := range all {
		o := &all[i]
		if i > 0 && place(o) > place(&all[i-1]) {
			last = latest
		}
		in, out := o.Input.(operation), o.Output.(observation)
		if in.delta != 0 {
			if seq++; out.seq != seq || out.previous != sums[in.member] {
				return fmt.Sprintf("after seq %d with %v comes %+v → %+v", seq-1, sums, in, out)
			}
			sums[in.member] += in.delta
		}
		switch {
		case out.seq == 0 && in.member >= 0:
		case in.member < 0 && out.sums != sums, in.member >= 0 && out.sums[in.member] != sums[in.member]:
			return fmt.Sprintf("at seq %d with %v: %+v → %+v", seq, sums, in, out)
		case last != nil && o.Return < last.Call:
			return fmt.Sprintf("%+v → %+v of %d had ended, at %d, when %+v → %+v of %d began, at %d", in, out, o.ClientId, o.Return, last.Input, last.Output, last.ClientId, last.Call)
		}
		if out.seq > 0 && (latest == nil || o.Call > latest.Call) {
			latest = o
		}
	}
	return "there is an order"
}

// disturb disturbs the servers and Redis in turn until the clients have finished, with each disturbance at least once.
func (l *linearity) disturb(t *testing.T, random *rand.Rand, done <-chan struct{}) map[string]int {
	t.Helper()
	faults := map[string]func(i, n int){
		"kill": func(i, n int) {
			l.servers[i].Load().kill9(t)
			l.servers[i].Store(l.serve(t, fmt.Sprintf("server %d.%d", i, n)))
		},
		"pause": func(i, _ int) {
			s := l.servers[i].Load()
			s.signal(syscall.SIGSTOP)
			await(t, s.stopped, "the server stops")
			<-time.After(nemesisPause)
			s.signal(syscall.SIGCONT)
		},
		"flush": func(int, int) {
			if err := l.redis.FlushAll(t.Context()).Err(); err != nil {
				t.Error(err)
			}
		},
		"pause Redis": func(int, int) {
			if err := errors.Join(l.redisServer.Pause(), pauseFor(nemesisPause), l.redisServer.Resume()); err != nil {
				t.Error(err)
			}
		},
	}
	names := []string{"kill", "pause", "flush", "pause Redis"}
	happened := map[string]int{}
	for n := 1; ; n++ {
		select {
		case <-done:
			return happened
		case <-time.After(nemesisPause):
		}
		if n%len(names) == 1 {
			random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		}
		name := names[n%len(names)]
		faults[name](random.IntN(len(l.servers)), n)
		happened[name]++
	}
}

func pauseFor(d time.Duration) error { <-time.After(d); return nil }

// client does operations one after another, each at a random server.
func (l *linearity) client(ctx context.Context, id int, seed uint64) {
	random := rand.New(rand.NewPCG(seed, uint64(id)))
	seen := map[*server]int64{} // seq of plain reads
	for i := range testenv.Size(60, 100) {
		<-time.After(time.Duration(random.IntN(40)) * time.Millisecond)
		s := l.servers[random.IntN(len(l.servers))].Load()
		op := operation{member: random.IntN(registers)}
		switch random.IntN(8) {
		case 0, 1, 2:
			op.delta = 1 + random.Int64N(99)
			l.add(ctx, id, op, fmt.Sprintf("key-%d-%d", id, i))
		case 3:
			l.readPlain(ctx, s, seen)
		case 4, 5:
			op.member = -1
			fallthrough
		default:
			l.read(ctx, id, s, op)
		}
	}
}

// add repeats an addition with one idempotency key until a server acknowledges it.
func (l *linearity) add(ctx context.Context, id int, op operation, key string) {
	call := time.Since(l.began)
	for try := 0; ctx.Err() == nil; try++ {
		r, err := l.servers[(id+try)%len(l.servers)].Load().submit(ctx, "sums", key, scored(memberOf(op.member), op.delta))
		if s := status(err); s == 0 || s == http.StatusServiceUnavailable {
			l.mu.Lock()
			l.repeated++
			l.mu.Unlock()
			<-time.After(10 * time.Millisecond)
			continue
		}
		if err == nil && (len(r.Results) != 1 || r.Results[0].Score == nil) {
			err = fmt.Errorf("receipt %+v", r)
		}
		if err != nil {
			l.wrong(fmt.Errorf("add under %s: %w", key, err))
			return
		}
		out := observation{seq: r.Seq}
		out.sums[op.member] = *r.Results[0].Score
		if p := r.Results[0].PreviousScore; p != nil {
			out.previous = *p
		}
		l.note(id, op, call, out)
		return
	}
}

// read reads a member or the top, with the newest seq that any client has seen as min_seq.
func (l *linearity) read(ctx context.Context, id int, s *server, op operation) {
	call := time.Since(l.began) // before it has anything to show
	query := client.ReadQuery{MinSeq: l.newest.Load()}
	var out observation
	var state client.State
	var err error
	if op.member < 0 {
		var p client.Page
		p, err = s.Top(ctx, "sums", client.TopQuery{Limit: 2 * registers, ReadQuery: query})
		state = p.State
		for _, e := range p.Entries {
			out.sums[numberOf(e.Member)] = e.Score
		}
	} else {
		var m client.MemberEntry
		m, err = s.Member(ctx, "sums", memberOf(op.member), query)
		state = m.State
		out.sums[op.member] = m.Score
	}
	switch code := status(err); {
	case code == 0 || code == http.StatusServiceUnavailable:
		l.count(&l.failed)
		return
	case code == http.StatusNotFound && errors.Is(err, leaderboard.ErrNotRanked):
		out = observation{}
	case err != nil:
		l.wrong(fmt.Errorf("read with min_seq %d: %w", query.MinSeq, err))
		return
	case state.Stale:
		l.count(&l.stale)
		return
	}
	out.seq = state.Seq
	l.note(id, op, call, out)
}

// readPlain reads without min_seq. The seq that one process shows must not go back.
func (l *linearity) readPlain(ctx context.Context, s *server, seen map[*server]int64) {
	p, err := s.Top(ctx, "sums", client.TopQuery{Limit: 1 + len(seen)})
	if err != nil || p.Stale {
		return // reads with min_seq count what fails
	}
	if p.Seq < seen[s] {
		l.wrong(fmt.Errorf("%s went back from seq %d to %d", s.name, seen[s], p.Seq))
	}
	seen[s] = p.Seq
}

// note adds an operation that has ended to the history.
func (l *linearity) note(id int, op operation, call time.Duration, out observation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if out.seq > l.newest.Load() { // before it counts as heard of
		l.newest.Store(out.seq)
	}
	l.history = append(l.history, porcupine.Operation{ClientId: id, Input: op, Call: int64(call), Output: out, Return: int64(time.Since(l.began))})
}

func (l *linearity) wrong(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errs) < 5 {
		l.errs = append(l.errs, err)
	}
}

func (l *linearity) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

func memberOf(number int) string { return fmt.Sprint("m", number) }

func numberOf(member string) int { return slices.Index([]string{"m0", "m1", "m2", "m3", "m4"}, member) }
