package events

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/internal/dialer"
	"leaderboard/leaderboard"
)

const (
	// laneWidth is how many deliveries to one endpoint are on their way at once. With outbox.MaxEndpoints it bounds all.
	laneWidth = 8
	// failuresToPause is after how many batches that failed as a whole a lane sends probeWidth deliveries at a time, with pauses.
	failuresToPause = 3
	// probeWidth has room for an event that was tried before and for an event that was not: the endpoint may refuse either.
	probeWidth = 2
	maxPause   = time.Minute
	// lastRetry is the longest time before another attempt, and each is retryFactor times as long as the last; give or take
	// a fifth.
	lastRetry   = 4 * time.Hour
	retryFactor = 3
	// settleTimeout bounds recording the result of an attempt, also of an attempt just before the end.
	settleTimeout = 5 * time.Second
	// backlogEvery is the time between two looks at the backlog.
	backlogEvery = 15 * time.Second
)

// Noticer makes events that a feature finds outside of all transactions, such as passed members.
type Noticer interface {
	// Notice enters the events since the last call. It ends soon, and the next call continues.
	Notice(ctx context.Context) error
}

// Config is the configuration of a Sender. Store is required.
type Config struct {
	Store *Store
	// AllowPrivate lets endpoints that ask for it have addresses that are not public.
	AllowPrivate bool
	Every        time.Duration    // between two rounds, give or take a tenth. Default 1s
	Timeout      time.Duration    // of an attempt. Default 15s
	Retry        time.Duration    // between the first attempt and the second. Default 5s
	Resolver     dialer.Resolver  // nil: the system's
	Now          func() time.Time // nil: time.Now
	Logger       *slog.Logger     // nil: nothing is logged
}

func (c Config) withDefaults() Config {
	if c.Every == 0 {
		c.Every = time.Second
	}
	if c.Timeout == 0 {
		c.Timeout = 15 * time.Second
	}
	if c.Retry == 0 {
		c.Retry = 5 * time.Second
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Sender sends events. Run is called once; the other methods may be called at any time.
type Sender struct {
	cfg      Config
	poster   *poster
	noticer  Noticer // set before Run; nil: no noticer
	attempts *prometheus.HistogramVec

	backlog atomic.Pointer[Backlog]
	asked   time.Time // when backlog was; the goroutine of the rounds alone

	mu      sync.Mutex
	lanes   map[int64]*lane // by endpoint; guarded by mu
	working sync.WaitGroup  // one for each busy lane
}

// lane is the way to one endpoint. Its fields are guarded by Sender.mu.
type lane struct {
	to       *Recipient // nil: it is off, or was deleted
	busy     bool       // a goroutine sends
	failures int        // batches in a row that failed as a whole
	until    time.Time  // it pauses
}

// NewSender returns a Sender. It does nothing before Run.
func NewSender(cfg Config) *Sender {
	cfg = cfg.withDefaults()
	return &Sender{cfg: cfg, poster: newPoster(&cfg), attempts: newAttempts(), lanes: map[int64]*lane{}}
}

// Backlog returns the backlog at the last look, if this process sends; zeros otherwise.
func (s *Sender) Backlog() Backlog {
	if b := s.backlog.Load(); b != nil {
		return *b
	}
	return Backlog{}
}

// Test makes one attempt to deliver an event that is not stored, and returns its result.
func (s *Sender) Test(ctx context.Context, to *Recipient) (a Attempt, took time.Duration) {
	start := time.Now()
	out := s.poster.post(ctx, to, &leaderboard.Event{
		ID: leaderboard.NewEventID(), Kind: leaderboard.EventKindTest, Time: leaderboard.MicrosOf(s.cfg.Now()), Data: `{"endpoint":"` + to.Name + `"}`,
	})
	return Attempt{EndpointID: to.ID, Status: out.status, Error: out.err}, time.Since(start)
}

// Run does rounds until ctx ends, and returns when nothing is on its way.
func (s *Sender) Run(ctx context.Context) {
	for failed := error(nil); ctx.Err() == nil; {
		err := s.round(ctx)
		switch {
		case err != nil && failed == nil && ctx.Err() == nil:
			s.cfg.Logger.WarnContext(ctx, "events wait", "error", err)
		case err == nil && failed != nil:
			s.cfg.Logger.InfoContext(ctx, "events are sent again", "was", failed)
		}
		failed = err
		sleep(ctx, jitter(s.cfg.Every, 10))
	}
	s.working.Wait()
	s.poster.close()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := s.cfg.Store.YieldEvents(bounded); err != nil {
		s.cfg.Logger.DebugContext(ctx, "the lead of events ends with its connection", "error", err)
	}
}

// round gives new events their deliveries and starts the lanes that have something to do.
func (s *Sender) round(ctx context.Context) error {
	led, err := s.cfg.Store.LeadEvents(ctx)
	if err != nil || !led {
		s.aim(nil)
		s.backlog.Store(nil)
		return err
	}
	var unnoticed error // which keeps nothing from being sent
	if s.noticer != nil {
		unnoticed = s.noticer.Notice(ctx)
	}
	recipients, err := s.cfg.Store.Spread(ctx)
	if err != nil {
		return errors.Join(err, unnoticed)
	}
	s.aim(recipients)
	for i := range recipients {
		s.startLane(ctx, recipients[i].ID)
	}
	return errors.Join(unnoticed, s.look(ctx))
}

// look finds out what waits, once in a while.
func (s *Sender) look(ctx context.Context) error {
	if !s.asked.IsZero() && time.Since(s.asked) < backlogEvery {
		return nil
	}
	b, err := s.cfg.Store.Backlog(ctx)
	if err == nil {
		s.asked = time.Now()
		s.backlog.Store(&b)
	}
	return err
}

// aim gives the lanes their present endpoints.
func (s *Sender) aim(recipients []Recipient) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		l.to = nil
	}
	for i := range recipients {
		to := &recipients[i]
		l := s.lanes[to.ID]
		if l == nil {
			l = &lane{}
			s.lanes[to.ID] = l
		}
		l.to = to
	}
	for id, l := range s.lanes {
		if l.to == nil && !l.busy {
			delete(s.lanes, id)
		}
	}
}

