package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// SourceVerifier verifies derived boards.
type SourceVerifier interface {
	// VerifySources compares the entries of a derived board with the entries that follow from its sources, at one state. Errors:
	// ErrBoardNotFound, ErrNotDerived.
	VerifySources(ctx context.Context, board string) (leaderboard.Verification, error)
}

// Runs knows the runs of the refresher.
type Runs interface {
	// Run finds one run; ErrRunNotFound.
	Run(ctx context.Context, id int64) (leaderboard.Run, error)
	// Runs lists runs newest first: of one board (0: all), with an id below before (0: all).
	Runs(ctx context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error)
}

// Refresher works on the copies of periods.
type Refresher interface {
	// Start begins a run, or joins a run that was requested already, and returns at once with its id. kind is RunKindFull,
	// RunKindIncremental, or for derived boards RunKindRecompute. wait blocks until the run is finished or its ctx ends; the run
	// continues without a waiter.
	Start(ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason,
		actor string) (run leaderboard.Run, wait func(context.Context) (leaderboard.Run, error), err error)
	// Verify compares the Redis copy of a period with the database at one seq.
	Verify(ctx context.Context, ref leaderboard.PeriodRef) (leaderboard.Verification, error)
}

// runHandlers serve runs and verifications.
type runHandlers struct {
	Resolver
	boards    BoardFinder
	runs      Runs
	derived   SourceVerifier // nil: no derived boards
	refresher Refresher
}

// runFailed makes the error of a failed run for a request that waited for it: callers that look only at the status, such as cron
// jobs, must notice the failure.
func runFailed(r *leaderboard.Run) error {
	shown := api.RunOf(r)
	return &wire.Rejection{Code: wire.CodeRunFailed, Detail: "The run failed: " + cmp.Or(r.Error, "see the log") + ".", Run: &shown}
}

// rebuild answers POST …/rebuild: 202 with the run under way, or with ?wait= 200 with the finished one.
func (h *runHandlers) rebuild(c *Call) error {
	var body struct {
		Kind   string `json:"kind"`
		Window string `json:"window"`
		Period string `json:"period"`
	}
	if err := c.Decode(&body, true, &wire.Emptiness{NonEmpty: []string{"kind", "window", "period"}}); err != nil {
		return err
	}
	kind := leaderboard.RunKind(body.Kind)
	switch kind {
	case leaderboard.RunKindFull, leaderboard.RunKindIncremental, leaderboard.RunKindRecompute:
	case "":
		kind = leaderboard.RunKindFull
	default:
		return wire.Malformed(wire.InputError{Pointer: "/kind", Detail: "want full, incremental or recompute"})
	}
	wait := c.Params.Duration("wait")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	if detail := unknownWindow(body.Window); detail != "" {
		return wire.Malformed(wire.InputError{Pointer: "/window", Detail: detail})
	}
	ref, err := h.resolveRow(c, body.Window, body.Period)
	if unnamed, ok := errors.AsType[*leaderboard.PeriodError](err); ok && unnamed.Malformed {
		return wire.Malformed(wire.InputError{Pointer: "/period", Detail: unnamed.Detail})
	}
	if err != nil {
		return err
	}
	if kind == leaderboard.RunKindRecompute && ref.Rules.Derive == nil {
		return leaderboard.ErrNotDerived
	}
	run, finished, err := h.refresher.Start(c.Ctx, ref, kind, leaderboard.RunReasonAdmin, c.Caller.Key)
	if err != nil {
		return err
	}
	if wait > 0 {
		ctx, cancel := context.WithTimeout(c.Ctx, wait)
		defer cancel()
		done, err := finished(ctx)
		if done.State == leaderboard.RunStateFailed {
			return runFailed(&done)
		}
		if err == nil || done.State != "" && done.State != leaderboard.RunStateRunning {
			return c.SendJSON(http.StatusOK, api.RunOf(&done)) // the document has the state of the run
		}
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	c.Locate("/v1/runs/" + strconv.FormatInt(run.ID, 10))
	return c.SendJSON(http.StatusAccepted, api.RunOf(&run))
}

// get answers GET /v1/runs/{id}.
func (h *runHandlers) get(c *Call) error {
	id, ok := wire.ParseInteger(c.Params.PathValue("id"))
	if !ok || id < 1 {
		return leaderboard.ErrRunNotFound
	}
	run, err := h.runs.Run(c.Ctx, id)
	if err != nil {
		return err
	}
	if !c.Covers(run.Board) {
		return leaderboard.ErrRunNotFound
	}
	return c.SendJSON(http.StatusOK, api.RunOf(&run))
}

// list answers GET /v1/runs: newest first, of all boards or of one.
func (h *runHandlers) list(c *Call) error {
	limit := int(c.Params.Integer("limit"))
	name, cursor := c.Params.Text("board"), c.Params.Text("cursor")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	boardID, err := BoardIDOf(c, h.boards, name)
	if err != nil {
		return err
	}
	of := wire.List{Name: "runs", Id: boardID}
	var before int64
	if cursor != "" {
		var ok bool
		if before, ok = of.AfterID(cursor); !ok {
			return wire.Malformed(wire.BadCursor())
		}
	}
	runs, err := h.runs.Runs(c.Ctx, boardID, before, limit+1)
	if err != nil {
		return err
	}
	return SendList(c, "runs", runs, limit, api.RunOf, func(last *leaderboard.Run) string { return of.CursorID(last.ID) })
}

// verify answers GET …/verify: the Redis copy against the database at one seq, or a derived board against its sources.
func (h *runHandlers) verify(c *Call) error {
	window, period, against := c.Params.Window(), c.Params.Text("period"), c.Params.Word("against")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	ref, err := h.resolveRow(c, window, period)
	if err != nil {
		return err
	}
	var v leaderboard.Verification
	switch {
	case against != "sources":
		v, err = h.refresher.Verify(c.Ctx, ref)
	case h.derived == nil:
		err = leaderboard.ErrNotDerived
	default:
		v, err = h.derived.VerifySources(c.Ctx, ref.Board)
	}
	if err != nil {
		return err
	}
	return c.SendJSON(http.StatusOK, api.VerificationOf(&ref, &v))
}
