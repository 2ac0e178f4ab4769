package cache

import (
	"context"
	"sync"
	"time"
)

// batcher answers queries in batches, without holding any back: while a batch of a key is under way the next one
// collects. So a query that comes alone waits for nobody, and many at once cost little more than one. A batch that
// takes longer than maxWait holds up nobody either: the next one then goes alongside.
//
// A batch runs in a goroutine that lives while there is something to do. What it does with its queries is its own
// affair, but for a panic: then all of them fail.
type batcher[K comparable, Q any] struct {
	most    int // total size of a batch; a query that is larger goes alone
	maxWait time.Duration
	size    func(Q) int
	run     func(key K, batch []Q) // returns when it is done with the batch, the slice included
	fail    func(Q, error)

	mu      sync.Mutex
	waiting map[K][]Q // there is a list, maybe an empty one, while a batch is under way that holds up the next
}

// add hands a query over and returns at once.
func (g *batcher[K, Q]) add(key K, q Q) {
	g.mu.Lock()
	list, busy := g.waiting[key]
	if g.waiting == nil {
		g.waiting = map[K][]Q{}
	}
	g.waiting[key] = append(list, q)
	g.mu.Unlock()
	if !busy {
		go g.work(key)
	}
}

// work runs batches until nothing waits, or one has taken so long that another goroutine has gone on with the rest.
func (g *batcher[K, Q]) work(key K) {
	var batch []Q
	for {
		if batch = g.take(key, batch); len(batch) == 0 {
			return
		}
		next := time.AfterFunc(g.maxWait, func() { g.work(key) })
		_, err := guarded(context.Background(), func(context.Context) (struct{}, error) {
			g.run(key, batch)
			return struct{}{}, nil
		})
		if err != nil {
			for _, q := range batch {
				g.fail(q, err)
			}
		}
		if !next.Stop() {
			return
		}
	}
}

// take removes and returns the next batch; it reuses the memory of the last one.
func (g *batcher[K, Q]) take(key K, last []Q) []Q {
	clear(last)
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.waiting[key]
	n, size := 0, 0
	for n < len(list) {
		if size += g.size(list[n]); n > 0 && size > g.most {
			break
		}
		n++
	}
	if n == 0 {
		delete(g.waiting, key)
		return nil
	}
	batch := append(last[:0], list[:n]...)
	left := copy(list, list[n:])
	clear(list[left:])
	g.waiting[key] = list[:left]
	return batch
}
