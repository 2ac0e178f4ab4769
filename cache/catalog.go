package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/internal/bounded"
	"leaderboard/leaderboard"
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
	// catalogApart is the time between two attempts to read a board that cannot be read. It is also how long a board holds
	// without a feed.
	catalogApart   = time.Second
	catalogWait    = 250 * time.Millisecond
	catalogTimeout = 2 * time.Second
	catalogBoards  = 10_000
	catalogBytes   = 32 << 20
	// catalogLimit is how long boards are known while MySQL is away, which is as long as pages are served.
	catalogLimit = 10 * time.Minute
	// catalogStale is how long ago a board was last known to hold at most, as long as it can be read: a look-up may be under way.
	// Answers from a board that was last known to hold before that are marked stale, after catalogApart if it cannot be read.
	catalogStale = catalogApart + catalogTimeout
	// pastKept is how long it may take to notice that a past period was closed or given up: the feed does not show that.
	pastKept = time.Second
)

// Catalog knows boards and their periods by name. The feed judges a board as it judges an answer, by the board's version; the
// version of the table of boards decides whether a name has no board, and which boards have some labels. A period that has ended by the
// database clock is never the current one: the Catalog knows the last reading of that clock and the time since then, and does
// not use the clock of this machine. Before it answers that a period has not begun, it waits for another reading. A board that
// cannot be read again is marked stale, and no other board is. It may be used concurrently.
type Catalog struct {
	boards    Boards
	opts      CatalogOptions
	now       func() time.Time
	listings  *memo[string, *boardListing]
	unkept    *bounded.Map[string, leaderboard.PeriodRef] // the last commits to boards that are not kept: look-ups that began since then find that state, or a later one
	past      *memo[pastPeriods, []leaderboard.Period]
	chosen    *memo[selection, []string]
	serial    atomic.Int64                          // of the last boardListing
	clockRead atomic.Pointer[time.Time]             // when it was last read for a period that has not begun
	forgot    atomic.Int64                          // how often a board's labels may have changed
	fetching  calls[string, *cached[*boardListing]] // they continue while a board that another process left is used
}

// boardListing is a board and its current periods. It is shared and never written to.
type boardListing struct {
	leaderboard.Listing
	calendar leaderboard.Calendar
	serial   int64        // no other one has it
	sent     time.Time    // the statement that read Listing.Clock, or before that
	notified atomic.Int64 // reading.good when CatalogOptions.OnRead was called
}

// current returns the current period of a window, or nil.
func (l *boardListing) current(w leaderboard.Window) *leaderboard.Period {
	for i := range l.Periods {
		if l.Periods[i].Window == w {
			return &l.Periods[i]
		}
	}
	return nil
}

// over reports whether the period here is no longer the current one of its window, by the database clock. When this
// server does not know all rules of the board, another server may begin a current period without a row at any time.
func (l *boardListing) over(w leaderboard.Window, clock leaderboard.Micros) bool {
	if p := l.current(w); p != nil {
		return p.ID == 0 || clock >= p.EndsAt || p.StartsAt-clock > leaderboard.ClockBack
	}
	if !slices.Contains(l.Board.Rules.Windows, w) {
		return false
	}
	if !l.calendar.Knows(w) {
		return true
	}
	span, ok := l.calendar.At(w, clock)
	return ok && (l.Clock < span.StartsAt || l.Clock >= span.EndsAt)
}

// CatalogOptions adjust a Catalog; the zero value is fit for commands.
type CatalogOptions struct {
	// OnRead is called for each board that is read, once a second, with the board as MySQL described it last and the database
	// clock now. It must not block.
	OnRead func(l leaderboard.Listing, clock leaderboard.Micros)
	// LastKnown finds a board that cannot be read from MySQL as another process read it last, with how long ago that was and
	// how long it may still be used; ok is false when no process has. nil: never.
	LastKnown func(ctx context.Context, name string) (l leaderboard.Listing, age, left time.Duration, ok bool, err error)
	Now       func() time.Time // time.Now when nil
	// Feed shows when boards change, and the database clock. nil: a board holds for a second, and a board
	// that does not exist is looked up each time.
	Feed *feed.Feed
	// Gate runs look-ups of boards that are not known here, each when there is room for it. nil: at once.
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
	c := &Catalog{boards: boards, opts: opts, now: opts.Now, fetching: calls[string, *cached[*boardListing]]{timeout: catalogTimeout}}
	c.unkept = bounded.New[string, leaderboard.PeriodRef](catalogBoards, catalogBoards*noneBytes)
	c.listings = newMemo[string](c, c.holds, func(l *boardListing) int { return 1000 + len(l.Board.Rules.Title) + 200*len(l.Periods) })
	c.past = newMemo[pastPeriods](c, c.isRecent, func(list []leaderboard.Period) int { return answerBytes + 200*len(list) })
	c.chosen = newMemo[selection](c, c.holds, func(names []string) int { return answerBytes + 2*leaderboard.MaxBoardName*len(names) })
	return c
}

