// Package changefeed gives the changes of a board, in order, to programs that follow it: as lines, or as endless events. It
// reads the change log of the engine.
//
//	handlers.go  the route
//	feature.go   what the folder registers
package changefeed

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

const (
	// maxChangeBytes bounds an answer: it ends behind the line that goes past it.
	maxChangeBytes = 1 << 20
	// feedLooksApart is the least time between two looks at the log for a client that waits: commits of meanwhile come together.
	feedLooksApart = 20 * time.Millisecond

	typeNDJSON = "application/x-ndjson"
)

// Log reads the logs of periods.
type Log interface {
	// ChangesAfter reads the change log of a period after a revision: the commits of its next changes, at most a number of
	// changes but at least one commit, if any. The state at seq 0 matches whatever time is given for it. Errors:
	// ErrPeriodNotFound; ErrIncarnationChanged when the period never had the revision; ErrFeedPruned.
	ChangesAfter(ctx context.Context, from leaderboard.PeriodRevision, changes int) (leaderboard.LogPart, error)
}

// handlers serve the change feed.
type handlers struct {
	httpapi.Resolver
	log     Log
	feed    httpapi.Feed
	streams *httpapi.Streams // clients of the feed are bounded like clients of streams, and end with them
}

// Routes returns the route of the change feed.
func Routes(find httpapi.Resolver, log Log, feed httpapi.Feed, streams *httpapi.Streams) []httpapi.Route {
	h := &handlers{find, log, feed, streams}
	return []httpapi.Route{
		httpapi.On("readChanges", h.serve),
	}
}

// serve answers GET …/changes: the changes behind a cursor as JSON lines, or as server-sent events without an end.
func (h *handlers) serve(c *httpapi.Call) error {
	f, err := h.open(c)
	if err != nil {
		return err
	}
	leave, err := h.streams.Enter(c)
	if err != nil {
		return err
	}
	defer leave()
	if strings.Contains(c.R.Header.Get("Accept"), httpapi.TypeEvents) {
		return f.events()
	}
	return f.lines()
}

// feed gives one client the changes of a board.
type feed struct {
	*handlers
	call  *httpapi.Call
	form  wire.ChangeForm
	place wire.ChangePlace // after the changes that were given
	limit int              // changes of one look
	wait  time.Duration

	ref  leaderboard.PeriodRef // of the place; the zero value while it has not begun
	at   leaderboard.Revision  // of the period, at the last look
	over bool                  // the end of the period was given, and none comes after it yet
}

// open parses the request for a feed.
func (h *handlers) open(c *httpapi.Call) (*feed, error) {
	f := &feed{handlers: h, call: c, form: wire.ChangeForm{Board: c.Params.PathValue("board")}}
	f.limit = int(c.Params.Integer("limit"))
	f.wait = c.Params.Duration("wait")
	window, cursor := c.Params.Window(), c.Params.Text("after")
	if last := c.R.Header.Get("Last-Event-ID"); last != "" { // of a client that comes back
		cursor = last
	}
	if cursor != "" {
		var ok bool
		if f.place, ok = wire.AfterChange(f.form.Board, cursor); !ok {
			c.Params.BadParam("after", badPlace)
		} else if window != "" && window != string(f.place.Window) {
			c.Params.BadParam("window", "the cursor is of window "+string(f.place.Window))
		}
	}
	if err := c.Params.BadInput(); err != nil || cursor != "" {
		return f, err
	}
	ref, _, err := h.Resolve(c, window, "")
	f.place = wire.ChangePlace{Window: ref.Window, Period: ref.Name, At: leaderboard.Revision{Incarnation: ref.Incarnation}}
	return f, err
}

// badPlace is the fault of a cursor that the feed did not give.
const badPlace = "is not a cursor of this board's changes"

// lines answers with the present changes, or with changes that come while the client wants to wait.
func (f *feed) lines() error {
	c := f.call
	ctx, stop := f.streams.WhileOpen(c.Ctx, f.wait)
	defer stop()
	buf, release := c.Buffer()
	defer release()
	*buf = (*buf)[:0]
	out := &changeSink{most: f.limit, put: func(line []byte, _ bool) { *buf = append(append(*buf, line...), '\n') }}
	for {
		if err := f.look(out); err != nil {
			return err
		}
		if len(*buf) > 0 || f.wait == 0 || ctx.Err() != nil {
			break
		}
		if err := f.changed(ctx); err != nil {
			return err
		}
	}
	if err := c.MayGoOn(time.Now()); err != nil {
		return err
	}
	h := c.W.Header()
	h.Set(httpapi.HeaderCursor, f.place.Cursor(f.form.Board))
	h.Set("Cache-Control", "no-store")
	body := *buf
	if c.Strings {
		body = wire.AppendNumbers(nil, body, true)
	}
	return c.Send(http.StatusOK, typeNDJSON, body)
}

