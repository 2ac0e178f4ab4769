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
	"leaderboard/cache/feed"
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
	// catalogApart is how long after it was read a board is not read again, but for what this process did: boards that are
	// changed all the time cost no more. It is also how long what cannot be read is left alone.
	catalogApart   = time.Second
	catalogWait    = 250 * time.Millisecond
	catalogTimeout = 2 * time.Second
	catalogBoards  = 10_000
	catalogBytes   = 32 << 20
	// catalogLimit is how long boards are known while MySQL is away, no shorter than pages are served.
	catalogLimit = 10 * time.Minute
	// catalogStale is how long ago a board can have been found to hold that is read without trouble; what is read of others is
	// marked stale.
	catalogStale = catalogApart + catalogTimeout
	// pastKept is how long it may take until it is known that a past period was closed or given up: housekeeping tells nobody.
	pastKept = time.Second
)

// Catalog knows boards and their periods by name. What it says of a board holds until the feed shows that boards have
// changed; then the board is read again, a second after it was read last at the earliest. It never takes a period for the current
// one that has ended by the database clock, of which it knows the last reading and the time since then: the clock of this
// machine does not matter. Before it says that a period has not begun, it waits for another reading. A board that cannot be read
// again, for whatever reason, is marked stale, and no other board is. It may be used concurrently.
type Catalog struct {
	boards    Boards
	opts      CatalogOptions
	now       func() time.Time
	listed    *memo[string, *listed]
	past      *memo[pastPeriods, []leaderboard.Period]
	chosen    *memo[selection, []string]
	serial    atomic.Int64              // of the last listed
	clockRead atomic.Pointer[time.Time] // when it was last read for a period that has not begun
	forgot    atomic.Int64              // how often a board's labels may have changed
	asking    calls[string, *listed]
}

