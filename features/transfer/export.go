package transfer

import (
	"context"
	"strconv"
	"strings"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Exports reads whole periods.
type Exports interface {
	// Export reads all entries of a period in one state: begin gets the state first, then entries gets them in order, best first,
	// in parts of at most 1,000, with the data kept with them if kept is true, otherwise nil. An error of either ends the export
	// and is returned unchanged; ErrPeriodNotFound.
	Export(ctx context.Context, ref leaderboard.PeriodRef, kept bool, begin func(leaderboard.State) error, entries func([]leaderboard.Entry, []string) error) error
}

// handlers serve exports and the data of members. Both count as exports.
type handlers struct {
	httpapi.Resolver
	periods Exports
	members MemberData
	stall   time.Duration // in which the client must take a part
	permits *guard.Permits
}

// newHandlers returns handlers that let at most atOnce exports be under way.
func newHandlers(find httpapi.Resolver, periods Exports, members MemberData, atOnce int) *handlers {
	full := "As many exports are under way as the server makes at the same time: " + strconv.Itoa(atOnce) + "."
	return &handlers{find, periods, members, 30 * time.Second, guard.NewPermits(atOnce, wire.Reject(wire.CodeOverloaded, full))}
}

func (h *handlers) routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.On("exportEntries", h.RetryOutdated(h.export)),
		httpapi.On("getMemberData", h.data),
	}
}

// export answers GET …/export: all entries of a period in one state, best first. They are sent while they are read, so an error in
// the middle can only be shown by breaking the connection off: a body that came to its end is whole.
func (h *handlers) export(c *httpapi.Call) error {
	format := c.Params.Word("format")
	raw, kept := c.Params.Boolean("raw"), c.Kept()
	window, period := c.Params.Window(), c.Params.Text("period")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	c.NotePeriod(0)
	ref, _, err := h.Resolve(c, window, period)
	if err != nil {
		return err
	}
	c.NotePeriod(ref.ID)
	if err := h.permits.Acquire(); err != nil {
		return err
	}
	defer h.permits.Release()
	defer c.SetBuffers(httpapi.ExportBuffer)()
	out := exportWriter{download: download{call: c, stall: h.stall}, ref: &ref, format: format, row: exportRow{tiebreak: &ref.Rules.Tiebreak, raw: raw}}
	if kept != nil {
		out.row.kept = kept.Param()
	}
	return out.end(h.periods.Export(c.Ctx, ref, kept != nil && kept.On(ref.Rules), out.begin, out.entries))
}

// exportWriter sends an export.
type exportWriter struct {
	download
	ref    *leaderboard.PeriodRef
	format string
	row    exportRow
	buf    []byte
}

// begin sends the header fields, which name the state, and the head of a CSV.
func (w *exportWriter) begin(st leaderboard.State) error {
	h := w.call.W.Header()
	h.Set("Leaderboard-Seq", strconv.FormatInt(st.Seq, 10))
	h.Set("Leaderboard-As-Of", st.AsOf.String())
	h.Set("Leaderboard-Total", strconv.FormatInt(st.Total, 10))
	h.Set("Leaderboard-Period", w.ref.Name)
	place := wire.ChangePlace{Window: w.ref.Window, Period: w.ref.Name, At: st.Revision}
	h.Set(httpapi.HeaderCursor, place.Cursor(w.ref.Board))
	if err := w.download.begin(exportType(w.format), exportName(w.ref)+"."+w.format); err != nil {
		return err
	}
	if w.format == formatCSV {
		return w.send(w.row.appendHead(nil))
	}
	return nil
}

// entries sends the next entries, with the data kept with them if kept is not nil.
func (w *exportWriter) entries(entries []leaderboard.Entry, kept []string) error {
	if err := w.count(len(entries)); err != nil {
		return err
	}
	b := w.buf[:0]
	for i := range entries {
		if w.row.next(&entries[i]); kept != nil {
			w.row.body = kept[i]
		}
		if w.format == formatCSV {
			b = w.row.appendCSV(b)
		} else {
			b = w.row.appendJSON(b)
		}
	}
	w.buf = b
	if w.call.Strings && w.format == formatJSONL {
		b = wire.AppendNumbers(nil, b, true)
	}
	return w.send(b)
}

// exportName returns the name under which a browser saves the file. The names of seasons and boards have only characters of
// [A-Za-z0-9._-], so nothing needs to be quoted.
func exportName(ref *leaderboard.PeriodRef) string {
	return strings.Join([]string{ref.Board, string(ref.Window), ref.Name}, "_")
}