// events sends changes until the client goes, may no longer read them, or the server ends. The reason for a final end is
// its last event.
func (f *feed) events() error {
	c := f.call
	var text []byte
	put := func(line []byte, end bool) {
		name := "\nevent: change\ndata: "
		if end {
			name = "\nevent: end\ndata: "
		}
		text = append(f.place.AppendCursor(append(text, "id: "...), f.form.Board), name...)
		if c.Strings {
			text = wire.AppendNumbers(text, line, true)
		} else {
			text = append(text, line...)
		}
		text = append(text, "\n\n"...)
	}
	out := func() *changeSink { return &changeSink{most: f.limit, put: put} }
	if err := f.look(out()); err != nil {
		return err
	}
	c.Ctx = c.R.Context() // for as long as the client stays
	defer c.SetBuffers(httpapi.StreamBuffer)()
	ctx, stop := f.streams.WhileOpen(c.Ctx, 0)
	defer stop()
	to, more := httpapi.BeginStream(c)
	if !more {
		return nil
	}
	for {
		idle := len(text) == 0
		if idle && time.Since(to.Last) >= httpapi.StreamSilence {
			text = append(text, ":\n\n"...)
		}
		if len(text) > 0 && !to.Write(text) {
			return nil
		}
		text = nil
		err := c.MayGoOn(time.Now())
		if err == nil && idle {
			quiet, cancel := context.WithTimeout(ctx, httpapi.StreamSilence)
			err = httpapi.UnlessUnknown(f.changed(quiet))
			cancel()
		}
		if ctx.Err() != nil {
			to.Retry()
			return nil
		}
		if err == nil {
			err = f.look(out())
		}
		switch {
		case err != nil && httpapi.UnlessUnknown(err) == nil:
			pause(ctx, httpapi.AccessCheck)
		case err != nil && (len(text) == 0 || to.Write(text)):
			to.Gone(err)
			return nil
		case err != nil:
			return nil
		}
	}
}

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// changed waits until there may be new changes, or until ctx ends, and returns the error if the client may not have them.
// The feed of the process reports commits. Twice a second it checks, in memory, whether the key and the board are
// unchanged, whether another period is current, and whether the database has lost changes that were given.
func (f *feed) changed(ctx context.Context) error {
	pause(ctx, feedLooksApart)
	for ctx.Err() == nil {
		idle, cancel := context.WithTimeout(ctx, httpapi.AccessCheck)
		news := f.ref.HasRow() && f.feed.Changed(idle, f.ref.ID, f.at) == nil
		if !f.ref.HasRow() {
			<-idle.Done()
		}
		cancel()
		if news {
			return nil
		}
		if err := f.call.MayGoOn(time.Now()); err != nil {
			return err
		}
		current, _, err := f.Resolve(f.call, string(f.place.Window), "")
		if errors.Is(err, leaderboard.ErrBoardNotFound) {
			return err
		}
		if !f.ref.HasRow() || err == nil && current.ID != f.ref.ID || !f.feed.Fresh(f.ref.ID, f.at) {
			return nil
		}
	}
	return nil
}

// changeSink takes the lines of one look.
type changeSink struct {
	most int                         // lines
	put  func(line []byte, end bool) // line is valid during the call

	given, bytes int
	line         []byte
}

func (s *changeSink) full() bool { return s.given >= s.most || s.bytes >= maxChangeBytes }

// emit puts the line that was appended to s.line.
func (s *changeSink) emit(line []byte, end bool) {
	s.put(line, end)
	s.given, s.bytes, s.line = s.given+1, s.bytes+len(line), line[:0]
}

// look gives the commits after the place, until they are enough for one answer; at the end of a period it continues in the
// next. It looks the present board and period up.
func (f *feed) look(out *changeSink) error {
	for {
		if err := f.find(); err != nil || f.ref.Board == "" {
			return err
		}
		ended, err := f.give(out)
		if err != nil || !ended || out.full() {
			return err
		}
		next, known := f.next()
		if !known && f.over {
			return nil
		}
		period := f.place.Period
		if f.over = !known; f.over {
			out.emit(f.form.AppendEnd(out.line, period, nil), true)
			return nil
		}
		f.place = next
		out.emit(f.form.AppendEnd(out.line, period, &next), true)
	}
}