func ungated(ctx context.Context, work func(context.Context) error) error { return work(ctx) }

// holds reports whether a reading is still true, by the judgement of the feed.
func (c *Catalog) holds(ctx context.Context, r *reading) bool {
	now := c.now()
	switch {
	case !r.until.IsZero():
		return false
	case c.opts.Feed == nil:
		return r.err == nil && now.Sub(r.read) <= catalogApart
	case r.at == nil || c.opts.Feed.Check(ctx, r.of, *r.at, r.also...) != feed.VerdictFresh:
		return false
	}
	r.confirm(now)
	return true
}

func (c *Catalog) isRecent(_ context.Context, r *reading) bool {
	return c.now().Sub(r.read) <= pastKept
}

func (c *Catalog) away() bool { return c.opts.Feed != nil && c.opts.Feed.Away() }

// before returns the revision of the table of boards before the next reading, nil when the database does not answer. It counts as
// reading the table, so that look-ups in the next second wait for no statement of the feed.
func (c *Catalog) before(ctx context.Context) *leaderboard.Revision {
	w := c.opts.Feed
	if w == nil {
		return nil
	}
	r, _, ok := w.Latest(leaderboard.BoardsPeriod)
	if !ok && !w.Away() && w.Wait(ctx, leaderboard.BoardsPeriod) == nil {
		r, _, ok = w.Latest(leaderboard.BoardsPeriod)
	}
	if !ok {
		return nil
	}
	return &r
}

// clock returns the database clock, by its last reading: with the board, or later by the feed. It may be ahead, not
// behind.
func (c *Catalog) clock(l *boardListing) leaderboard.Micros {
	clock, sent := l.Clock, l.sent
	if w := c.opts.Feed; w != nil {
		if latest, at, ok := w.Clock(); ok && at.After(sent) {
			clock, sent = latest, at
		}
	}
	return clock + leaderboard.Micros(c.now().Sub(sent).Microseconds())
}

// Resolve finds a period of a board. window "" is the board's first, period "" or "current" its current one, "previous"
// the one before that; every other is a name. A period that is over and never had an entry has no row. Errors:
// ErrBoardNotFound, a *leaderboard.PeriodError, ErrUnavailable. The board must not be changed.
func (c *Catalog) Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, *leaderboard.Board, error) {
	called, w := c.now(), leaderboard.Window(window)
	k, err := c.lookUp(ctx, board)
	if err != nil {
		return leaderboard.PeriodRef{}, nil, err
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
		return leaderboard.PeriodRef{}, nil, err
	}
	ref := p.Ref(&k.value.Board)
	ref.Stale = k.stale(called, c.away())
	return ref, &k.value.Board, nil
}

// looksApart is the time between two readings of the clock for periods that have not begun: all callers that ask for such
// periods meanwhile share the next.
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

// mayHaveBegun reports whether an error means that a period has not begun by the clock as this server knows it, and the feed can
// read the clock again: it may have leapt, and the caller may have written to the period since.
func (c *Catalog) mayHaveBegun(err error) bool {
	period, ok := errors.AsType[*leaderboard.PeriodError](err)
	return ok && period.NotBegun && c.opts.Feed != nil && !c.away()
}