// listed is a board and its current periods. It is shared; nobody writes to it.
type listed struct {
	leaderboard.Listing
	calendar leaderboard.Calendar
	serial   int64        // no other one has it
	sent     time.Time    // the statement that read Listing.Clock, or before that
	told     atomic.Int64 // reading.good when CatalogOptions.OnRead was told
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

// over reports whether another period of a window than the one here is the current one, by the database clock. A current one
// without a row may be begun by a newer server at any time: this version does not know all rules of its board.
func (l *listed) over(w leaderboard.Window, clock leaderboard.Micros) bool {
	if p := l.current(w); p != nil {
		return p.ID == 0 || clock >= p.EndsAt || p.StartsAt-clock > leaderboard.ClockBack
	}
	if !slices.Contains(l.Board.Rules.Windows, w) {
		return false
	}
	span, ok := l.calendar.At(w, clock)
	return ok && (l.Clock < span.StartsAt || l.Clock >= span.EndsAt)
}

// CatalogOptions adjust a Catalog; the zero value is fit for commands.
type CatalogOptions struct {
	// OnRead is told of each board that is read, once a second: how MySQL described it last, and the database clock now. It
	// must not block.
	OnRead func(l leaderboard.Listing, clock leaderboard.Micros)
	// LastKnown finds a board that MySQL does not describe now as some process saw it last, with how long ago that was and
	// how long it may still be used; ok is false when there is none. nil: there is none.
	LastKnown func(ctx context.Context, name string) (l leaderboard.Listing, age, left time.Duration, ok bool, err error)
	Now       func() time.Time // time.Now when nil
	// Feed tells when boards change, and the database clock. nil: what is known of a board holds for a second, and that there is
	// none is asked each time.
	Feed *feed.Feed
	// Gate lets work begin when it has its turn: it is asked for look-ups of boards that are not known here. nil: at once.
	Gate func(ctx context.Context, work func(context.Context) error) error
}

// NewCatalog does no I/O.
func NewCatalog(boards Boards, opts CatalogOptions) *Catalog {
	if opts.OnRead == nil {
		opts.OnRead = func(leaderboard.Listing, leaderboard.Micros) {}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Gate == nil {
		opts.Gate = ungated
	}
	c := &Catalog{boards: boards, opts: opts, now: opts.Now, asking: calls[string, *listed]{timeout: catalogTimeout}}
	c.listed = newMemo[string](c, c.unchanged, func(l *listed) int { return 1000 + len(l.Board.Rules.Title) + 200*len(l.Periods) })
	c.past = newMemo[pastPeriods](c, c.isRecent, func(list []leaderboard.Period) int { return answerBytes + 200*len(list) })
	c.chosen = newMemo[selection](c, c.unchanged, func(names []string) int { return answerBytes + 2*leaderboard.MaxBoardName*len(names) })
	return c
}

func ungated(ctx context.Context, work func(context.Context) error) error { return work(ctx) }

// unchanged reports whether the boards are as they were when something was read, or it was read just now.
func (c *Catalog) unchanged(ctx context.Context, r *reading) bool {
	if !r.until.IsZero() {
		return false
	}
	verdict := feed.VerdictUnknown
	if r.watched {
		verdict = c.opts.Feed.Judge(leaderboard.BoardsPeriod, r.boards)
	}
	now := c.now()
	switch {
	case verdict == feed.VerdictFresh:
	case r.err == nil && now.Sub(r.asked) <= catalogApart:
		return true
	case r.watched && verdict == feed.VerdictUnknown && c.opts.Feed.Check(ctx, leaderboard.BoardsPeriod, r.boards) == feed.VerdictFresh:
	default:
		return false
	}
	r.confirm(now)
	return true
}

func (c *Catalog) isRecent(_ context.Context, r *reading) bool {
	return c.now().Sub(r.asked) <= pastKept
}

func (c *Catalog) away() bool { return c.opts.Feed != nil && c.opts.Feed.Away() }

// before returns the revision of the boards for what is read next, which the feed is asked for when it knows none; ok is
// false when the database does not tell.
func (c *Catalog) before(ctx context.Context) (r leaderboard.Revision, ok bool) {
	w := c.opts.Feed
	if w == nil {
		return r, false
	}
	if r, ok = w.Latest(leaderboard.BoardsPeriod); !ok {
		r, ok = w.Ask(ctx, leaderboard.BoardsPeriod)
	}
	return r, ok
}

// clock returns the database clock, by its last reading: that of the board, or a later one of the feed. It is ahead rather
// than behind.
func (c *Catalog) clock(l *listed) leaderboard.Micros {
	clock, sent := l.Clock, l.sent
	if w := c.opts.Feed; w != nil {
		if latest, at, ok := w.Clock(); ok && at.After(sent) {
			clock, sent = latest, at
		}
	}
	return clock + leaderboard.Micros(c.now().Sub(sent).Microseconds())
}

// Resolve finds a period of a board. window "" is the board's first, period "" or "current" its current one, "previous"
// the one before that; every other is a name. One that is over and never had an entry has no row. Errors:
// ErrBoardNotFound, a *leaderboard.PeriodError, ErrUnavailable.
func (c *Catalog) Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, leaderboard.Board, error) {
	called, w := c.now(), leaderboard.Window(window)
	k, err := c.lookUp(ctx, board)
	if err != nil {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, err
	}
	if w == "" {
		w = k.value.Board.Rules.Windows[0]
	}
	k, p, err := c.period(ctx, k, w, period, called)
	if c.mayHaveBegun(err) {
		if err = c.readClock(ctx, called); err == nil {
			k, p, err = c.period(ctx, k, w, period, called)
		}
	}
	if err != nil {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, err
	}
	ref := p.Ref(&k.value.Board)
	ref.Stale = k.stale(called)
	return ref, k.value.Board, nil
}

// looksApart lies between two readings of the clock for periods that have not begun: all who ask for them meanwhile share the
// next.
const looksApart = 50 * time.Millisecond

// readClock returns when the clock has been read after a moment.
func (c *Catalog) readClock(ctx context.Context, after time.Time) error {
	w := c.opts.Feed
	if last := c.clockRead.Load(); last != nil {
		if rest := looksApart - c.now().Sub(*last); rest > 0 && !pause(ctx, rest) {
			return ctx.Err()
		}
		if _, sent, ok := w.Clock(); ok && sent.After(after) {
			return nil
		}
	}
	now := c.now()
	c.clockRead.Store(&now)
	return w.Wait(ctx, leaderboard.BoardsPeriod)
}

// mayHaveBegun reports whether an error is that a period has not begun by the clock as it is known here, while the feed can
// read it once more: it may have leapt, and the caller may have written to the period since.
func (c *Catalog) mayHaveBegun(err error) bool {
	period, ok := errors.AsType[*leaderboard.PeriodError](err)
	return ok && period.NotBegun && c.opts.Feed != nil && !c.away()
}

// period finds a period of a window by what it was called in a request, in what is known of the board, or what is read now
// because another period has begun.
func (c *Catalog) period(ctx context.Context, k *known[*listed], w leaderboard.Window, name string, called time.Time) (*known[*listed], *leaderboard.Period, error) {
	now := c.clock(k.value)
	if k.value.over(w, now) {
		var err error
		if k, err = c.lookUpAfter(ctx, k.value.Board.Name, called); err != nil {
			return k, nil, err
		}
		now = c.clock(k.value)
	}
	l := k.value
	current, past, err := l.Find(l.calendar, now, w, name)
	if current != nil || err != nil {
		return k, current, err
	}
	found, err := c.past.get(ctx, pastPeriods{of: l.serial, window: w, name: past.Name}, func(ctx context.Context, k *known[[]leaderboard.Period]) error {
		p, err := leaderboard.FindPast(ctx, c.boards, &l.Board, w, past, now)
		k.value = []leaderboard.Period{p}
		return err
	})
	if err != nil {
		return k, nil, err
	}
	return k, &found.value[0], nil
}

// Board finds a board by name.
func (c *Catalog) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	k, err := c.lookUp(ctx, name)
	if err != nil {
		return leaderboard.Board{}, err
	}
	return k.value.Board, nil
}

