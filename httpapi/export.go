package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"leaderboard"
)

// exportLimit bounds one export: all the while it reads an old state, which MySQL must keep.
const exportLimit = time.Hour

// errHeadersOnly ends the export that answers a HEAD.
var errHeadersOnly = errors.New("headers only")

// exporting are the exports under way; another one does not wait.
type exporting chan struct{}

func (e exporting) enter() error {
	select {
	case e <- struct{}{}:
		return nil
	default:
		return refuse(codeOverloaded, "As many exports are under way as the server makes at the same time: "+strconv.Itoa(cap(e))+".")
	}
}

func (e exporting) leave() { <-e }

// export answers GET …/export: all entries of a period in one state, best first. They are sent as they are read, so an
// error in the middle can only be told by breaking the connection off: a body that came to its end is whole.
func export(c *call) error {
	format := c.text("format")
	if format == "" {
		format = formatCSV
	}
	if format != formatCSV && format != formatJSONL {
		c.reject("format", "want csv or jsonl")
	}
	window, period := c.window(), c.text("period")
	if err := c.badInput(); err != nil {
		return err
	}
	c.seen = seen{}
	ref, _, err := c.resolve(window, period)
	if err != nil {
		return err
	}
	c.seen.period = ref.ID
	if err := c.api.exports.enter(); err != nil {
		return err
	}
	defer c.api.exports.leave()
	out := exportWriter{call: c, ref: &ref, format: format, row: exportRow{tiebreak: &ref.Rules.Tiebreak}}
	if ref.Quiet() {
		err = out.begin(quietState(&ref))
	} else {
		err = c.api.cfg.Export(c.ctx, ref, out.begin, out.entries)
	}
	switch {
	case errors.Is(err, errHeadersOnly):
		return nil
	case err != nil && c.status != 0:
		c.breakOff(err)
	}
	return err
}

// breakOff ends an answer that is out in part, so that the client sees that it is not whole.
func (c *call) breakOff(err error) {
	k, _, _ := classify(err)
	if c.r.Context().Err() != nil || errors.Is(err, errClientGone) {
		k = kindOf(codeClientGone)
	}
	c.status = k.status
	if k.code != codeClientGone {
		c.log(slog.LevelError, "an answer was broken off", slog.Any("error", err))
	}
	panic(http.ErrAbortHandler)
}

// errClientGone: the client does not take what is sent to it.
var errClientGone = errors.New("the client is gone, or too slow")

// exportWriter sends an export. Its methods are called by one goroutine.
type exportWriter struct {
	call   *call
	ref    *leaderboard.PeriodRef
	format string
	row    exportRow
	buf    []byte
}

// begin sends the header fields, which name the state, and the head of a CSV.
func (w *exportWriter) begin(st leaderboard.State) error {
	h := w.call.w.Header()
	h.Set("Content-Type", exportType(w.format))
	h.Set("Content-Disposition", `attachment; filename="`+exportName(w.ref)+"."+w.format+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Leaderboard-Seq", strconv.FormatInt(st.Seq, 10))
	h.Set("Leaderboard-As-Of", st.AsOf.String())
	h.Set("Leaderboard-Total", strconv.FormatInt(st.Total, 10))
	w.call.status = http.StatusOK
	w.call.w.WriteHeader(http.StatusOK)
	if w.call.r.Method == http.MethodHead {
		return errHeadersOnly
	}
	if w.format == formatCSV {
		return w.send(w.row.appendHead(nil))
	}
	return nil
}

// entries sends the next entries.
func (w *exportWriter) entries(entries []leaderboard.Entry) error {
	b := w.buf[:0]
	for i := range entries {
		w.row.next(&entries[i])
		if w.format == formatCSV {
			b = w.row.appendCSV(b)
		} else {
			b = w.row.appendJSON(b)
		}
	}
	w.buf = b
	return w.send(b)
}

// send writes b; the client has a while to take it.
func (w *exportWriter) send(b []byte) error {
	ctl := http.NewResponseController(w.call.w)
	_ = ctl.SetWriteDeadline(time.Now().Add(w.call.api.cfg.ExportStall)) // a connection that cannot (in tests) has none
	if _, err := w.call.w.Write(b); err != nil {
		return errors.Join(errClientGone, err)
	}
	if err := ctl.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errors.Join(errClientGone, err)
	}
	return nil
}

// exportName is the name that a browser saves the file under. A season may have any of [A-Za-z0-9._-] in its name, and
// so may a board, so nothing needs to be quoted.
func exportName(ref *leaderboard.PeriodRef) string {
	return strings.Join([]string{ref.Board, string(ref.Window), ref.Name}, "_")
}
