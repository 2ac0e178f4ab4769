package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/cache/watch"
)

// Boards is where a Catalog looks boards up. Errors: ErrBoardNotFound, ErrPeriodNotFound, ErrUnavailable.
type Boards interface {
	// Current is a board with its current periods, which it begins if need be.
	Current(ctx context.Context, name string) (leaderboard.Listing, error)
	leaderboard.PeriodFinder
	// PeriodsBefore lists the periods of a window that begin before a moment, the latest first, at most limit.
	PeriodsBefore(ctx context.Context, boardID int64, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error)
	// BoardsLabelled lists the boards that have all labels, by name, after the name given, at most limit.
	BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error)
}

const (
	catalogTTL     = time.Second
	catalogWait    = 250 * time.Millisecond
	catalogTimeout = 2 * time.Second
	catalogBoards  = 10_000
	catalogBytes   = 32 << 20
	// catalogLimit is how long boards are known while MySQL is away, no shorter than pages are served.
	catalogLimit = 10 * time.Minute
	// catalogStale is how old a board can be whose look-ups succeed; what is read of an older one is marked stale.
	catalogStale = catalogTTL + catalogTimeout
)

// Catalog knows boards and their periods by name. What it says is at most a second old, older only while MySQL does not
// answer. It never takes a period for the current one that has ended by the database clock, of which it knows the
// reading that came with the board and the time since then: the clock of this machine does not matter. Before it says that
// a period has not begun, it asks for another reading. A board that MySQL
// has not described for longer, for whatever reason, is marked stale, and no other board is. It may be used concurrently.
type Catalog struct {
	boards  Boards
	opts    CatalogOptions
	now     func() time.Time
	kept    *answers[string, *listed]
	named   *answers[periodName, *leaderboard.Period]
	chosen  *answers[selection, *[]string]
	lists   *answers[periodList, *[]leaderboard.Period]
	forgot  atomic.Int64 // how often a board's labels may have changed
	asking  calls[callKey[string], *listed]
	unknown *unknownNames
}

// listed is a board and its current periods. It is shared; nobody writes to it.
type listed struct {
	leaderboard.Listing
	calendar leaderboard.Calendar
	asked    time.Time            // of this process, when Listing.Clock was read or before; zero: another process has read it
	at       time.Time            // of this process, when Listing.Clock was read or later
	boards   leaderboard.Revision // of leaderboard.BoardsPeriod before that; watched: it was known
	watched  bool
	until    time.Time // of one that came from CatalogOptions.LastKnown: when it is good no more
}

// stale says whether MySQL has not described the board for too long.
func (l *listed) stale(now time.Time) bool { return !l.until.IsZero() || now.Sub(l.at) > catalogStale }

// clock returns the database clock now, or a moment ago.
func (l *listed) clock(now time.Time) leaderboard.Micros {
	return l.Clock + leaderboard.Micros(now.Sub(l.at).Microseconds())
}

// current returns the current period of a window, nil when there is none.
func (l *listed) current(w leaderboard.Window) *leaderboard.Period {
	for i := range l.Periods {
		if l.Periods[i].Window == w {
			return &l.Periods[i]
		}
	}
	return nil
}

// over says whether another period of a window has become the current one since the board was read, and at what time
// the one that was ended, or the one that is began.
func (l *listed) over(w leaderboard.Window, now time.Time) (since leaderboard.Micros, over bool) {
	clock := l.clock(now)
	if p := l.current(w); p != nil {
		return p.EndsAt, clock >= p.EndsAt
	}
	if !slices.Contains(l.Board.Rules.Windows, w) {
		return 0, false
	}
	span, ok := l.calendar.At(w, clock)
	return span.StartsAt, ok && l.Clock < span.StartsAt
}

// periodName is what a past period is looked up by.
type periodName struct {
	board  int64
	window leaderboard.Window
	name   string
}

// CatalogOptions adjust a Catalog; the zero value is fit for commands.
type CatalogOptions struct {
	// OnLookUp is told of each board that MySQL has just described, once a second of one that is read. It must not block.
	OnLookUp func(leaderboard.Listing)
	// LastKnown finds a board that MySQL does not describe now as some process saw it last, with how long ago that was and
	// how long it may still be used; ok is false when there is none. nil: there is none.
	LastKnown func(ctx context.Context, name string) (l leaderboard.Listing, age, left time.Duration, ok bool, err error)
	Now       func() time.Time // time.Now when nil
	// Watch tells of boards that are made: without it each question for a board that there is not goes to the database.
	Watch *watch.Watch
	// Gate lets work begin when it has its turn: it is asked for look-ups of boards that are not known here. nil: at once.
	Gate func(ctx context.Context, work func(context.Context) error) error
}

