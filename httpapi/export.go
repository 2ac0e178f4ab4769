package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/klauspost/compress/gzip"

	"leaderboard/internal/csvcell"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// An export reads an old state all the while, which MySQL must keep: this is expensive where much is written.
const (
	// minExportRate is how many entries a second a client must take on average, from Limits.ExportStall on.
	minExportRate = 1000
)

// Exports reads whole periods.
type Exports interface {
	// Export reads all entries of a period in one state: begin gets the state first, then entries gets them in order, best first,
	// in parts of at most 1,000, with the data kept with them if kept is true, otherwise nil. An error of either ends the export
	// and is returned unchanged; ErrPeriodNotFound.
	Export(ctx context.Context, ref leaderboard.PeriodRef, kept bool, begin func(leaderboard.State) error, entries func([]leaderboard.Entry, []string) error) error
}

// MemberData reads all that is stored of a member.
type MemberData interface {
	// DataLists returns the lists of a member's stored data, in the order of MemberData.
	DataLists() []leaderboard.DataList
	// MemberData calls add with each record that is stored of a member, list by list. An error of add ends it and is returned
	// unchanged.
	MemberData(ctx context.Context, member string, add func(leaderboard.MemberRecord) error) error
}

// exportHandlers serve exports.
type exportHandlers struct {
	Resolver
	periods Exports
	members MemberData
	stall   time.Duration // Limits.ExportStall
	permits *guard.Permits
}

func tooManyExports(most int) error {
	return wire.Reject(wire.CodeOverloaded, "As many exports are under way as the server makes at the same time: "+strconv.Itoa(most)+".")
}

// export answers GET …/export: all entries of a period in one state, best first. They are sent while they are read, so an error in
// the middle can only be shown by breaking the connection off: a body that came to its end is whole.
func (h *exportHandlers) export(c *Call) error {
	format := c.Params.Word("format")
	raw, kept := c.Params.Boolean("raw"), keptAmong(c.requestedShows())
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
	defer c.SetBuffers(ExportBuffer)()
	out := exportWriter{download: download{call: c, stall: h.stall}, ref: &ref, format: format, row: exportRow{tiebreak: &ref.Rules.Tiebreak, raw: raw}}
	if kept != nil {
		out.row.kept = kept.Param()
	}
	return out.end(h.periods.Export(c.Ctx, ref, kept != nil && kept.On(ref.Rules), out.begin, out.entries))
}

// breakOff ends a partly sent answer, so that the client sees that it is not whole.
func breakOff(c *Call, err error) {
	k, _, _ := wire.Classify(err)
	if c.R.Context().Err() != nil || errors.Is(err, errClientGone) {
		k = wire.KindOf(wire.CodeClientGone)
	}
	c.Status = k.Status
	if k.Code != wire.CodeClientGone {
		c.Log(slog.LevelError, "an answer was broken off", slog.Any("error", err))
	}
	panic(http.ErrAbortHandler)
}

// errHeadersOnly ends the export that answers a HEAD.
var errHeadersOnly = errors.New("headers only")

// errClientGone: the client does not take the answer.
var errClientGone = errors.New("the client is gone, or too slow")

// download sends an answer of any length while it is read. Its methods are called by one goroutine.
type download struct {
	call  *Call
	stall time.Duration // in which the client must take a part
	began time.Time
	check time.Time    // when the key was looked at last
	sent  int          // entries or records
	zip   *gzip.Writer // nil: the answer is not compressed
}

// begin sends the header fields. For a HEAD it returns errHeadersOnly.
func (d *download) begin(contentType, name string) error {
	d.began, d.check = time.Now(), time.Now()
	h := d.call.W.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	d.call.Vary()
	if wire.AcceptsGzip(d.call.R.Header) {
		h.Set("Content-Encoding", "gzip")
		d.zip, _ = gzip.NewWriterLevel(d.call.W, gzip.BestSpeed) // fast enough for the reading; the level is valid
	}
	d.call.Status = http.StatusOK
	d.call.W.WriteHeader(http.StatusOK)
	if d.call.R.Method == http.MethodHead {
		return errHeadersOnly
	}
	return nil
}

// count counts the next part of an answer, or returns why it is not sent: the client is too slow, or its key is no longer good.
func (d *download) count(n int) error {
	if late := time.Since(d.began) - d.stall; late > time.Duration(d.sent)*time.Second/minExportRate {
		return fmt.Errorf("%w: %d entries in %s", errClientGone, d.sent, late+d.stall)
	}
	if now := time.Now(); now.Sub(d.check) >= AccessCheck {
		if err := d.call.MayGoOn(now); err != nil {
			return err
		}
		d.check = now
	}
	d.sent += n
	return nil
}

