package cache

import (
	"context"
	"fmt"
	"sync"
	"time"

	"leaderboard"
)

// gatherer answers questions in batches, without a timer that holds any back: while batches of a key are under way, the
// next one gathers. So a question that comes alone waits for nobody, and many at once cost little more than one.
//
// A batch runs in a goroutine that lives while there is something to do. What the batch does with its questions is its
// own affair, but for a panic: then all of them fail.
type gatherer[K comparable, Q any] struct {
	lanes int           // batches of one key at a time
	most  int           // total size of a batch; a question that is larger goes alone
	wait  time.Duration // see stuck; 0: questions wait for as long as it takes
	size  func(Q) int
	run   func(key K, batch []Q) // returns when the batch is answered; must not keep the slice
	fail  func(Q, error)

	mu     sync.Mutex
	groups map[K]*group[Q]
}

// group is what is going on for one key.
type group[Q any] struct {
	waiting []Q
	running int // batches under way
	stuck   int // those of them that have been for longer than wait
}

// add hands a question over and returns at once. When all batches of its key take too long already, it fails with
// ErrOverloaded, and so does everything that waits for them.
func (g *gatherer[K, Q]) add(key K, q Q) {
	g.mu.Lock()
	if g.groups == nil {
		g.groups = map[K]*group[Q]{}
	}
	gr, ok := g.groups[key]
	if !ok {
		gr = &group[Q]{}
		g.groups[key] = gr
	}
	if gr.stuck == g.lanes {
		g.mu.Unlock()
		g.fail(q, g.overloaded())
		return
	}
	gr.waiting = append(gr.waiting, q)
	free := gr.running < g.lanes
	if free {
		gr.running++
	}
	g.mu.Unlock()
	if free {
		go g.work(key, gr)
	}
}

// work runs batches until nothing waits.
func (g *gatherer[K, Q]) work(key K, gr *group[Q]) {
	var batch []Q
	for {
		clear(batch)
		if batch = g.take(key, gr, batch[:0]); len(batch) == 0 {
			return
		}
		watched := g.watch(gr)
		_, err := guarded(context.Background(), func(context.Context) (struct{}, error) {
			g.run(key, batch)
			return struct{}{}, nil
		})
		watched()
		if err != nil {
			for _, q := range batch {
				g.fail(q, err)
			}
		}
	}
}

// take moves the next batch to the end of into, or ends the lane.
func (g *gatherer[K, Q]) take(key K, gr *group[Q], into []Q) []Q {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, size := 0, 0
	for n < len(gr.waiting) {
		if size += g.size(gr.waiting[n]); n > 0 && size > g.most {
			break
		}
		n++
	}
	if n == 0 {
		if gr.running--; gr.running == 0 {
			delete(g.groups, key)
		}
		return nil
	}
	into = append(into, gr.waiting[:n]...)
	left := copy(gr.waiting, gr.waiting[n:])
	clear(gr.waiting[left:])
	gr.waiting = gr.waiting[:left]
	return into
}

// watch lets nobody wait behind a batch that takes longer than wait. The function that it returns ends it.
func (g *gatherer[K, Q]) watch(gr *group[Q]) (done func()) {
	if g.wait <= 0 {
		return func() {}
	}
	timer := time.AfterFunc(g.wait, func() {
		for _, q := range g.stick(gr, 1) {
			g.fail(q, g.overloaded())
		}
	})
	return func() {
		if !timer.Stop() {
			g.stick(gr, -1)
		}
	}
}

// stick counts a batch as stuck, or as so no more. When all are, nothing waits for them: it is the caller's.
func (g *gatherer[K, Q]) stick(gr *group[Q], by int) (given []Q) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gr.stuck += by; gr.stuck == g.lanes {
		given, gr.waiting = gr.waiting, nil
	}
	return given
}

func (g *gatherer[K, Q]) overloaded() error {
	return fmt.Errorf("cache: no batch has ended within %s: %w", g.wait, leaderboard.ErrOverloaded)
}