// NewCatalog does no I/O.
func NewCatalog(boards Boards, opts CatalogOptions) *Catalog {
	if opts.OnLookUp == nil {
		opts.OnLookUp = func(leaderboard.Listing) {}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Gate == nil {
		opts.Gate = func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }
	}
	rules := answerRules{limit: catalogLimit, wait: catalogWait, retry: catalogTTL, timeout: catalogTimeout, now: opts.Now}
	return &Catalog{
		boards: boards, opts: opts, now: opts.Now, unknown: newUnknownNames(opts.Watch), asking: calls[callKey[string], *listed]{timeout: catalogTimeout},
		kept: newAnswers(rules, known[string](
			func(l *listed) int64 { return int64(l.Clock) },
			func(l *listed) int { return 1000 + len(l.Board.Rules.Title) + 200*len(l.Periods) },
		), catalogBoards, catalogBytes),
		named: newAnswers(rules, known[periodName](
			func(*leaderboard.Period) int64 { return 0 }, func(*leaderboard.Period) int { return 400 },
		), catalogBoards, catalogBytes),
		lists: newAnswers(rules, known[periodList](
			func(*[]leaderboard.Period) int64 { return 0 }, func(list *[]leaderboard.Period) int { return answerBytes + 200*len(*list) },
		), catalogBoards, catalogBytes),
		chosen: newAnswers(rules, known[selection](
			func(*[]string) int64 { return 0 }, func(names *[]string) int { return answerBytes + 2*leaderboard.MaxBoardName*len(*names) },
		), catalogBoards, catalogBytes),
	}
}

// known has values of the catalog judged by their age.
func known[K comparable, V any](seq func(V) int64, bytes func(V) int) answerOps[K, V] {
	same := func(v V) V { return v }
	return answerOps[K, V]{judge: byAge[K, V](catalogTTL, catalogTTL), seq: seq, local: same, stale: same, bytes: bytes}
}

// Resolve finds a period of a board. window "" is the board's first, period "" or "current" its current one, "previous"
// the one before that; every other is a name. One that is over and in which nobody played is Quiet. Errors:
// ErrBoardNotFound, a *leaderboard.PeriodError, ErrUnavailable.
func (c *Catalog) Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, leaderboard.Board, error) {
	l, err := c.lookUp(ctx, board, 0)
	if err != nil {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, err
	}
	w := leaderboard.Window(window)
	if w == "" {
		w = l.Board.Rules.Windows[0]
	}
	now := c.now()
	if since, over := l.over(w, now); over {
		if l, err = c.lookUp(ctx, board, since); err != nil {
			return leaderboard.PeriodRef{}, leaderboard.Board{}, err
		}
	}
	p, err := c.period(ctx, l, w, period)
	for looks := 0; looks < 2 && c.mayHaveBegun(err) && l.asked.Before(now); looks++ { // the first may have been under way
		if rest := looksApart - c.now().Sub(l.asked); rest > 0 && !pause(ctx, rest) {
			return leaderboard.PeriodRef{}, leaderboard.Board{}, ctx.Err()
		}
		if l, err = c.lookUp(ctx, board, l.Clock+1); err == nil {
			p, err = c.period(ctx, l, w, period)
		}
	}
	if err != nil {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, err
	}
	ref := p.Ref(&l.Board)
	ref.Stale = l.stale(now)
	return ref, l.Board, nil
}

// looksApart lies between two looks at a board for periods that have not begun: all who ask for them meanwhile share the next.
const looksApart = 50 * time.Millisecond

// mayHaveBegun reports whether an error is that a period has not begun by the clock that is remembered, while the database
// can be asked for its own: that may have leapt, and the caller may have written to the period since.
func (c *Catalog) mayHaveBegun(err error) bool {
	period, ok := errors.AsType[*leaderboard.PeriodError](err)
	return ok && period.NotBegun && (c.opts.Watch == nil || !c.opts.Watch.Away())
}

// period finds a period of a window by what it was called in a request.
func (c *Catalog) period(ctx context.Context, l *listed, w leaderboard.Window, name string) (*leaderboard.Period, error) {
	now := l.clock(c.now())
	current, past, err := l.Find(l.calendar, now, w, name)
	if current != nil || err != nil {
		return current, err
	}
	key := periodName{l.Board.ID, w, past.Name}
	if p, ok := c.named.fresh(key, 0); ok {
		return p, nil
	}
	return c.named.get(ctx, key, 0, func(ctx context.Context, _ int64) (*leaderboard.Period, error) {
		p, err := leaderboard.FindPast(ctx, c.boards, &l.Board, w, past, now)
		return &p, err
	})
}

// Board finds a board by name.
func (c *Catalog) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	l, err := c.lookUp(ctx, name, 0)
	if err != nil {
		return leaderboard.Board{}, err
	}
	return l.Board, nil
}

// Forget makes the next look-up of a board ask MySQL, because this process has just changed it.
func (c *Catalog) Forget(name string) {
	c.forgot.Add(1)
	c.forget(name)
}

// forget forgets a board, and what look-ups under way will bring.
func (c *Catalog) forget(name string) {
	c.asking.forget(callKey[string]{name, 0})
	c.kept.forget(name)
	c.unknown.names.delete(name)
}

