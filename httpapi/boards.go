package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Boards keeps boards and their rules. It returns the state of the database, and its changes are durable.
type Boards interface {
	// ChangeBoard creates a board, or replaces its rules by the result of change; equal rules change nothing. No other request
	// changes the board meanwhile; change may be called again, and its errors are returned. Others: *leaderboard.RuleError,
	// *leaderboard.ConflictError.
	ChangeBoard(ctx context.Context, name string, change leaderboard.RulesChange) (b leaderboard.Board, created bool, err error)
	// Board finds one board; ErrBoardNotFound.
	Board(ctx context.Context, name string) (leaderboard.Board, error)
	// BoardsLabelled lists up to limit boards that have all labels and a name above after, in the order of the bytes of their
	// names.
	BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error)
	// DeleteBoard removes a board with all its periods; the name is free when it returns. ErrBoardNotFound.
	DeleteBoard(ctx context.Context, name string) error
}

// Periods lists the periods of boards.
type Periods interface {
	// Periods lists the periods of a board, newest first, with an id below before (0: all), in window ("": any).
	Periods(ctx context.Context, boardID int64, window leaderboard.Window, before int64, limit int) ([]leaderboard.Period, error)
}

// boardHandlers serve boards and the lists of their periods.
type boardHandlers struct {
	Resolver
	boards  Boards
	periods Periods
	check   func(leaderboard.Rules) []leaderboard.FieldError // in addition to Rules.Check
}

// get answers GET /v1/boards/{board}.
func (h *boardHandlers) get(c *Call) error {
	name, err := c.Params.BoardName()
	if err != nil {
		return err
	}
	// For a caller that may not read it, the answer is as fast as for a name that no board has: it asks the database nothing.
	known, unknown := h.Catalog.Board(c.Ctx, name)
	if unknown == nil && c.mayRead(&known) != nil {
		return leaderboard.ErrBoardNotFound
	}
	b, err := h.boards.Board(c.Ctx, name)
	if unknown == nil && errors.Is(err, leaderboard.ErrUnavailable) {
		shown, _ := h.shown(c, &known)
		shown.Stale = true
		return c.SendJSON(http.StatusOK, shown) // without an ETag: the client must see that it is stale
	}
	if err != nil {
		return err
	}
	if err := c.mayRead(&b); err != nil {
		return err
	}
	return h.sendBoard(c, http.StatusOK, &b)
}

// put answers PUT /v1/boards/{board}: 201 when the board is new.
func (h *boardHandlers) put(c *Call) error {
	name := c.Params.PathValue("board")
	if broken := leaderboard.AsRule(leaderboard.CheckBoardName(name)); broken != nil {
		return wire.Reject(broken.Code, "", wire.InputError{Parameter: "board", Detail: broken.Detail})
	}
	// A member that is left out has its default; zero is checked like any other value.
	body := rulesBody{Rules: leaderboard.Rules{}.WithDefaults()}
	if err := c.Decode(&body, false, boardEmptiness(), strictly()); err != nil {
		return err
	}
	if err := readOnly("/name", body.Name, name); err != nil {
		return err
	}
	if err := mayDerive(c, &body.Rules); err != nil {
		return err
	}
	if err := h.checkRules(body.Rules); err != nil {
		return err
	}
	b, created, err := h.boards.ChangeBoard(c.Ctx, name, func(b *leaderboard.Board) (leaderboard.Rules, error) {
		return body.Rules, mayChange(c, b)
	})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		c.Locate("/v1/boards/" + name)
	}
	return h.sendBoard(c, status, &b)
}

func (h *boardHandlers) checkRules(rules leaderboard.Rules) error {
	var fields []leaderboard.FieldError
	if broken := leaderboard.AsRule(rules.Check()); broken != nil {
		fields = broken.Fields
	}
	if len(rules.Windows) == 0 {
		fields = append(fields, leaderboard.FieldError{Pointer: "/windows", Detail: "want at least one window"})
	}
	fields = append(fields, h.check(rules)...)
	if len(fields) == 0 {
		return nil
	}
	return wire.Reject(leaderboard.CodeInvalidBoard, "", wire.FieldErrors(fields)...)
}

