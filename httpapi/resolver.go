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
	// Renew makes Resolve answer with the board as it is at the call or later. Errors: ErrBoardNotFound.
	Renew(ctx context.Context, board string) error
	// Board finds a board as Resolve knows it. Errors: ErrBoardNotFound.
	Board(ctx context.Context, name string) (leaderboard.Board, error)
	// Known returns the boards that are known here without the database and for which want is true, with names after that one,
	// in the order of their bytes, at most limit.
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
			err = leaderboard.ErrUnavailable // as of an unknown board, while the database is away
		}
	}
	if err != nil {
		return leaderboard.PeriodRef{}, nil, err
	}
	return ref, board, nil
}

// unseen returns why the caller may not see a board, and so does not learn which periods it lacks.
func (r Resolver) unseen(c *Call, name string) error {
	b, err := r.Catalog.Board(c.Ctx, name)
	if err != nil {
		return err
	}
	return c.mayRead(&b)
}

// ResolveBoard finds the board of the path as Resolve does, also when it has no current period.
func (r Resolver) ResolveBoard(c *Call) (*leaderboard.Board, error) {
	_, board, err := r.Resolve(c, "", "")
	if !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		return board, err
	}
	b, err := r.Catalog.Board(c.Ctx, c.Params.PathValue("board"))
	return &b, err
}

// resolveRow is Resolve for what works on the row of a period, and not on its entries.
func (r Resolver) resolveRow(c *Call, window, period string) (leaderboard.PeriodRef, error) {
	ref, _, err := r.Resolve(c, window, period)
	if err == nil && !ref.HasRow() {
		err = &leaderboard.PeriodError{Detail: "No entry was ever made in " + ref.Name + ", so there is nothing to do."}
	}
	return ref, err
}

// mayReadNamed is mayRead for a board that another one names, as its source: whether there is one of this name is seen
// only by those who could read it.
func (r Resolver) mayReadNamed(c *Call, name string) bool {
	if c.Key != nil && c.Key.Covers(name) {
		return true
	}
	b, err := r.Catalog.Board(c.Ctx, name)
	return err == nil && c.mayRead(&b) == nil
}

// Target is what a reading request looks at: a period and the common parameters.
type Target struct {
	Ref     leaderboard.PeriodRef
	Query   leaderboard.Query
	Private bool   // only the caller may keep the answer
	Shows   []Show // beside the entries; nil: none
}

// Target resolves the board of the path with the common parameters. It returns everything that was wrong with the
// parameters so far.
func (r Resolver) Target(c *Call) (Target, error) {
	window, period := c.Params.Window(), c.Params.Text("period")
	mode := c.Params.Mode()
	minSeq, shows := c.Params.Integer("min_seq"), c.asked()
	if err := c.Params.BadInput(); err != nil {
		return Target{}, err
	}
	c.resolved = resolved{minSeq: minSeq}
	ref, board, err := r.Resolve(c, window, period)
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

// asked returns the Shows that a request asks for; nil: none.
func (c *Call) asked() (list []Show) {
	for _, show := range c.shared.shows {
		if c.Params.Boolean(show.Param()) {
			list = append(list, show)
		}
	}
	return list
}

// NotePeriod notes the period that the request is about, 0 for none yet, for RetryOutdated.
func (c *Call) NotePeriod(id int64) { c.resolved = resolved{periodID: id} }

// RetryOutdated makes a handler that calls handle again when the catalog was outdated. The catalog answers from memory
// for a moment. When another server has deleted the board and created it again, or changed its windows, the period that
// it names lacks what the caller has seen already: that is not the caller's error.
func (r Resolver) RetryOutdated(handle func(*Call) error) func(*Call) error {
	return func(c *Call) error {
		err := handle(c)
		if err != nil && r.outdated(c, err) {
			return handle(c)
		}
		return err
	}
}

// outdated renews the catalog's memory of the board when an error may come from it, and reports whether it has changed.
// A period that the catalog itself does not find is looked for again only for a caller who knows a seq of it: names
// that no period can have are not to reach MySQL.
func (r Resolver) outdated(c *Call, err error) bool {
	ahead, lost := errors.Is(err, leaderboard.ErrSeqAhead), errors.Is(err, leaderboard.ErrPeriodNotFound)
	if !ahead && !lost || c.resolved.periodID == 0 && c.resolved.minSeq == 0 {
		return false
	}
	switch err := r.Catalog.Renew(c.Ctx, c.Params.PathValue("board")); {
	case errors.Is(err, leaderboard.ErrBoardNotFound):
		return true
	case err != nil:
		return false
	}
	ref, _, err := r.Resolve(c, c.Params.Text("window"), c.Params.Text("period"))
	return err != nil || ref.ID != c.resolved.periodID
}