// find finds the period of the place. The period may not have begun. If it was deleted, its log was deleted too.
func (f *feed) find() error {
	ref, board, err := f.Resolve(f.call, string(f.place.Window), f.place.Period)
	period, ok := errors.AsType[*leaderboard.PeriodError](err)
	switch {
	case ok && period.NotBegun:
		f.ref = leaderboard.PeriodRef{}
		return nil
	case ok && period.Malformed:
		return wire.Malformed(wire.InputError{Parameter: "after", Detail: badPlace})
	case ok && (f.place.At.Incarnation != 0 || f.place.Ended.PeriodID != 0):
		return wire.Reject(leaderboard.ErrFeedPruned.Code, f.place.Period+" and its changes were deleted.")
	case err != nil:
		return err
	}
	f.ref, f.form.Tie = ref, &board.Rules.Tiebreak
	return nil
}

// give gives the changes of the period behind the place, and reports whether that was all: nothing more can enter it.
func (f *feed) give(out *changeSink) (ended bool, err error) {
	if f.place.At.Incarnation == 0 && !f.ref.HasRow() {
		return f.ref.Closed, nil // nobody has played in it
	}
	part, err := f.read(out.most - out.given)
	if err != nil {
		return false, err
	}
	f.at = part.At
	for i := range part.Commits {
		commit, from := &part.Commits[i], f.place
		for n := int(from.Skip); n < len(commit.Changes); n++ {
			if out.full() {
				return false, nil
			}
			f.place = from.Behind(commit, n+1)
			out.emit(f.form.AppendChange(out.line, commit.CommittedAt, &commit.Changes[n], &f.place), false)
		}
	}
	return part.Closed && f.place.At.Seq == part.At.Seq, nil
}

// read reads the log of the period after the place. The catalog renews the board once if it does not fit the place.
func (f *feed) read(most int) (part leaderboard.LogPart, err error) {
	for _, last := range []bool{false, true} {
		if err = f.bind(); err == nil {
			from := leaderboard.PeriodRevision{PeriodID: f.ref.ID, Revision: f.place.At}
			part, err = f.log.ChangesAfter(f.call.Ctx, from, most+int(f.place.Skip))
		}
		other := errors.Is(err, leaderboard.ErrPeriodNotFound) || errors.Is(err, leaderboard.ErrIncarnationChanged)
		if !other || last {
			break
		}
		if err := f.Catalog.Renew(f.call.Ctx, f.form.Board); err != nil {
			return part, err
		}
		if err := f.find(); err != nil {
			return part, err
		}
	}
	switch {
	case errors.Is(err, leaderboard.ErrPeriodNotFound):
		return part, leaderboard.ErrIncarnationChanged
	case err == nil && f.place.Skip > 0 && (len(part.Commits) == 0 || part.Commits[0].CommittedAt != f.place.Commit):
		return part, leaderboard.ErrIncarnationChanged
	}
	return part, err
}

// bind moves a place without an incarnation to the beginning of the period, if the database still has the given end of the
// previous period. Errors: ErrIncarnationChanged, ErrFeedPruned.
func (f *feed) bind() error {
	if f.place.At.Incarnation == f.ref.Incarnation {
		return nil
	}
	if f.place.At.Incarnation != 0 || !f.ref.HasRow() {
		return leaderboard.ErrIncarnationChanged
	}
	if f.place.Ended.PeriodID != 0 {
		_, err := f.log.ChangesAfter(f.call.Ctx, f.place.Ended, 1)
		if errors.Is(err, leaderboard.ErrPeriodNotFound) {
			return leaderboard.ErrFeedPruned
		}
		if err != nil {
			return err
		}
	}
	f.place.At, f.place.Ended = leaderboard.Revision{Incarnation: f.ref.Incarnation}, leaderboard.PeriodRevision{}
	return nil
}

// next returns the place at which the feed continues after the end of the period; false: the board has no later period, or
// not yet.
func (f *feed) next() (wire.ChangePlace, bool) {
	next := wire.ChangePlace{Window: f.place.Window, Ended: f.place.Ended}
	if f.ref.HasRow() {
		next.Ended = leaderboard.PeriodRevision{PeriodID: f.ref.ID, Revision: f.place.At}
	}
	cal, err := f.ref.Rules.Calendar()
	if err != nil || !slices.Contains(f.ref.Rules.Windows, f.place.Window) {
		return next, false
	}
	this, err := cal.Named(f.place.Window, f.place.Period)
	if err != nil {
		return next, false
	}
	span, ok := cal.After(f.place.Window, this.EndsAt)
	next.Period = span.Name
	return next, ok
}