// period finds a period of a window by its name in a request. If another period has begun, the board is read
// first.
func (c *Catalog) period(ctx context.Context, k *cached[*boardListing], w leaderboard.Window, name string, called time.Time) (*cached[*boardListing], *leaderboard.Period, error) {
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
	found, err := c.past.get(ctx, pastPeriods{of: l.serial, window: w, name: past.Name}, func(ctx context.Context, k *cached[[]leaderboard.Period]) error {
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
	c.unkept.Delete(name)
	c.forget(name)
}

func (c *Catalog) forget(name string) {
	c.fetching.forget(name)
	c.listings.forget(name)
}

// Committed takes a commit that this process has made to a period of a board. When another process has changed the board,
// or made it again, the writer finds that out first: then the Catalog forgets the board, so that the caller of the write
// finds the commit. It forgets what labels select only when it knows the board with other labels. It does not block.
func (c *Catalog) Committed(ref leaderboard.PeriodRef) {
	k, ok := c.listings.kept.Get(ref.Board)
	if !ok {
		// A look-up under way may bring older rules. Once is enough: while commits follow each other fast, none would be kept.
		if last, ok := c.unkept.Get(ref.Board); ok && last.BoardID == ref.BoardID && last.Version == ref.Version {
			return
		}
		c.forget(ref.Board)
		c.unkept.Put(ref.Board, noneBytes, ref)
		return
	}
	board := &k.value.Board
	if board.ID == ref.BoardID && board.Version == ref.Version {
		return // the ids of its periods follow from these
	}
	if board.ID != ref.BoardID || !maps.Equal(board.Rules.Labels, ref.Rules.Labels) {
		c.forgot.Add(1)
	}
	c.forget(ref.Board)
}

// Renew reads a board again and waits for that. Callers that found the same out of date share one look-up. A board that was
// read within a second is not read again if another statement of the feed shows that it has not changed.
// Errors: ErrBoardNotFound, ErrUnavailable.
func (c *Catalog) Renew(ctx context.Context, name string) error {
	called, w := c.now(), c.opts.Feed
	k, ok := c.listings.find(name)
	if ok && k.at != nil && called.Sub(k.read) <= catalogApart {
		if now, ok := w.Query(ctx, k.of); ok && now == *k.at {
			return k.err
		}
	}
	_, err := c.lookUpAfter(ctx, name, called)
	return err
}

// lookUp finds a board.
func (c *Catalog) lookUp(ctx context.Context, name string) (*cached[*boardListing], error) {
	k, ok := c.listings.fresh(ctx, name)
	if !ok {
		return c.listings.again(ctx, name, c.load(name))
	}
	if k.err != nil {
		return nil, k.err
	}
	if good, told := k.good.Load(), k.value.notified.Load(); good > told && k.value.notified.CompareAndSwap(told, good) {
		c.notify(k.value)
	}
	return k, nil
}

// notify is apart from lookUp, whose frame is on the stack of each stream: the listing is copied.
func (c *Catalog) notify(l *boardListing) { c.opts.OnRead(l.Listing, c.clock(l)) }

// lookUpAfter reads a board from MySQL after a moment. A board that another process left does not count.
func (c *Catalog) lookUpAfter(ctx context.Context, name string, moment time.Time) (*cached[*boardListing], error) {
	for range 2 { // the first may have been under way
		k, err := c.listings.start(ctx, name, c.load(name)).wait(ctx)
		if err != nil {
			return nil, err
		}
		if !k.read.Before(moment) {
			return k, k.err
		}
	}
	return nil, fmt.Errorf("%w: the board was last seen in the database too long ago", leaderboard.ErrUnavailable)
}

// load asks MySQL. While that does not answer, a board that this process does not know is read from where other processes
// left it.
func (c *Catalog) load(name string) loader[*boardListing] {
	return func(ctx context.Context, k *cached[*boardListing]) (err error) {
		if last, ok := c.listings.kept.Get(name); c.opts.LastKnown == nil || ok && last.usable(c.now()) {
			return c.fetch(ctx, name, k)
		}
		fetched := c.fetching.start(ctx, name, func(ctx context.Context) (*cached[*boardListing], error) {
			found := newCached[*boardListing](ctx, c)
			found.err = c.fetch(ctx, name, found)
			return found, nil
		}, nil)
		soon, cancel := context.WithTimeout(ctx, catalogWait)
		defer cancel()
		if err = k.take(fetched.wait(soon)); err == nil || isAnswer(err) {
			return err
		}
		if c.lastKnown(ctx, name, k) {
			return nil
		}
		if err = k.take(fetched.wait(ctx)); errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, leaderboard.ErrUnavailable) {
			err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		}
		return err
	}
}

// lastKnown finds a board as another process read it last.
func (c *Catalog) lastKnown(ctx context.Context, name string, k *cached[*boardListing]) bool {
	found, age, left, ok, err := c.opts.LastKnown(ctx, name)
	if err != nil || !ok {
		return false
	}
	now := c.now()
	k.read, k.until = now.Add(-age), now.Add(left)
	k.fail(now)
	k.value = c.newListing(found, k.read)
	return true
}

func (c *Catalog) newListing(l leaderboard.Listing, sent time.Time) *boardListing {
	calendar, _ := l.Board.Rules.Calendar() // it lacks windows when the time zone is not known here
	return &boardListing{Listing: l, calendar: calendar, serial: c.serial.Add(1), sent: sent}
}

// fetch reads a board from MySQL into k.
func (c *Catalog) fetch(ctx context.Context, name string, k *cached[*boardListing]) error {
	gate := c.opts.Gate
	if _, known := c.listings.kept.Get(name); known { // a board that is known here does not wait for the gate
		gate = ungated
	}
	err := gate(ctx, func(ctx context.Context) error {
		sent := c.now()
		found, err := c.boards.Current(ctx, name)
		if err == nil {
			k.value = c.newListing(found, sent)
		}
		return err
	})
	if err != nil {
		return err
	}
	l := k.value
	if c.opts.Feed != nil {
		k.of, k.at = leaderboard.BoardPeriod(l.Board.ID), new(l.Board.Revision())
		for i := range l.Periods {
			if id := l.Periods[i].ID; id != 0 { // it has a row
				k.also = append(k.also, id)
			}
		}
	}
	c.opts.OnRead(l.Listing, l.Clock)
	return nil
}
