package topn

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
)

// restAfter is how long after the last question the breaker of a server closes: the server has left the cluster, or is not
// needed now.
const restAfter = 10 * time.Second

// Servers keep a Breaker, and a value of the caller, for each server of Redis; in a cluster for each primary, so that a
// primary that does not answer delays no reader of another. Its replacement after a failover begins with a closed
// breaker. All methods may be called concurrently.
type Servers[T any] struct {
	client  Client
	cluster cluster // client; nil: a single server
	now     func() time.Time
	change  func(server string, open bool)
	own     func() T
	first   *Server[T]  // of the one server; of a cluster, until its servers are known
	known   atomic.Bool // the servers of the cluster are known
	open    atomic.Int64

	mu     sync.RWMutex
	byAddr map[string]*Server[T]
	looked time.Time // when closeIdle looked last
}

// Server is the state kept for one server.
type Server[T any] struct {
	*Breaker
	Own T
}

// NewServers does no I/O. change is called when a breaker opens or closes, with host:port, "" of the one server; it must not
// block. own makes what the caller keeps for a server.
func NewServers[T any](client Client, now func() time.Time, change func(server string, open bool), own func() T) *Servers[T] {
	s := &Servers[T]{client: client, cluster: clusterOf(client), now: now, change: change, own: own, byAddr: map[string]*Server[T]{}}
	s.first = s.server("")
	return s
}

func (s *Servers[T]) server(addr string) *Server[T] {
	return &Server[T]{Own: s.own(), Breaker: NewBreaker(s.now, func(open bool) {
		if open {
			s.open.Add(1)
		} else {
			s.open.Add(-1)
		}
		s.change(addr, open)
	})}
}

// Of returns the state kept for the server that has a period's copy now. It blocks only while the cluster's layout is
// unknown, for at most ioTimeout.
func (s *Servers[T]) Of(ctx context.Context, p leaderboard.PeriodRef) *Server[T] {
	if s.cluster == nil {
		return s.first
	}
	if !s.known.Load() && !s.learn(ctx) {
		return s.first
	}
	if s.open.Load() > 0 {
		s.closeIdle()
	}
	addr, _, err := s.cluster.primaryOf(ctx, tag(p))
	if err != nil {
		return s.first
	}
	s.mu.RLock()
	found := s.byAddr[addr]
	s.mu.RUnlock()
	if found != nil {
		return found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found = s.byAddr[addr]; found == nil {
		found = s.server(addr)
		s.byAddr[addr] = found
	}
	return found
}

// Probe asks the servers whose breakers are open and that nobody asks now, so that it is known when they answer again. limit is the time
// that a read of the copies has.
func (s *Servers[T]) Probe(ctx context.Context, of *Copies, limit time.Duration) {
	switch {
	case s.open.Load() == 0:
	case s.cluster == nil:
		s.first.probe(func() error { return of.probe(ctx, s.client, limit) })
	case !s.known.Load():
		s.learn(ctx)
	default:
		s.closeIdle()
		_ = s.cluster.eachPrimary(ctx, func(ctx context.Context, addr string, primary Client) error {
			s.mu.RLock()
			found := s.byAddr[addr]
			s.mu.RUnlock()
			if found != nil {
				found.probe(func() error { return of.probe(ctx, primary, limit) })
			}
			return nil
		})
	}
}

// learn asks a cluster which servers it has, and reports whether it has answered.
func (s *Servers[T]) learn(ctx context.Context) bool {
	if !s.first.Allow() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	_, _, err := s.cluster.primaryOf(ctx, "")
	s.first.Done(err == nil)
	if err == nil {
		s.known.Store(true)
	}
	return err == nil
}

// closeIdle closes the breakers of servers that were not asked for restAfter. It looks once a second.
func (s *Servers[T]) closeIdle() {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.looked) < time.Second {
		return
	}
	s.looked = now
	s.first.rest(restAfter) // it may have opened while the servers of the cluster were not known
	for _, server := range s.byAddr {
		server.rest(restAfter)
	}
}

// tag returns the hash tag of the keys of a period, which places them in a cluster.
func tag(p leaderboard.PeriodRef) string { return strconv.FormatInt(p.ID, 10) }
