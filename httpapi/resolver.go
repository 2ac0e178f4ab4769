package httpapi

import (
	"context"
	"errors"

	"leaderboard/leaderboard"
)

// Catalog finds the period that a request is about. It is called for every request, so it answers from memory.
type Catalog interface {
	// Resolve takes a board's name, a window ("" for the board's first) and a period's name ("" for the current one).
	// The board must not be changed. Errors: ErrBoardNotFound, ErrPeriodNotFound (also for a window that the board does not have).
	Resolve(ctx context.Context, board, window, period string) (leaderboard.PeriodRef, *leaderboard.Board, error)
	// Renew makes Resolve answer with the state of the board at the call or later. Errors: ErrBoardNotFound.
	Renew(ctx context.Context, board string) error
	// Board finds a board as Resolve knows it. Errors: ErrBoardNotFound.
	Board(ctx context.Context, name string) (leaderboard.Board, error)
	// Known returns up to limit boards that are known here without the database, have a name above after, and for which want is
	// true, in the order of the bytes of their names.
	Known(after string, limit int, want func(*leaderboard.Board) bool) []leaderboard.Board
	// PeriodsBefore lists the periods of a board's window that begin before a moment and have a row, the latest first, at
	// most limit. Errors: ErrBoardNotFound.
	PeriodsBefore(ctx context.Context, board string, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error)
	// Labelled returns the names of the boards that have all labels, private ones included, in the order of their bytes.
	// Errors: a *leaderboard.RuleError when they are too many.
	Labelled(ctx context.Context, labels leaderboard.Labels) ([]string, error)
}

// Resolver finds the board and the period that a request is about, if the caller may see them.
type Resolver struct{ Catalog Catalog }

// Resolve finds the period that the path and the two parameters name and checks that the caller may see its board.
func (r Resolver) Resolve(c *Call, window, period string) (leaderboard.PeriodRef, *leaderboard.Board, error) {
	return r.resolveOn(c, c.Params.PathValue("board"), window, period)
}

// resolveOn is Resolve for any board.
func (r Resolver) resolveOn(c *Call, name, window, period string) (leaderboard.PeriodRef, *leaderboard.Board, error) {
	if leaderboard.CheckBoardName(name) != nil {
		return leaderboard.PeriodRef{}, nil, leaderboard.ErrBoardNotFound
	}
	ref, board, err := r.Catalog.Resolve(c.Ctx, name, window, period)
	if errors.Is(err, leaderboard.ErrPeriodNotFound) {
		if hidden := r.unseen(c, name); hidden != nil {
			err = hidden
		}
	}
	if err == nil {
		if err = c.mayRead(board); err != nil && ref.Stale {
			err = leaderboard.ErrUnavailable // like for an unknown board, while the database is away
		}
	}
	if err != nil {
		return leaderboard.PeriodRef{}, nil, err
	}
	return ref, board, nil
}

// resolveSeen is resolveOn for a caller who has seen a seq of the board, 0 for none: another server may just have made a board that
// the catalog does not know. Other names that no board has must not reach MySQL again.
func (r Resolver) resolveSeen(c *Call, name, window, period string, seq int64) (leaderboard.PeriodRef, *leaderboard.Board, error) {
	ref, board, err := r.resolveOn(c, name, window, period)
	if seq > 0 && errors.Is(err, leaderboard.ErrBoardNotFound) && leaderboard.CheckBoardName(name) == nil && r.Catalog.Renew(c.Ctx, name) == nil {
		return r.resolveOn(c, name, window, period)
	}
	return ref, board, err
}

// unseen returns why the caller may not see a board. Such a caller must not learn which periods the board lacks.
func (r Resolver) unseen(c *Call, name string) error {
	b, err := r.Catalog.Board(c.Ctx, name)
	if err != nil {
		return err
	}
	return c.mayRead(&b)
}

// ResolveBoard finds the board of the path, also if it has no current period.
func (r Resolver) ResolveBoard(c *Call) (*leaderboard.Board, error) {
	_, board, err := r.Resolve(c, "", "")
	if !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		return board, err
	}
	b, err := r.Catalog.Board(c.Ctx, c.Params.PathValue("board"))
	return &b, err
}

// resolveRow is Resolve for work on the row of a period, and not on its entries.
func (r Resolver) resolveRow(c *Call, window, period string) (leaderboard.PeriodRef, error) {
	ref, _, err := r.Resolve(c, window, period)
	if err == nil && !ref.HasRow() {
		err = &leaderboard.PeriodError{Detail: "No entry was ever made in " + ref.Name + ", so there is nothing to do."}
	}
	return ref, err
}

