package quota

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
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
	// awayFor is how long nobody asks a Redis that has not answered.
	awayFor = time.Second
	// answerKept is how long Redis remembers what it answered: the client repeats a command for less.
	answerKept = 10 * time.Second
)

// leaser takes tokens out of the buckets in Redis. All methods may be called concurrently.
type leaser struct {
	client  redis.UniversalClient // nil: there is no Redis
	prefix  string
	process string // of all processes at one Redis none has the name of another
	script  *redis.Script
	onLease func(error)
	now     func() time.Time
	began   time.Time

	places chan struct{}
	number atomic.Int64 // of the last lease
	epoch  atomic.Int64 // how often Redis went away
	away   atomic.Int64 // when one lease asks whether Redis is back, as a time.Duration since began; 0: it is not away
}

func newLeaser(o *Options) *leaser {
	return &leaser{
		client: o.Redis, prefix: o.Prefix, process: o.Process, script: redis.NewScript(leaseLua), onLease: o.OnLease, now: o.Now, began: o.Now(),
		places: make(chan struct{}, leasesAtOnce),
	}
}

// isAway says whether there is no Redis to go by.
func (l *leaser) isAway() bool { return l.client == nil || l.away.Load() != 0 }

// enter says whether a lease may be asked for now; if so, leave follows. None may once all places are taken for good.
func (l *leaser) enter(now time.Time) bool {
	away := l.away.Load()
	if l.client == nil || away != 0 && (now.Sub(l.began) < time.Duration(away) || !l.away.CompareAndSwap(away, l.nextProbe(now))) {
		return false
	}
	select {
	case l.places <- struct{}{}:
		return true
	default:
		return false
	}
}

// nextProbe returns what away is when Redis has just not answered.
func (l *leaser) nextProbe(now time.Time) int64 { return int64(now.Sub(l.began) + awayFor) }

func (l *leaser) leave() { <-l.places }

// lease takes used tokens out of a bucket and ahead more as far as there are any; it returns how many of those, and what
// is left.
func (l *leaser) lease(name string, rate, burst, used, ahead float64) (granted, left float64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), leaseTimeout)
	defer cancel()
	key := l.prefix + "quota:{" + name + "}"
	answer, err := l.script.Run(ctx, l.client, []string{key, key + ":" + l.process},
		number(rate), number(burst), number(used), number(ahead), l.number.Add(1), answerKept.Milliseconds()).StringSlice()
	if err == nil && len(answer) != 2 {
		err = fmt.Errorf("quota: a lease has %d parts", len(answer))
	}
	if err == nil {
		if granted, err = strconv.ParseFloat(answer[0], 64); err == nil {
			left, err = strconv.ParseFloat(answer[1], 64)
		}
	}
	l.onLease(err)
	if err == nil {
		l.away.Store(0)
	} else if l.away.Swap(l.nextProbe(l.now())) == 0 {
		l.epoch.Add(1)
	}
	return granted, left, err
}

// number writes a number as Lua reads it.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
