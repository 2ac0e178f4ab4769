package httpapi

import (
	"errors"
	"net/http"
	"strconv"

	"leaderboard"
)

// view is what a reading request looks at: a period and the common parameters.
type view struct {
	ref     leaderboard.PeriodRef
	query   leaderboard.Query
	private bool
	// final: the period is closed and was asked for by its own name, so the same question has this answer for good.
	final bool
	// profiles: they are shown beside the entries, and change when the entries do not.
	profiles bool
}

// view resolves the board of the path with the common parameters, and lets only those see it who may. It tells of
// everything that was wrong with the parameters so far.
func (c *call) view() (view, error) {
	window, period := c.window(), c.text("period")
	mode := c.mode()
	minSeq, profiles := c.integer("min_seq", 0, 0, maxInt64), c.boolean("profiles")
	if err := c.badInput(); err != nil {
		return view{}, err
	}
	c.seen = seen{minSeq: minSeq}
	ref, board, err := c.resolve(window, period)
	if err != nil {
		return view{}, err
	}
	c.seen.period = ref.ID
	if mode == "" {
		mode = ref.Rules.Mode
	}
	private := board.Rules.Visibility != leaderboard.VisibilityPublic
	v := view{ref: ref, query: leaderboard.Query{Mode: mode, MinSeq: minSeq}, private: private, profiles: profiles}
	if ref.Closed {
		v.final = period == ref.Name && !profiles && !ref.Quiet()
		v.query.MinSeq = max(minSeq, ref.LastSeq) // no copy that lags behind may pass for the last state
	}
	return v, nil
}

const maxInt64 = 1<<63 - 1

// mode is the mode asked for, "" when that is left to the board.
func (c *call) mode() leaderboard.Mode {
	mode := leaderboard.Mode(c.text("mode"))
	switch mode {
	case "", leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense:
	default:
		c.reject("mode", "want one of strict, tied, dense")
	}
	return mode
}

// resolve finds the period that the path and the two parameters name and checks that the caller may see its board.
func (c *call) resolve(window, period string) (leaderboard.PeriodRef, leaderboard.Board, error) {
	return c.resolveOn(c.pathValue("board"), window, period)
}

// resolveOn does so for any board.
func (c *call) resolveOn(name, window, period string) (leaderboard.PeriodRef, leaderboard.Board, error) {
	if leaderboard.CheckBoardName(name) != nil {
		return leaderboard.PeriodRef{}, leaderboard.Board{}, leaderboard.ErrBoardNotFound
	}
	ref, board, err := c.api.cfg.Catalog.Resolve(c.ctx, name, window, period)
	if errors.Is(err, leaderboard.ErrPeriodNotFound) && window+period != "" {
		// Whoever may not see the board is told so, not which periods it lacks.
		if _, b, err := c.api.cfg.Catalog.Resolve(c.ctx, name, "", ""); err == nil {
			if err := c.mayRead(&b); err != nil {
				return leaderboard.PeriodRef{}, leaderboard.Board{}, err
			}
		}
	}
	if err == nil {
		err = c.mayRead(&board)
	}
	return ref, board, err
}

// resolveSeen is resolve for what works on entries: somebody has played in the period.
func (c *call) resolveSeen(window, period string) (leaderboard.PeriodRef, error) {
	ref, _, err := c.resolve(window, period)
	if err == nil && ref.Quiet() {
		err = &leaderboard.PeriodError{Detail: "Nobody has played in " + ref.Name + ", so there is nothing to do."}
	}
	return ref, err
}

// mayRead lets anyone read a public board and holders of a key all others.
func (c *call) mayRead(b *leaderboard.Board) error {
	if b.Rules.Visibility == leaderboard.VisibilityPublic {
		return nil
	}
	return allow(c.scope, ScopeRead)
}

// tag begins the identity of an answer of this route; the route's own parameters are added to it.
func (c *call) tag(v *view, st *leaderboard.State) tag {
	return newTag(&v.ref, st, c.route.path, v.query.Mode)
}

// answer sends a reading answer: the common fields, then what body appends. A client that has this state of it
// already is told so, unless the answer is stale: that has to be seen.
func (c *call) answer(v *view, st *leaderboard.State, t tag, body func([]byte) []byte) error {
	return c.respond(v, st, t, func(b []byte) []byte { return body(appendCommon(b, v, st)) })
}

// respond sends what body appends, without the brace at the end, as answer does.
func (c *call) respond(v *view, st *leaderboard.State, t tag, body func([]byte) []byte) error {
	etag := t.etag(st.Seq)
	h := c.w.Header()
	values := [...]string{etag, cacheControl(v, st)}
	h["Etag"] = values[0:1:1]
	h["Cache-Control"] = values[1:2:2]
	if match := c.r.Header["If-None-Match"]; match != nil && !st.Stale && noneMatch(match, etag) {
		c.status = http.StatusNotModified
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	buf := c.api.buffers.Get().(*[]byte)
	b := body((*buf)[:0])
	b = append(b, '}', '\n')
	c.send(http.StatusOK, typeJSON, b)
	*buf = b
	c.api.release(buf)
	return nil
}

// cacheControl lets caches keep an answer only to ask whether it still holds, unless it holds for good.
func cacheControl(v *view, st *leaderboard.State) string {
	switch {
	case st.Stale:
		return "no-store"
	case v.private:
		return "private, no-cache"
	case v.final:
		return "public, max-age=31536000, immutable"
	default:
		return "public, no-cache"
	}
}

// appendCommon opens an answer with the fields that all reading answers share; a comma follows them.
func appendCommon(b []byte, v *view, st *leaderboard.State) []byte {
	b = appendString(append(b, `{"board":`...), v.ref.Board)
	b = appendString(append(b, `,"window":`...), string(v.ref.Window))
	b = appendString(append(b, `,"period":`...), v.ref.Name)
	b = appendString(append(b, `,"mode":`...), string(v.query.Mode))
	b = strconv.AppendInt(append(b, `,"total":`...), st.Total, 10)
	b = strconv.AppendInt(append(b, `,"seq":`...), st.Seq, 10)
	b = appendTime(append(b, `,"as_of":`...), st.AsOf)
	b = appendString(append(b, `,"source":`...), string(st.Source))
	b = strconv.AppendBool(append(b, `,"stale":`...), st.Stale)
	return append(b, ',')
}
