package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// silence is for how long a server gives no answer, though it is asked, until a new connection is tried.
	silence = time.Second
	// probeWait is how long that has for its answer at least, see outage.maxWait.
	probeWait = 300 * time.Millisecond
	// probeEvery is between the starts of two probes while the server is away.
	probeEvery = 250 * time.Millisecond
	// probeLimit ends a probe. There is one at a time: servers count connections that end before they have begun, and shut
	// out an address with many (max_connect_errors).
	probeLimit = 10 * time.Second
)

// outage knows whether the server answers, and whether it takes writes. All connections of a store tell it what they send
// and what comes back. A server is away when it has answered nothing for silence, though it was asked, and a new connection
// gets no answer to SELECT 1 either: a statement that waits for a lock, a change of a table or a flush is no outage. From
// then on nothing is sent, all connections but those that wait for the answer to COMMIT are cut, and so all who wait for
// one have their answer. The first answer to anything, a probe's or that of a COMMIT, ends it.
//
// A slow network is no outage: a probe may take twice as long as the last one took. So what begins to be slow may be taken
// for an outage once, until something is answered, and only while little is asked.
type outage struct {
	probe func(context.Context) error // asks for an answer on a new connection
	log   *slog.Logger
	began time.Time
	life  context.Context
	end   context.CancelFunc
	work  sync.WaitGroup // the goroutine that looks

	// Times are in nanoseconds since began; 0 is never.
	answered atomic.Int64  // the last answer
	failed   atomic.Int64  // when the first was asked that failed without an answer since then
	since    atomic.Int64  // since when the server is away; 0: it is not
	returned atomic.Int64  // when it was back last
	looking  atomic.Bool   // there is a goroutine that looks
	maxWait  time.Duration // of a probe; belongs to that

	committed atomic.Int64 // the last commit
	blocked   atomic.Int64 // since when none could be made; 0: nobody knows of any such thing
	tried     atomic.Int64 // when that was found out last

	mu     sync.Mutex // guards the fields below
	conns  map[*wire]struct{}
	onAway []func(error)
}

// recent is how long an outage that is over counts in DB.Silent: what it made fail is reported a moment later.
const recent = time.Minute

func newOutage(log *slog.Logger, probe func(context.Context) error) *outage {
	o := &outage{probe: probe, log: log, began: time.Now(), maxWait: probeWait, conns: map[*wire]struct{}{}}
	o.life, o.end = context.WithCancel(context.Background())
	return o
}

// unwatched is what connections are told to that are used until whatever they are for is done: none is given up.
func unwatched(log *slog.Logger) *outage {
	o := newOutage(log, nil)
	o.looking.Store(true)
	return o
}

func (o *outage) close() {
	o.mu.Lock()
	o.end()
	o.mu.Unlock()
	o.work.Wait()
}

func (o *outage) now() int64 { return max(1, int64(time.Since(o.began))) }

func (o *outage) isAway() bool { return o.since.Load() != 0 }

// add and remove keep the connections that there are, and those that are being made.
func (o *outage) add(c *wire) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.conns[c] = struct{}{}
}

func (o *outage) remove(c *wire) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.conns, c)
}

// expect sees to it that somebody looks whether an answer comes.
func (o *outage) expect() {
	if !o.looking.CompareAndSwap(false, true) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.life.Err() == nil {
		o.work.Go(o.look)
	}
}

// heard takes down what became of something that was sent.
func (o *outage) heard(sent int64, err error) {
	if ConnectionLost(err) || errors.Is(err, context.Canceled) {
		if o.failed.CompareAndSwap(0, sent) {
			o.expect()
		}
		return
	}
	o.answered.Store(o.now())
	if o.failed.Load() != 0 {
		o.failed.Store(0)
	}
	if o.isAway() {
		o.back()
	}
}

// silent returns since when nothing was answered though something is asked; 0 when nothing is.
func (o *outage) silent() int64 {
	oldest := o.failed.Load()
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.conns {
		if sent := c.waits(); sent != 0 && (oldest == 0 || sent < oldest) {
			oldest = sent
		}
	}
	if oldest == 0 {
		return 0
	}
	return max(oldest, o.answered.Load())
}

// look waits until nothing is asked any more, and tries a new connection whenever that is not answered.
func (o *outage) look() {
	for o.life.Err() == nil {
		since := o.silent()
		if since == 0 {
			o.looking.Store(false)
			if o.silent() == 0 || !o.looking.CompareAndSwap(false, true) {
				return
			}
			continue
		}
		if rest := silence - time.Duration(o.now()-since); rest > 0 {
			if o.pause(rest); o.answered.Load() > since {
				o.maxWait = max(probeWait, o.maxWait/2) // what was slow need not be any more
			}
			continue
		}
		o.try(since)
	}
}

func (o *outage) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-o.life.Done():
	}
}