// send writes b; the client has a while to take it.
func (d *download) send(b []byte) error {
	ctl := http.NewResponseController(d.call.W)
	_ = ctl.SetWriteDeadline(time.Now().Add(d.stall)) // without effect on a connection that has no deadlines (in tests)
	if err := d.write(b); err != nil {
		return errors.Join(errClientGone, err)
	}
	if err := ctl.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errors.Join(errClientGone, err)
	}
	return nil
}

func (d *download) write(b []byte) error {
	if d.zip == nil {
		_, err := d.call.W.Write(b)
		return err
	}
	if _, err := d.zip.Write(b); err != nil {
		return err
	}
	return d.zip.Flush()
}

// end sends the end of a compressed answer if err is nil: it shows that all of the answer came. It returns the result of the
// handler.
func (d *download) end(err error) error {
	if err == nil && d.zip != nil {
		if failed := d.zip.Close(); failed != nil {
			err = errors.Join(errClientGone, failed)
		}
	}
	switch {
	case errors.Is(err, errHeadersOnly):
		return nil
	case err != nil && d.call.Status != 0:
		breakOff(d.call, err)
	}
	return err
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
	h.Set(HeaderCursor, place.Cursor(w.ref.Board))
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

// The forms of an export.
const (
	formatCSV   = "csv"
	formatJSONL = "jsonl"

	csvHead = "strict_rank,tied_rank,member,score,tiebreak,created_time"
)

func exportType(format string) string {
	if format == formatCSV {
		return "text/csv; charset=utf-8; header=present"
	}
	return "application/jsonl"
}

// exportRow is the entry that is written next, with its ranks, which follow from the entry before it.
type exportRow struct {
	tiebreak     *leaderboard.Tiebreak // of the board
	raw          bool                  // in CSV no quote is put before ids that spreadsheets take for formulas
	strict, tied int64
	entry        leaderboard.Entry
	kept         string // the name of the data kept with entries; "": not asked for
	body         string // the data kept with the entry; "": none
}

// appendHead appends the names of the columns: one per tiebreak field after the others, and the last for data kept with entries.
func (r *exportRow) appendHead(b []byte) []byte {
	b = append(b, csvHead...)
	for i := range r.tiebreak.Fields {
		b = append(append(b, ",fields."...), r.tiebreak.Fields[i].Name...)
	}
	if r.kept != "" {
		b = append(append(b, ','), r.kept...)
	}
	return append(b, '\n')
}

func (r *exportRow) next(e *leaderboard.Entry) {
	r.strict++
	if r.strict == 1 || e.Score != r.entry.Score || e.Tiebreak != r.entry.Tiebreak {
		r.tied = r.strict
	}
	r.entry = *e
}

// appendCSV appends a record of RFC 4180 that ends in a line feed.
func (r *exportRow) appendCSV(b []byte) []byte {
	b = append(strconv.AppendInt(b, r.strict, 10), ',')
	b = append(strconv.AppendInt(b, r.tied, 10), ',')
	member := r.entry.Member
	if !r.raw {
		member = csvcell.Quote(member)
	}
	b = append(appendCSVField(b, member), ',')
	b = append(strconv.AppendInt(b, r.entry.Score, 10), ',')
	b = append(strconv.AppendInt(b, r.entry.Tiebreak, 10), ',')
	b = r.entry.CreatedTime.AppendTo(b)
	for _, f := range r.tiebreak.Unpack(r.entry.Tiebreak) {
		b = strconv.AppendInt(append(b, ','), f.Value, 10)
	}
	if r.kept != "" {
		b = append(b, ',')
	}
	if r.body != "" {
		b = appendCSVField(b, r.body)
	}
	return append(b, '\n')
}

// appendCSVField quotes a field that has a character with a meaning in CSV, or a character that may be lost on the way: control
// characters, spaces at the ends, invisible characters.
func appendCSVField(b []byte, s string) []byte {
	odd := func(r rune) bool { return r == '"' || r == ',' || !unicode.IsPrint(r) }
	if s != "" && s[0] != ' ' && s[len(s)-1] != ' ' && !strings.ContainsFunc(s, odd) {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// appendJSON appends the entry as an object on one line.
func (r *exportRow) appendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"strict_rank":`...), r.strict, 10)
	b = strconv.AppendInt(append(b, `,"tied_rank":`...), r.tied, 10)
	b = wire.AppendEntry(append(b, ','), r.tiebreak, &r.entry)
	if r.body != "" {
		b = append(append(append(append(b, `,"`...), r.kept...), `":`...), r.body...)
	}
	return append(b, "}\n"...)
}
