package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"leaderboard"
)

// maxWait bounds ?wait= of a rebuild.
const maxWait = 5 * time.Minute

// runJSON is a run as it is shown.
type runJSON struct {
	ID        int64                 `json:"id"`
	Board     string                `json:"board"`
	Window    leaderboard.Window    `json:"window"`
	Period    string                `json:"period"`
	Kind      leaderboard.RunKind   `json:"kind"`
	Reason    leaderboard.RunReason `json:"reason"`
	Actor     string                `json:"actor"`
	State     leaderboard.RunState  `json:"state"`
	FromSeq   int64                 `json:"from_seq"`
	ToSeq     int64                 `json:"to_seq"`
	Rows      int64                 `json:"rows"`
	StartedAt leaderboard.Micros    `json:"started_at"`
	Took      string                `json:"took"` // Go duration
	Error     string                `json:"error,omitempty"`
}

func showRun(r *leaderboard.Run) runJSON {
	return runJSON{
		ID: r.ID, Board: r.Board, Window: r.Window, Period: r.Period, Kind: r.Kind, Reason: r.Reason, Actor: r.Actor,
		State: r.State, FromSeq: r.FromSeq, ToSeq: r.ToSeq, Rows: r.Rows, StartedAt: r.StartedAt, Took: r.Took.String(),
		Error: r.Error,
	}
}

// rebuild answers POST …/rebuild: 202 with the run under way, or with ?wait= 200 with the finished one.
func rebuild(c *call) error {
	var body struct {
		Kind   string `json:"kind"`
		Window string `json:"window"`
		Period string `json:"period"`
	}
	if err := c.decode(&body, true, &hollow{value: []string{"kind", "window", "period"}}); err != nil {
		return err
	}
	kind := leaderboard.RunKind(body.Kind)
	switch kind {
	case leaderboard.RunKindFull, leaderboard.RunKindIncremental, leaderboard.RunKindRecompute:
	case "":
		kind = leaderboard.RunKindFull
	default:
		return malformed(inputError{Pointer: "/kind", Detail: "want full, incremental or recompute"})
	}
	wait, err := c.wait()
	if err != nil {
		return err
	}
	if detail := unknownWindow(body.Window); detail != "" {
		return malformed(inputError{Pointer: "/window", Detail: detail})
	}
	ref, err := c.resolveSeen(body.Window, body.Period)
	if unnamed, ok := errors.AsType[*leaderboard.PeriodError](err); ok && unnamed.Malformed {
		return malformed(inputError{Pointer: "/period", Detail: unnamed.Detail})
	}
	if err != nil {
		return err
	}
	if kind == leaderboard.RunKindRecompute && ref.Rules.Derive == nil {
		return leaderboard.ErrNotDerived
	}
	run, finished, err := c.api.cfg.Rebuilds.Start(c.ctx, ref, kind, leaderboard.RunReasonAdmin, string(c.scope))
	if err != nil {
		return err
	}
	if wait > 0 {
		ctx, cancel := context.WithTimeout(c.ctx, wait)
		defer cancel()
		done, err := finished(ctx)
		if err == nil || done.State != "" && done.State != leaderboard.RunStateRunning {
			return c.sendJSON(http.StatusOK, showRun(&done)) // its state says how it went
		}
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	c.w.Header().Set("Location", "/v1/runs/"+strconv.FormatInt(run.ID, 10))
	return c.sendJSON(http.StatusAccepted, showRun(&run))
}

// wait is how long the caller wants to wait for the run.
func (c *call) wait() (time.Duration, error) {
	text := c.text("wait")
	if text == "" {
		return 0, c.badInput()
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > maxWait {
		c.reject("wait", "want a duration from 0s to "+maxWait.String()+", such as 30s")
	}
	return wait, c.badInput()
}

// getRun answers GET /v1/runs/{id}.
func getRun(c *call) error {
	id, ok := parseInteger(c.pathValue("id"))
	if !ok || id < 1 {
		return leaderboard.ErrRunNotFound
	}
	run, err := c.api.cfg.Rebuilds.Run(c.ctx, id)
	if err != nil {
		return err
	}
	return c.sendJSON(http.StatusOK, showRun(&run))
}

// listRuns answers GET /v1/runs: newest first, of all boards or of one.
func listRuns(c *call) error {
	limit := int(c.integer("limit", defaultList, 1, maxList))
	name, cursor := c.text("board"), c.text("cursor")
	if err := c.badInput(); err != nil {
		return err
	}
	var boardID int64
	if name != "" {
		if leaderboard.CheckBoardName(name) != nil {
			return leaderboard.ErrBoardNotFound
		}
		b, err := c.api.cfg.Boards.Board(c.ctx, name)
		if err != nil {
			return err
		}
		boardID = b.ID
	}
	of := list{"runs", boardID}
	var before int64
	if cursor != "" {
		var ok bool
		if before, ok = of.afterID(cursor); !ok {
			return malformed(badCursor())
		}
	}
	runs, err := c.api.cfg.Rebuilds.Runs(c.ctx, boardID, before, limit+1)
	if err != nil {
		return err
	}
	out := struct {
		Runs []runJSON `json:"runs"`
		Next string    `json:"next_cursor,omitempty"`
	}{Runs: []runJSON{}}
	for i := range runs {
		if i == limit {
			out.Next = of.cursorID(runs[i-1].ID)
			break
		}
		out.Runs = append(out.Runs, showRun(&runs[i]))
	}
	return c.sendJSON(http.StatusOK, out)
}

// entryJSON is an entry outside of the answers that are encoded by hand.
type entryJSON struct {
	Member      string             `json:"member"`
	Score       int64              `json:"score"`
	Tiebreak    int64              `json:"tiebreak"`
	CreatedTime leaderboard.Micros `json:"created_time"`
}

func showEntry(e *leaderboard.Entry) *entryJSON {
	if e == nil {
		return nil
	}
	return &entryJSON{e.Member, e.Score, e.Tiebreak, e.CreatedTime}
}

type differenceJSON struct {
	Rank     int64      `json:"rank,omitzero"` // none of a derived board
	Copy     *entryJSON `json:"copy"`
	Database *entryJSON `json:"truth"`
}

// maxVerifyWait is how long a verification may take: of a derived board it reads all entries of all sources.
const maxVerifyWait = 5 * time.Minute

// verify answers GET …/verify: copy against truth at one seq, or a derived board against its sources.
func verify(c *call) error {
	window, period, against := c.window(), c.text("period"), c.text("against")
	if against != "" && against != "copy" && against != "sources" {
		c.reject("against", "want copy or sources")
	}
	if err := c.badInput(); err != nil {
		return err
	}
	ref, err := c.resolveSeen(window, period)
	if err != nil {
		return err
	}
	var v leaderboard.Verification
	if against == "sources" {
		v, err = c.api.cfg.Derived.VerifySources(c.ctx, ref.Board)
	} else {
		v, err = c.api.cfg.Verify(c.ctx, ref)
	}
	if err != nil {
		return err
	}
	out := struct {
		Equal      bool            `json:"equal"`
		Seq        int64           `json:"seq"`
		Checked    int64           `json:"checked"`
		Difference *differenceJSON `json:"difference,omitempty"`
		Detail     string          `json:"detail,omitempty"`
	}{Equal: v.Equal, Seq: v.Seq, Checked: v.Checked, Detail: v.Detail}
	if d := v.Difference; d != nil {
		out.Difference = &differenceJSON{d.Rank, showEntry(d.Copy), showEntry(d.Database)}
	}
	return c.sendJSON(http.StatusOK, out)
}
