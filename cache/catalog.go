package cache

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"leaderboard"
)

// Boards is where a Catalog looks boards up. Errors: ErrBoardNotFound, ErrPeriodNotFound, ErrUnavailable.
type Boards interface {
	Board(ctx context.Context, name string) (leaderboard.Board, error)
	CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error)
}

const (
	catalogTTL     = time.Second
	catalogWait    = 250 * time.Millisecond
	catalogTimeout = 2 * time.Second
	catalogBoards  = 10_000
	catalogBytes   = 32 << 20
	// catalogLimit is how long boards are known while MySQL is away, no shorter than pages are served.
	catalogLimit = 10 * time.Minute
)

// Catalog knows boards and their current periods by name. What it says is at most a second old, older only while MySQL
// does not answer. It may be used concurrently.
type Catalog struct {
	boards Boards
	kept   *keeper[string, *listed]
	away   atomic.Bool
}

// listed is a board and its current periods, in the order of its windows. It is shared; nobody writes to it.
type listed struct {
	board   leaderboard.Board
	periods []leaderboard.Period
}

// NewCatalog does no I/O.
func NewCatalog(boards Boards) *Catalog { return newCatalog(boards, time.Now) }

func newCatalog(boards Boards, now func() time.Time) *Catalog {
	same := func(l *listed) *listed { return l }
	return &Catalog{boards: boards, kept: newKeeper[string](
		keepRules{fresh: catalogTTL, grace: catalogTTL, limit: catalogLimit, wait: catalogWait, retry: catalogTTL, now: now},
		keepOps[*listed]{
			seq: func(*listed) int64 { return 0 }, local: same, stale: same,
			bytes: func(l *listed) int { return 1000 + len(l.board.Rules.Title) + 200*len(l.periods) },
		}, catalogTimeout, catalogBoards, catalogBytes)}
}

// Resolve finds a period of a board. window "" is the board's first, period "" or "current" its current one. Errors:
// ErrBoardNotFound, ErrPeriodNotFound (also when the board does not have the window), ErrUnavailable.
func (c *Catalog) Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, leaderboard.Board, error) {
	l, err := c.lookUp(ctx, board)
	if err != nil {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, err
	}
	i := 0
	if window != "" {
		i = slices.IndexFunc(l.periods, func(p leaderboard.Period) bool { return string(p.Window) == window })
	}
	if i < 0 || i >= len(l.periods) {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, leaderboard.ErrPeriodNotFound
	}
	p := &l.periods[i]
	if period != "" && period != leaderboard.CurrentPeriod && period != p.Name() {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, leaderboard.ErrPeriodNotFound
	}
	return Ref(&l.board, p), l.board, nil
}

// Board finds a board by name.
func (c *Catalog) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	l, err := c.lookUp(ctx, name)
	if err != nil {
		return leaderboard.Board{}, err
	}
	return l.board, nil
}

// Forget makes the next look-up of a board ask MySQL, because this process has just changed it.
func (c *Catalog) Forget(name string) { c.kept.forget(name) }

// Ref is the reference to a period of a board.
func Ref(b *leaderboard.Board, p *leaderboard.Period) leaderboard.PeriodRef {
	return leaderboard.PeriodRef{ID: p.ID, BoardID: b.ID, Board: b.Name, Window: p.Window, Name: p.Name(), Rules: &b.Rules}
}

func (c *Catalog) lookUp(ctx context.Context, name string) (*listed, error) {
	if l, ok := c.kept.fresh(name, 0); ok {
		return l, nil
	}
	return c.kept.get(ctx, name, 0, func(ctx context.Context, _ int64) (*listed, error) { return c.load(ctx, name) })
}

// Away says whether MySQL failed to answer when it was asked last, which is a second ago at most while there are
// requests. Nobody can tell then whether an answer is still true.
func (c *Catalog) Away() bool { return c.away.Load() }

func (c *Catalog) load(ctx context.Context, name string) (*listed, error) {
	l, err := c.ask(ctx, name)
	c.away.Store(err != nil && !isAnswer(err) && !errors.Is(err, context.Canceled))
	return l, err
}

func (c *Catalog) ask(ctx context.Context, name string) (*listed, error) {
	b, err := c.boards.Board(ctx, name)
	if err != nil {
		return nil, err
	}
	l := &listed{board: b}
	for _, w := range b.Rules.Windows {
		p, err := c.boards.CurrentPeriod(ctx, b, w)
		if err != nil {
			return nil, err
		}
		l.periods = append(l.periods, p)
	}
	return l, nil
}
