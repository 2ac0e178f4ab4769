package quotas

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed lease.lua
var leaseLua string

const (
	// leaseTimeout is how long Redis has to answer.
	leaseTimeout = 250 * time.Millisecond
	// leasesAtOnce is how many leases are under way at most.
	leasesAtOnce = 32
	// awayFor is the pause after a Redis did not answer.
	awayFor = time.Second
	// answerKept is how long Redis remembers an answer; the client repeats a command for less.
	answerKept = 10 * time.Second
)

// leaser takes tokens out of the buckets in Redis. All methods may be called concurrently.
type leaser struct {
	client   redis.Cmdable // nil: no Redis
	prefix   string
	process  string // unique among the processes of one Redis
	script   *redis.Script
	observer Observer
	now      func() time.Time
	began    time.Time

	places chan struct{}
	number atomic.Int64 // of the last lease
	first  *node        // the one server; of a cluster, all of it until it has answered

	primaryOf func(key string) (addr string, err error) // in a cluster; nil: one server
	known     atomic.Bool                               // the cluster has answered
	mu        sync.Mutex
	nodes     map[string]*node // of a cluster, by address
}

// node is a server of Redis.
type node struct {
	epoch atomic.Int64 // how often it went away
	away  atomic.Int64 // when one lease will probe it, as a time.Duration since leaser.began; 0: it is not away
}

func newLeaser(o *Options) *leaser {
	l := &leaser{
		first: new(node), nodes: map[string]*node{},
		client: o.Redis, prefix: o.Prefix, process: o.Process, script: redis.NewScript(leaseLua), observer: o.Observer, now: o.Now, began: o.Now(),
		places: make(chan struct{}, leasesAtOnce),
	}
	if cluster, ok := o.Redis.(*redis.ClusterClient); ok {
		l.primaryOf = func(key string) (string, error) {
			primary, err := cluster.MasterForKey(context.Background(), key)
			if err != nil {
				return "", err
			}
			return primary.Options().Addr, nil
		}
	}
	return l
}

// nodeOf returns the server that has a bucket, nil while the cluster has not answered. It does no I/O.
func (l *leaser) nodeOf(name string) *node {
	if l.primaryOf == nil {
		return l.first
	}
	if !l.known.Load() {
		return nil
	}
	addr, err := l.primaryOf(name)
	if err != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.nodes[addr]
	if !ok {
		s = new(node)
		l.nodes[addr] = s
	}
	return s
}

// isAway reports whether no Redis can be asked now.
func (l *leaser) isAway(s *node) bool { return l.client == nil || s.away.Load() != 0 }

// enter reports whether a lease may begin now; if so, leave must follow. It returns false after the leaser was closed.
func (l *leaser) enter(s *node, now time.Time) bool {
	away := s.away.Load()
	if l.client == nil || away != 0 && (now.Sub(l.began) < time.Duration(away) || !s.away.CompareAndSwap(away, l.nextProbe(now))) {
		return false
	}
	select {
	case l.places <- struct{}{}:
		return true
	default:
		return false
	}
}

// nextProbe returns the new value of away after Redis did not answer.
func (l *leaser) nextProbe(now time.Time) int64 { return int64(now.Sub(l.began) + awayFor) }

func (l *leaser) leave() { <-l.places }

// lease charges used tokens to a bucket and takes ahead more: as many as it has, or, with whole, all of them or none. It
// returns how many of ahead were granted, and the rest. s is the server that had the bucket at the last look.
func (l *leaser) lease(s *node, name string, rate, burst, used, ahead float64, whole bool) (granted, left float64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), leaseTimeout)
	defer cancel()
	key := l.prefix + "quota:{" + name + "}"
	answer, err := l.script.Run(ctx, l.client, []string{key, key + ":" + l.process},
		number(rate), number(burst), number(used), number(ahead), l.number.Add(1), answerKept.Milliseconds(), whole).StringSlice()
	if err == nil && len(answer) != 2 {
		err = fmt.Errorf("quotas: a lease has %d parts", len(answer))
	}
	if err == nil {
		if granted, err = strconv.ParseFloat(answer[0], 64); err == nil {
			left, err = strconv.ParseFloat(answer[1], 64)
		}
	}
	l.observer.LeaseAsked(err)
	if err == nil {
		l.known.Store(true)
		s.away.Store(0)
	} else if s.away.Swap(l.nextProbe(l.now())) == 0 {
		s.epoch.Add(1)
	}
	return granted, left, err
}

// number writes a number as Lua reads it.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