// mayReadNamed is mayRead for a source that the rules of another board name: only callers that could read it learn whether it
// exists.
func (r Resolver) mayReadNamed(c *Call, name string) bool {
	if c.Key != nil && c.Key.Covers(name) {
		return true
	}
	b, err := r.Catalog.Board(c.Ctx, name)
	return err == nil && c.mayRead(&b) == nil
}

// MayReadSource reports whether the caller is shown a source of a derived board: admins of the board are shown all.
func (r Resolver) MayReadSource(c *Call, board, source string) bool {
	return c.seesSources(board) || r.mayReadNamed(c, source)
}

// Target is the period that a reading request asks about, with the common parameters.
type Target struct {
	Ref     leaderboard.PeriodRef
	Query   leaderboard.Query
	Private bool   // only the caller may keep the answer
	Shows   []Show // data to show with the entries; nil: none
}

// Target resolves the board of the path with the common parameters. Its error has all errors of the parameters so far.
func (r Resolver) Target(c *Call) (Target, error) {
	window, period := c.Params.Window(), c.Params.Text("period")
	mode := c.Params.Mode()
	minSeq, shows := c.Params.Integer("min_seq"), c.requestedShows()
	if err := c.Params.BadInput(); err != nil {
		return Target{}, err
	}
	c.resolved = resolved{minSeq: minSeq}
	ref, board, err := r.resolveSeen(c, c.Params.PathValue("board"), window, period, minSeq)
	if err != nil {
		return Target{}, err
	}
	c.resolved.periodID = ref.ID
	if mode == "" {
		mode = ref.Rules.Mode
	}
	private := board.Rules.Visibility != leaderboard.VisibilityPublic
	on := Target{Ref: ref, Query: leaderboard.Query{Mode: mode, MinSeq: minSeq}, Private: private}
	for _, show := range shows {
		if show.On(&board.Rules) {
			on.Shows = append(on.Shows, show)
		}
	}
	if ref.Closed {
		on.Query.MinSeq = max(minSeq, ref.LastSeq) // no copy that lags behind may pass for the last state
	}
	return on, nil
}

// requestedShows returns the Shows that a request asks for; nil: none.
func (c *Call) requestedShows() (list []Show) {
	for _, show := range c.shared.shows {
		if c.Params.Boolean(show.Param()) {
			list = append(list, show)
		}
	}
	return list
}

// Kept returns the Kept that a request asks for; nil: none.
func (c *Call) Kept() Kept { return keptAmong(c.requestedShows()) }

// NotePeriod notes the period of the request, 0 for none yet, for RetryOutdated.
func (c *Call) NotePeriod(id int64) { c.resolved = resolved{periodID: id} }

// RetryOutdated makes a handler that calls handle again if the catalog was outdated. The catalog answers from memory for a moment.
// If another server has meanwhile deleted the board and created it again, or changed its windows, the catalog's period lacks a
// state that the caller has seen: this is not the caller's error.
func (r Resolver) RetryOutdated(handle func(*Call) error) func(*Call) error {
	return func(c *Call) error {
		err := handle(c)
		if err != nil && r.outdated(c, err) {
			return handle(c)
		}
		return err
	}
}

// outdated reports whether the board has changed since the catalog found the period of the request, if that may be the cause of an
// error. A period that the catalog itself does not find is looked for again only for a caller who knows a seq of it: names that no
// period can have must not reach MySQL.
func (r Resolver) outdated(c *Call, err error) bool {
	if c.resolved.periodID == 0 && c.resolved.minSeq == 0 || !r.Renewed(c.Ctx, err, c.Params.PathValue("board")) {
		return false
	}
	ref, _, err := r.Resolve(c, c.Params.Text("window"), c.Params.Text("period"))
	return err != nil || ref.ID != c.resolved.periodID
}

// Renewed reports whether an error may come from the catalog's memory of boards, which it renews then.
func (r Resolver) Renewed(ctx context.Context, err error, boards ...string) bool {
	if !errors.Is(err, leaderboard.ErrSeqAhead) && !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		return false
	}
	for _, name := range boards {
		if err := r.Catalog.Renew(ctx, name); err != nil && !errors.Is(err, leaderboard.ErrBoardNotFound) {
			return false
		}
	}
	return true
}
