package store

import (
	"slices"
	"sync"
)

// gates let one writer of this process at a time work on a board, from before it locks the board's row until it has
// told of what it committed. So commits are told of in the order in which they were made, though a board is written to
// by its own queue and by the one across boards; and writers of one process do not wait for each other in the database,
// each with a connection in its hands.
type gates struct {
	mu    sync.Mutex
	gates map[string]*gate // by name of the board; those that are held or waited for
}

type gate struct {
	inside chan struct{} // has room for the one who is inside; those who wait get in by order of arrival
	users  int           // guarded by gates.mu
}

// enter waits until nobody else is at the boards, and returns what lets the next in. Whoever enters several does so in
// the order of their names, so nobody waits in a circle; who is inside must not enter again. Gates come first: nobody may
// enter one with a row of the database locked, because whoever is inside may wait for that row, and neither the database
// nor the gates would see the circle.
func (g *gates) enter(boards ...string) (leave func()) {
	boards = slices.Compact(slices.Sorted(slices.Values(boards)))
	held := make([]*gate, len(boards))
	g.mu.Lock()
	if g.gates == nil {
		g.gates = map[string]*gate{}
	}
	for i, b := range boards {
		if g.gates[b] == nil {
			g.gates[b] = &gate{inside: make(chan struct{}, 1)}
		}
		held[i] = g.gates[b]
		held[i].users++
	}
	g.mu.Unlock()
	for _, gate := range held {
		gate.inside <- struct{}{}
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for i, gate := range held {
			<-gate.inside
			if gate.users--; gate.users == 0 {
				delete(g.gates, boards[i])
			}
		}
	}
}
