//go:build screenshots

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/demo"
	"leaderboard/leaderboard"
	"leaderboard/workshop/moving"
)

const (
	movingBoard   = "race"
	movingMembers = 8
	movingClients = 12
	movingPicture = "../../docs/pictures/moving.svg"
	movingEvery   = 200 * time.Millisecond
)

// movingRun is the run that the moving picture shows: clients submit to two servers, and one server is killed with -9.
type movingRun struct {
	servers      [2]atomic.Pointer[server]
	states       [2]atomic.Value // moving.State
	acknowledged [2]atomic.Int64 // submissions
	points       atomic.Int64    // sum of all acknowledged submissions
	repeated     atomic.Int64
	form         [movingMembers]atomic.Int64 // the most points that a member now makes at once
	says         atomic.Value
	frames       []moving.Frame
}

// TestMovingPicture makes the moving picture of README.md: make generate-moving. The picture is only written when the
// board has the sum of all acknowledged submissions.
func TestMovingPicture(t *testing.T) {
	w := newWorld(t)
	r := &movingRun{}
	for i := range r.servers {
		r.servers[i].Store(w.serve(t, fmt.Sprintf("server %d", i+1)))
		r.states[i].Store(moving.StateUp)
	}
	r.servers[0].Load().putBoard(t, movingBoard, leaderboard.Rules{Policy: leaderboard.PolicySum})
	ctx, stop := context.WithCancel(t.Context())
	var clients, reader sync.WaitGroup
	for i := range movingClients {
		clients.Go(func() { r.submit(t, ctx, i) })
	}
	time.Sleep(3 * time.Second) // all members have scores
	r.says.Store("Twelve clients submit to two servers.")
	reader.Go(func() { r.read(t, ctx) })
	time.Sleep(3 * time.Second)
	r.servers[0].Load().kill9(t)
	r.states[0].Store(moving.StateKilled)
	r.says.Store("Clients send again what got no answer, to server 2.")
	time.Sleep(3 * time.Second)
	r.states[0].Store(moving.StateStarts)
	r.says.Store("Server 1 starts again.")
	began := time.Now()
	r.servers[0].Store(w.serve(t, "server 1 again"))
	r.states[0].Store(moving.StateUp)
	r.says.Store(fmt.Sprintf("Server 1 is ready after %.1f s. Requests sent twice: %d.", time.Since(began).Seconds(), r.repeated.Load()))
	time.Sleep(3 * time.Second)
	stop()
	clients.Wait()
	reader.Wait()
	var sum int64
	last := r.frame(t, 1)
	for _, row := range last.Rows {
		sum += row.Score
	}
	last.Says = fmt.Sprintf("Acknowledged: %d points. On the board: %d.", r.points.Load(), sum)
	if sum != r.points.Load() || r.repeated.Load() == 0 {
		t.Fatalf("%s Sent twice: %d", last.Says, r.repeated.Load())
	}
	r.frames = append(r.frames, last)
	if err := os.WriteFile(movingPicture, moving.Draw(r.frames, movingEvery), 0o644); err != nil {
		t.Fatal(err)
	}
}

// submit adds points to members until ctx ends. A submission that gets no answer is sent again under the same idempotency key, to
// the other server.
func (r *movingRun) submit(t *testing.T, ctx context.Context, number int) {
	pause := time.NewTicker(30 * time.Millisecond)
	defer pause.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		<-pause.C
		member := rand.IntN(movingMembers)
		points := 1 + rand.Int64N(1+r.form[member].Load())
		to := (number + n) % len(r.servers)
		for again := 0; ; again++ {
			key := fmt.Sprintf("client-%d-%d", number, n)
			_, err := r.servers[to].Load().submit(t.Context(), movingBoard, key, scored(demo.Member(member), points))
			if err == nil {
				break
			}
			if again > 100 {
				t.Error(err)
				return
			}
			r.repeated.Add(1)
			to = 1 - to
		}
		r.acknowledged[to].Add(1)
		r.points.Add(points)
	}
}

// read notes a frame again and again until ctx ends.
func (r *movingRun) read(t *testing.T, ctx context.Context) {
	tick := time.NewTicker(movingEvery)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		for i := range r.form {
			if n%8 == 0 {
				r.form[i].Store(rand.Int64N(60))
			}
		}
		r.frames = append(r.frames, r.frame(t, n/4%len(r.servers)))
		<-tick.C
	}
}

// frame asks a server for the board, or the other one if there is no answer.
func (r *movingRun) frame(t *testing.T, from int) moving.Frame {
	var query client.TopQuery
	if n := len(r.frames); n > 0 {
		query.MinSeq = r.frames[n-1].Seq
	}
	page, err := r.servers[from].Load().Top(t.Context(), movingBoard, query)
	if err != nil {
		from = 1 - from
		page, err = r.servers[from].Load().Top(t.Context(), movingBoard, query)
	}
	if err != nil {
		t.Error(err)
	}
	f := moving.Frame{Seq: page.Seq, From: fmt.Sprintf("server %d", from+1), Says: r.says.Load().(string)}
	for i := range f.Servers {
		f.Servers[i] = moving.Server{State: r.states[i].Load().(moving.State), Acknowledged: r.acknowledged[i].Load()}
	}
	for _, e := range page.Entries {
		f.Rows = append(f.Rows, moving.Row{Member: e.Member, Score: e.Score})
	}
	return f
}