// startLane lets a lane send its due deliveries, unless it is sending already or pauses.
func (s *Sender) startLane(ctx context.Context, endpoint int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[endpoint]
	if l.busy || time.Now().Before(l.until) {
		return
	}
	l.busy = true
	s.working.Go(func() {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			l.busy = false
		}()
		for s.sendDue(ctx, l) {
		}
	})
}

// sendDue sends a batch of due deliveries, and reports whether there may be more to send at once.
func (s *Sender) sendDue(ctx context.Context, l *lane) bool {
	to, width := s.next(l)
	if to == nil || ctx.Err() != nil {
		return false
	}
	due, err := s.cfg.Store.Due(ctx, to.ID, width)
	if err != nil {
		if ctx.Err() == nil {
			s.cfg.Logger.DebugContext(ctx, "deliveries that are due are looked for later", "endpoint", to.Name, "error", err)
		}
		return false
	}
	if len(due) == 0 {
		return false
	}
	delivered, gone, noted := s.sendAll(ctx, to, due)
	return s.learn(ctx, l, to, delivered > 0) && !gone && noted
}

// next returns the work of a lane: its endpoint, nil if it no longer exists, and how many deliveries at once.
func (s *Sender) next(l *lane) (to *Recipient, width int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.failures >= failuresToPause {
		return l.to, probeWidth
	}
	return l.to, laneWidth
}

// learn records whether any of a batch was delivered, and reports whether the lane may continue at once.
func (s *Sender) learn(ctx context.Context, l *lane, to *Recipient, any bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := l.failures
	if any {
		l.failures = 0
		if was >= failuresToPause {
			s.cfg.Logger.InfoContext(ctx, "an endpoint takes events again", "endpoint", to.Name)
		}
		return true
	}
	if l.failures++; l.failures < failuresToPause {
		return true
	}
	if was < failuresToPause {
		s.cfg.Logger.WarnContext(ctx, "an endpoint takes no events: they wait, and it is tried from time to time", "endpoint", to.Name)
	}
	l.until = time.Now().Add(jitter(min(maxPause, time.Second<<min(l.failures-failuresToPause, 10)), 20))
	return false
}

// sendAll makes an attempt for each delivery, all at once. noted is false when a result could not be recorded.
func (s *Sender) sendAll(ctx context.Context, to *Recipient, due []Delivery) (delivered int, gone, noted bool) {
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	noted = true
	for i := range due {
		wg.Go(func() {
			a, err := s.sendOne(ctx, to, &due[i])
			mu.Lock()
			defer mu.Unlock()
			noted, gone = noted && err == nil, gone || a.Gone
			if err == nil && a.Delivered() {
				delivered++
			}
		})
	}
	wg.Wait()
	return delivered, gone, noted
}

// errEnded is an attempt that was cut off because this process ends: it does not count as an attempt.
var errEnded = errors.New("the sender ends")

// sendOne makes an attempt and records its result.
func (s *Sender) sendOne(ctx context.Context, to *Recipient, d *Delivery) (Attempt, error) {
	start := time.Now()
	out := s.poster.post(ctx, to, &d.Event)
	took := time.Since(start)
	a := Attempt{EndpointID: to.ID, Event: d.Seq, Status: out.status, Error: out.err, Gone: out.gone}
	if !a.Delivered() {
		if ctx.Err() != nil {
			return a, errEnded
		}
		a.Retry = max(retryAfter(s.cfg.Retry, d.Attempts), out.retryAfter)
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	failed, err := s.cfg.Store.Settle(bounded, a)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "the result of a delivery could not be stored, so it is sent again", "endpoint", to.Name, "event", d.ID, "error", err)
		return a, err
	}
	if failed {
		s.cfg.Logger.WarnContext(ctx, "an event is given up", "endpoint", to.Name, "event", d.ID, "kind", string(d.Kind), "error", a.Error)
	}
	s.noteAttempt(a.Delivered(), failed, took)
	return a, nil
}

// retryAfter returns how long to wait after an attempt that failed: for wait when it was the first; before is how many there had been.
func retryAfter(wait time.Duration, before int) time.Duration {
	for range before {
		if wait *= retryFactor; wait >= lastRetry {
			return jitter(lastRetry, 20)
		}
	}
	return jitter(wait, 20)
}

// jitter returns a duration give or take some percent.
func jitter(d time.Duration, percent int) time.Duration {
	give := d * time.Duration(percent) / 100
	return d - give + rand.N(2*give+1)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
