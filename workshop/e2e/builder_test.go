package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// builderTerm is the term of the lease of a build (the default of refresher.Config).
const builderTerm = 5 * time.Second

// builder starts `leaderboard refresh`, as a cron job does, with a fault at a point of the build.
func (w *world) builder(t *testing.T, board, fault string) *process {
	t.Helper()
	return start(t, "builder of "+board+" with "+fault, w.environment(), "refresh", board, "--json", "--fault", fault)
}

// outcome returns the run of a builder that has ended.
func (p *process) outcome(t *testing.T) client.Run {
	t.Helper()
	p.awaitExit(t)
	var runs []client.Run
	if err := json.Unmarshal([]byte(p.out.awaitEnd(t)), &runs); err != nil || len(runs) != 1 {
		t.Fatalf("%s: want one run, not %s (%v)", p.name, p.out.text(), err)
	}
	return runs[0]
}

// pausedBuilder is a board with a copy in place, and a builder stopped at a point after its snapshot.
type pausedBuilder struct {
	*world
	server  *server
	builder *process
	board   string
	period  int64
}

func (w *world) pauseBuilder(t *testing.T, s *server, board, point string) *pausedBuilder {
	t.Helper()
	p := &pausedBuilder{world: w, server: s, board: board}
	s.fill(t, board, 2500, leaderboard.Rules{TopN: 2000})
	s.mustRebuild(t, board)
	p.period = w.periodOf(t, board)
	p.builder = w.builder(t, board, "stop:"+point)
	await(t, p.builder.stopped, p.builder.name+" has stopped")
	return p
}

// write moves the top of the board on and waits until the copy has it.
func (p *pausedBuilder) write(t *testing.T, score int64) {
	t.Helper()
	r := p.server.mustSubmit(t, p.board, scored("new", score), scored("m00000", score+1))
	eventually(t, "the copy has the write", func() error {
		seq, err := p.copySeq(t.Context(), p.period)
		if err == nil && seq != strconv.FormatInt(r.Seq, 10) {
			err = fmt.Errorf("it is at %q, not at %d", seq, r.Seq)
		}
		return err
	})
}

// checkCopy checks that the copy is right and has the last write.
func (p *pausedBuilder) checkCopy(t *testing.T, score int64) {
	t.Helper()
	v, err := p.server.verify(t.Context(), p.board)
	if err != nil || v.Checked < 2000 {
		t.Errorf("the copy: %+v, %v", v, err)
	}
	top, err := p.server.top(t.Context(), p.board, 0, 2)
	if err != nil || !slices.Equal(entriesOf(top.Entries), []entry{{1, "m00000", score + 1}, {2, "new", score}}) {
		t.Errorf("top is %+v, %v", top, err)
	}
}

// resume lets the builder continue and returns its end. The copy in place must not go back meanwhile.
func (p *pausedBuilder) resume(t *testing.T) client.Run {
	t.Helper()
	text, err := p.copySeq(t.Context(), p.period)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			if now, err := p.copySeq(t.Context(), p.period); err != nil || now != text {
				t.Errorf("%s: the copy went from seq %q to %q, %v", p.builder.name, text, now, err)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	p.builder.signal(syscall.SIGCONT)
	r := p.builder.outcome(t)
	close(stop)
	watch.Wait()
	return r
}

// TestPausedBuilderIsRefused stops builders between the snapshot and the end, past the term of their leases. Others build
// and the boards change. The first builders' copies are old by then, and must not be published (promise B2).
func TestPausedBuilderIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server")
	for run := range testenv.Size(1, 33) { // of three each
		w.pausedBuilders(t, s, run)
	}
}

func (w *world) pausedBuilders(t *testing.T, s *server, run int) {
	t.Helper()
	var paused []*pausedBuilder
	for _, point := range []string{"snapshot", "chunk", "before-publish"} {
		p := w.pauseBuilder(t, s, fmt.Sprint("at-", point, "-", run), point)
		p.write(t, 1_000_000)
		paused = append(paused, p)
	}
	var all sync.WaitGroup
	for _, p := range paused {
		all.Go(func() { // each waits for the end of a lease
			if r, err := s.rebuild(t.Context(), p.board); err != nil || r.State != "done" {
				t.Errorf("the other build of %s is %+v, %v", p.board, r, err)
			}
		})
	}
	all.Wait()
	for _, p := range paused {
		p.write(t, 2_000_000)
		r := p.resume(t)
		// The builder notices that it has lost the lease, or its publication is refused for its seq; after long the server has ended its run.
		if r.State != "refused" && (r.State != "failed" || r.Error != "the lease was lost, another process may have built" && r.Error != "its server ended") {
			t.Errorf("%s ended as %+v, want it refused", p.builder.name, r)
		}
		t.Logf("%s ended as %s %s", p.builder.name, r.State, r.Error)
		p.checkCopy(t, 2_000_000)
	}
}

// TestBuilderIsRefusedBySeq takes the lease away from a paused builder, as a Redis that loses its memory does, and
// resumes it before it can notice: only the seq keeps its copy from being published.
func TestBuilderIsRefusedBySeq(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server")
	for try := range 20 {
		p := w.pauseBuilder(t, s, fmt.Sprintf("demo-%d", try), "before-publish")
		left, err := w.redis.PTTL(t.Context(), w.leaseOf(t, p.period)).Result()
		if err != nil || left <= 0 {
			t.Fatalf("the lease of the paused builder has %s left, %v", left, err)
		}
		stopped := time.Now()
		p.write(t, 1_000_000)
		if err := p.redis.Del(t.Context(), w.leaseOf(t, p.period)).Err(); err != nil {
			t.Fatal(err)
		}
		other := s.mustRebuild(t, p.board)
		p.write(t, 2_000_000)
		r := p.resume(t)
		if took := builderTerm - left + time.Since(stopped); r.State != "refused" && took > builderTerm/3 {
			t.Logf("%s, so a heartbeat was due, and it came first: once more", took)
			continue
		}
		if other.State != "done" || r.State != "refused" {
			t.Errorf("the other build is %+v, the paused one %+v, want done and refused", other, r)
		}
		p.checkCopy(t, 2_000_000)
		return
	}
	t.Error("the machine is too busy for this test")
}