// try probes until something is answered.
func (o *outage) try(since int64) {
	for o.life.Err() == nil && o.answered.Load() <= since {
		began := o.now()
		err := o.ask(since)
		took := time.Duration(o.now() - began)
		if !ConnectionLost(err) && o.life.Err() == nil {
			o.maxWait = max(probeWait, 2*took)
			o.heard(began, err)
			return
		}
		o.gone(since)
		o.pause(max(0, probeEvery-took))
	}
}

// ask sends one probe. When that takes too long the server is away, whatever comes of it.
func (o *outage) ask(since int64) error {
	ctx, cancel := context.WithTimeout(o.life, probeLimit)
	defer cancel()
	late := time.AfterFunc(o.maxWait, func() { o.gone(since) })
	defer late.Stop()
	return o.probe(ctx)
}

// gone says that the server is away, unless it has answered anything meanwhile.
func (o *outage) gone(since int64) {
	o.mu.Lock()
	if o.answered.Load() > since || o.life.Err() != nil || !o.since.CompareAndSwap(0, since) {
		o.mu.Unlock()
		return
	}
	if o.answered.Load() > since { // it came between the two, and whatever took it down did not see that the server was away
		o.since.CompareAndSwap(since, 0)
		o.mu.Unlock()
		return
	}
	conns, tell := slices.Collect(maps.Keys(o.conns)), o.onAway
	o.mu.Unlock()
	o.log.Warn("MySQL does not answer", "for", time.Duration(o.now()-since).Round(time.Millisecond).String())
	for _, c := range conns {
		c.cut()
	}
	for _, t := range tell {
		t(ErrAway)
	}
}

// back says that the server answers.
func (o *outage) back() {
	o.returned.Store(o.now())
	if since := o.since.Swap(0); since != 0 {
		o.log.Info("MySQL answers again", "after", time.Duration(o.now()-since).Round(time.Millisecond).String())
	}
}

// silentOfLate reports whether the server has left the last that was asked of it without an answer, or does not answer, or did not a
// moment ago.
func (o *outage) silentOfLate() bool {
	returned := o.returned.Load()
	return o.isAway() || o.failed.Load() != 0 || returned != 0 && o.now()-returned < int64(recent)
}

// wrote takes down that something was committed.
func (o *outage) wrote() {
	o.committed.Store(o.now())
	if since := o.blocked.Load(); since != 0 && o.blocked.CompareAndSwap(since, 0) {
		o.log.Info("writes are committed again", "after", time.Duration(o.now()-since).Round(time.Millisecond).String())
	}
}

// wroteNot takes down that a batch that was begun at a time could not be committed.
func (o *outage) wroteNot(began time.Time) {
	since := max(1, int64(began.Sub(o.began)))
	if o.isAway() || o.committed.Load() > since {
		return // others are committed
	}
	if o.tried.Store(o.now()); o.blocked.CompareAndSwap(0, since) {
		o.log.Warn("no write can be committed, though MySQL answers", "since", began.UTC().Format(time.RFC3339))
	}
}

// blockedFor is how long it counts that no write could be committed while nobody tries again.
const blockedFor = time.Minute

// blockedSince returns since when no write could be committed though some were tried, false when there is no such time.
func (o *outage) blockedSince() (time.Time, bool) {
	since := o.blocked.Load()
	return o.began.Add(time.Duration(since)), since != 0 && o.now()-o.tried.Load() < int64(blockedFor)
}

// tell has somebody told when the server turns out to be away.
func (o *outage) tell(whom func(error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.onAway = append(o.onAway, whom)
}

// wire is a connection as the outage knows it: what is sent on it, and what comes back.
type wire struct {
	outage *outage

	mu         sync.Mutex // guards the fields below
	stop       context.CancelFunc
	raw        net.Conn // nil until it is dialled
	sent       int64    // when what is under way was sent, 0 when nothing is
	committing bool     // that is a COMMIT
	gone       bool     // it was cut
}

// send says that something is sent. It fails while the server is away.
func (c *wire) send(commit bool) error {
	c.mu.Lock()
	if c.outage.isAway() {
		c.mu.Unlock()
		return driver.ErrBadConn // which means that nothing was sent
	}
	c.sent, c.committing = c.outage.now(), commit
	c.mu.Unlock()
	c.outage.expect()
	return nil
}

// got says what became of it.
func (c *wire) got(err error) {
	c.mu.Lock()
	sent := c.sent
	c.sent, c.committing = 0, false
	c.mu.Unlock()
	c.outage.heard(sent, err)
}

func (c *wire) waits() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

// cut ends what is under way, unless that is a COMMIT: its answer may come yet.
func (c *wire) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.committing {
		return
	}
	c.gone = true
	c.stop()
	if c.raw != nil {
		_ = c.raw.Close()
	}
}

// dialled is the key of the connection that a context makes.
type dialled struct{}

// dial is how all connections are dialled, so that they can be cut.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if c, ok := ctx.Value(dialled{}).(*wire); ok && err == nil {
		c.mu.Lock()
		c.raw = raw
		c.mu.Unlock()
	}
	return raw, err
}