// delete answers DELETE /v1/boards/{board}.
func (h *boardHandlers) delete(c *Call) error {
	name, err := c.Params.BoardName()
	if err != nil {
		return err
	}
	if err := h.boards.DeleteBoard(c.Ctx, name); err != nil {
		return err
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}

// list answers GET /v1/boards: all boards, or the boards with given labels. Private boards are listed to callers that may read
// them; a page may therefore hold fewer boards than limit, and still have a next one.
func (h *boardHandlers) list(c *Call) error {
	limit := int(c.Params.Integer("limit"))
	labels := c.Params.labels()
	of := wire.List{Name: "boards"}
	after := AfterCursor(c, of.After)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	out := api.Boards{Boards: []api.Board{}}
	begin, size := after, limit+1 // a board more than fits means that there is a next page
	for range maxScan {
		boards, err := h.boards.BoardsLabelled(c.Ctx, labels, after, size)
		if errors.Is(err, leaderboard.ErrUnavailable) {
			size, out.Boards, out.Stale = limit+1, out.Boards[:0], true
			boards, err = h.Catalog.Known(begin, size, func(b *leaderboard.Board) bool { return b.Rules.Labels.Match(labels) && c.mayRead(b) == nil }), nil
		}
		if err != nil {
			return err
		}
		for i := range boards {
			if c.mayRead(&boards[i]) != nil {
				after = boards[i].Name
				continue
			}
			if len(out.Boards) == limit {
				out.NextCursor = of.Cursor(out.Boards[limit-1].Name) // a cursor can be read: it names no board that the caller may not see
				return c.SendJSON(http.StatusOK, out)
			}
			shown, _ := h.shown(c, &boards[i])
			out.Boards = append(out.Boards, shown)
			after = boards[i].Name
		}
		if len(boards) < size {
			return c.SendJSON(http.StatusOK, out)
		}
		size = max(size, scanSize)
	}
	if len(out.Boards) > 0 {
		after = out.Boards[len(out.Boards)-1].Name
	}
	out.NextCursor = of.Cursor(after)
	return c.SendJSON(http.StatusOK, out)
}

func showPeriod(p *leaderboard.Period) api.Period {
	out := api.Period{Window: p.Window, Period: p.Name(), State: p.State, Seq: p.LastSeq, Total: p.EntryCount, AsOf: p.Committed.Time()}
	if p.Window != leaderboard.WindowAllTime {
		out.StartsAt = Moment(p.StartsAt)
	}
	if p.EndsAt != leaderboard.Forever {
		out.EndsAt = Moment(p.EndsAt)
	}
	return out
}

// listPeriods answers GET …/periods: newest first.
func (h *boardHandlers) listPeriods(c *Call) error {
	limit := int(c.Params.Integer("limit"))
	window, cursor := c.Params.Window(), c.Params.Text("cursor")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	_, board, err := h.Resolve(c, "", "")
	if err != nil {
		return err
	}
	of := wire.List{Name: "periods", Id: board.ID}
	var before int64
	if cursor != "" {
		var ok bool
		if before, ok = of.AfterID(cursor); !ok {
			return wire.Malformed(wire.BadCursor())
		}
	}
	periods, err := h.periods.Periods(c.Ctx, board.ID, leaderboard.Window(window), before, limit+1)
	if err != nil {
		return err
	}
	return SendList(c, "periods", periods, limit, showPeriod, func(last *leaderboard.Period) string { return of.CursorID(last.ID) })
}

// patch answers PATCH /v1/boards/{board}, a merge patch (RFC 7396) of its rules.
func (h *boardHandlers) patch(c *Call) error {
	name, err := c.Params.BoardName()
	if err != nil {
		return err
	}
	var patch jsontext.Value
	if err := c.Decode(&patch, false, nil); err != nil {
		return err
	}
	var known rulesBody // a name that no rule has is refused, with null too
	if err := wire.Unmarshal(patch, &known); err != nil {
		return err
	}
	if err := readOnly("/name", known.Name, name); err != nil {
		return err
	}
	if err := mayDerive(c, &known.Rules); err != nil {
		return err
	}
	b, _, err := h.boards.ChangeBoard(c.Ctx, name, func(b *leaderboard.Board) (leaderboard.Rules, error) {
		if b == nil {
			return leaderboard.Rules{}, leaderboard.ErrBoardNotFound
		}
		if err := mayChange(c, b); err != nil {
			return leaderboard.Rules{}, err
		}
		if err := cmp.Or(readOnly("/created_time", known.CreatedTime, b.CreatedTime.String()), readOnly("/updated_time", known.UpdatedTime, b.UpdatedTime.String())); err != nil {
			return leaderboard.Rules{}, err
		}
		rules, err := patched(&b.Rules, patch)
		if err != nil {
			return leaderboard.Rules{}, err
		}
		if err := mayDerive(c, &rules); err != nil { // of its present sources
			return leaderboard.Rules{}, err
		}
		return rules, h.checkRules(rules)
	})
	if err != nil {
		return err
	}
	return h.sendBoard(c, http.StatusOK, &b)
}

// shown returns a board as the caller may see it, and its ETag: without sources that the caller may not read.
func (h *boardHandlers) shown(c *Call, b *leaderboard.Board) (shown api.Board, etag string) {
	shown = api.Board{Name: b.Name, Rules: b.Rules, CreatedTime: b.CreatedTime.Time(), UpdatedTime: b.UpdatedTime.Time()}
	etag = boardTag(b)
	if b.Rules.Derive == nil || c.seesSources(b.Name) {
		return shown, etag
	}
	hash, rule := boardHash(b).Text("in part"), *b.Rules.Derive
	rule.From = []leaderboard.DeriveFrom{}
	for _, source := range b.Rules.Derive.From {
		if h.mayReadNamed(c, source.Board) {
			rule.From = append(rule.From, source)
			hash = hash.Text(source.Board)
		}
	}
	if len(rule.From) < len(b.Rules.Derive.From) {
		shown.Derive, etag = &rule, hash.Tag(b.Version)
	}
	return shown, etag
}

// sendBoard answers with a board, or with 304 when the client has it.
func (h *boardHandlers) sendBoard(c *Call, status int, b *leaderboard.Board) error {
	shown, etag := h.shown(c, b)
	header := c.W.Header()
	header["Etag"] = []string{etag}
	if c.Route.Method == http.MethodGet {
		if tag, is := wire.NoneMatch(c.R.Header["If-None-Match"], etag); is {
			header["Etag"] = []string{tag}
			header["Vary"] = c.shared.values.vary
			header["Cache-Control"] = c.shared.values.private
			c.SendNothing(http.StatusNotModified)
			return nil
		}
	}
	return c.SendJSON(status, shown)
}