// Forget makes the next look-up of a board ask MySQL, because this process has just changed it.
func (c *Catalog) Forget(name string) {
	c.forgot.Add(1)
	c.listed.forget(name)
}

// Committed tells of a commit that this process has made to a period of a board. When another process has changed the
// board, or made it again, the writer knows first: what is known here is forgotten then, so that the caller who is told
// of the commit finds it. What labels select is forgotten only when the board is known here with other labels. It does
// not block.
func (c *Catalog) Committed(ref leaderboard.PeriodRef) {
	k, ok := c.listed.kept.Get(ref.Board)
	if !ok {
		c.listed.forget(ref.Board) // what a look-up under way will bring
		return
	}
	board := &k.value.Board
	if board.ID == ref.BoardID && reflect.DeepEqual(&board.Rules, ref.Rules) {
		return // the ids of its periods follow from these
	}
	if board.ID != ref.BoardID || !maps.Equal(board.Rules.Labels, ref.Rules.Labels) {
		c.forgot.Add(1)
	}
	c.listed.forget(ref.Board)
}

// Renew makes what is known of a board newer than it was at the call, and waits for that. Callers who found the same
// share one look-up, and none is needed for what was read within a second while the feed shows that no board has changed.
// Errors: ErrBoardNotFound, ErrUnavailable.
func (c *Catalog) Renew(ctx context.Context, name string) error {
	called, w := c.now(), c.opts.Feed
	k, ok := c.listed.find(name)
	if ok && k.watched && called.Sub(k.asked) <= catalogApart {
		if now, ok := w.Ask(ctx, leaderboard.BoardsPeriod); ok && now == k.boards {
			return k.err
		}
	}
	_, err := c.lookUpAfter(ctx, name, called)
	return err
}

// lookUp finds a board.
func (c *Catalog) lookUp(ctx context.Context, name string) (*known[*listed], error) {
	k, ok := c.listed.fresh(ctx, name)
	if !ok {
		return c.listed.again(ctx, name, c.load(name))
	}
	if k.err != nil {
		return nil, k.err
	}
	if good, told := k.good.Load(), k.value.told.Load(); good > told && k.value.told.CompareAndSwap(told, good) {
		c.opts.OnRead(k.value.Listing, c.clock(k.value))
	}
	return k, nil
}

// lookUpAfter asks MySQL for a board after a moment. What others know while it is away is not good enough.
func (c *Catalog) lookUpAfter(ctx context.Context, name string, moment time.Time) (*known[*listed], error) {
	for range 2 { // the first may have been under way
		k, err := c.listed.start(ctx, name, c.load(name)).wait(ctx)
		if err != nil {
			return nil, err
		}
		if !k.asked.Before(moment) {
			return k, k.err
		}
	}
	return nil, fmt.Errorf("%w: the board was last seen in the database too long ago", leaderboard.ErrUnavailable)
}

// load asks MySQL. While that does not answer, a board that this process does not know is looked for where other processes
// left it.
func (c *Catalog) load(name string) loader[*listed] {
	return func(ctx context.Context, k *known[*listed]) (err error) {
		if last, ok := c.listed.kept.Get(name); c.opts.LastKnown == nil || ok && last.usable(c.now()) {
			k.value, err = c.ask(ctx, name)
			return err
		}
		asked := c.asking.start(ctx, name, func(ctx context.Context) (*listed, error) { return c.ask(ctx, name) }, func(*listed, error) {})
		soon, cancel := context.WithTimeout(ctx, catalogWait)
		defer cancel()
		if k.value, err = asked.wait(soon); err == nil || isAnswer(err) {
			return err
		}
		if c.lastKnown(ctx, name, k) {
			return nil
		}
		if k.value, err = asked.wait(ctx); errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, leaderboard.ErrUnavailable) {
			err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		}
		return err
	}
}

// lastKnown finds a board as another process saw it last.
func (c *Catalog) lastKnown(ctx context.Context, name string, k *known[*listed]) bool {
	found, age, left, ok, err := c.opts.LastKnown(ctx, name)
	if err != nil || !ok {
		return false
	}
	now := c.now()
	k.asked, k.until = now.Add(-age), now.Add(left)
	k.fail(now)
	k.value, err = c.newListed(found, k.asked)
	return err == nil
}

func (c *Catalog) newListed(l leaderboard.Listing, sent time.Time) (*listed, error) {
	calendar, err := l.Board.Rules.Calendar()
	return &listed{Listing: l, calendar: calendar, serial: c.serial.Add(1), sent: sent}, err
}

func (c *Catalog) ask(ctx context.Context, name string) (l *listed, err error) {
	gate := c.opts.Gate
	if _, known := c.listed.kept.Get(name); known { // what is read never waits behind what is asked for
		gate = ungated
	}
	err = gate(ctx, func(ctx context.Context) error {
		sent := c.now()
		found, err := c.boards.Current(ctx, name)
		if err == nil {
			l, err = c.newListed(found, sent)
		}
		return err
	})
	if err == nil {
		c.opts.OnRead(l.Listing, l.Clock)
	}
	return l, err
}