// Committed tells of a commit that this process has made to a period of a board. When another process has changed the
// board, or made it again, the writer knows first: what is known here is forgotten then, so that the caller who is told
// of the commit finds it. What labels select is forgotten only when the board is known here with other labels. It does
// not block.
func (c *Catalog) Committed(ref leaderboard.PeriodRef) {
	h, ok := c.kept.kept.get(ref.Board)
	if !ok {
		c.forget(ref.Board) // what a look-up under way will bring
		return
	}
	known := &h.value.Board
	if known.ID == ref.BoardID && reflect.DeepEqual(&known.Rules, ref.Rules) {
		return // the ids of its periods follow from these
	}
	if known.ID != ref.BoardID || !maps.Equal(known.Rules.Labels, ref.Rules.Labels) {
		c.forgot.Add(1)
	}
	c.forget(ref.Board)
}

// Renew makes what is known of a board newer than it was at the call, and waits for that. Callers who found the same
// share one look-up, and none is needed while the watch shows that no board has changed. Errors: ErrBoardNotFound,
// ErrUnavailable.
func (c *Catalog) Renew(ctx context.Context, name string) error {
	since := leaderboard.Micros(0)
	if h, ok := c.kept.kept.get(name); ok {
		if h.value.watched && c.unknown.unchanged(ctx, h.value.boards) {
			return nil
		}
		since = h.value.Clock + 1
	}
	_, err := c.lookUp(ctx, name, since)
	return err
}

// lookUp finds a board as it was at since or later, by the database clock. While MySQL is away, what was known before
// since is not good enough.
func (c *Catalog) lookUp(ctx context.Context, name string, since leaderboard.Micros) (*listed, error) {
	if l, ok := c.kept.fresh(name, int64(since)); ok && l.until.IsZero() {
		return l, nil
	}
	if c.unknown.has(ctx, name) {
		return nil, leaderboard.ErrBoardNotFound
	}
	before, watched := c.unknown.before()
	forgot := c.forgot.Load()
	l, err := c.kept.get(ctx, name, int64(since), func(ctx context.Context, _ int64) (*listed, error) { return c.load(ctx, name, since) })
	if watched && errors.Is(err, leaderboard.ErrBoardNotFound) {
		if c.unknown.keep(name, before); c.forgot.Load() != forgot { // this process may just have made it
			c.unknown.names.delete(name)
		}
	}
	if err == nil && !l.usable(c.now()) {
		return nil, fmt.Errorf("%w: the board was last seen in the database too long ago", leaderboard.ErrUnavailable)
	}
	return l, err
}

func (l *listed) usable(now time.Time) bool { return l.until.IsZero() || now.Before(l.until) }

// load asks MySQL. While that does not answer, a board that this process does not know is looked for where other processes
// left it.
func (c *Catalog) load(ctx context.Context, name string, since leaderboard.Micros) (*listed, error) {
	if h, ok := c.kept.kept.get(name); c.opts.LastKnown == nil || ok && h.age(c.now()) <= catalogLimit && h.value.usable(c.now()) {
		return c.ask(ctx, name)
	}
	asked := c.asking.start(ctx, callKey[string]{name, int64(since)}, func(ctx context.Context) (*listed, error) { return c.ask(ctx, name) }, func(*listed, error) {})
	soon, cancel := context.WithTimeout(ctx, catalogWait)
	defer cancel()
	l, err := asked.wait(soon)
	if err == nil || isAnswer(err) {
		return l, err
	}
	if l, ok := c.lastKnown(ctx, name); ok && l.Clock >= since {
		return l, nil
	}
	if l, err = asked.wait(ctx); errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, leaderboard.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
	}
	return l, err
}

// lastKnown finds a board as another process saw it last.
func (c *Catalog) lastKnown(ctx context.Context, name string) (*listed, bool) {
	found, age, left, ok, err := c.opts.LastKnown(ctx, name)
	if err != nil || !ok {
		return nil, false
	}
	now := c.now()
	l := &listed{Listing: found, at: now.Add(-age), until: now.Add(left)}
	l.calendar, err = found.Board.Rules.Calendar()
	return l, err == nil
}

func (c *Catalog) ask(ctx context.Context, name string) (*listed, error) {
	var found leaderboard.Listing
	before, watched := c.unknown.before()
	find := func(ctx context.Context) (err error) {
		found, err = c.boards.Current(ctx, name)
		return err
	}
	gate := c.opts.Gate
	if _, known := c.kept.kept.get(name); known { // what is read never waits behind what is asked for
		gate = func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }
	}
	asked := c.now()
	err := gate(ctx, find)
	if err != nil {
		return nil, err
	}
	l := &listed{Listing: found, asked: asked, at: c.now(), boards: before, watched: watched}
	if l.calendar, err = found.Board.Rules.Calendar(); err != nil {
		return nil, err
	}
	c.opts.OnLookUp(found)
	return l, nil
}
