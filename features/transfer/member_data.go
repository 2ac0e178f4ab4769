package transfer

import (
	"context"
	"slices"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// MemberData reads all that is stored of a member.
type MemberData interface {
	// DataLists returns the lists of a member's stored data, in the order of MemberData.
	DataLists() []leaderboard.DataList
	// MemberData calls add with each record that is stored of a member, list by list. An error of add ends it and is returned
	// unchanged.
	MemberData(ctx context.Context, member string, add func(leaderboard.MemberRecord) error) error
}

// data answers GET /v1/members/{member}/data: all that is stored of a member. Like an export, it is sent while it is read.
func (h *handlers) data(c *httpapi.Call) error {
	member := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	if err := h.permits.Acquire(); err != nil {
		return err
	}
	defer h.permits.Release()
	defer c.SetBuffers(httpapi.ExportBuffer)()
	out := dataWriter{download: download{call: c, stall: h.stall}, lists: h.members.DataLists()}
	out.buf = wire.AppendString(append(out.buf, `{"member":`...), member)
	err := h.members.MemberData(c.Ctx, member, out.write)
	if err == nil {
		err = out.finish()
	}
	return out.end(err)
}

// dataWriter sends a member's data.
type dataWriter struct {
	download
	lists []leaderboard.DataList
	list  int       // how many lists were begun
	some  bool      // the list begun last has a record
	parts int       // records in buf
	taken time.Time // when the client had taken the last part
	buf   []byte
}

// dataPart is how many bytes are sent at once.
const dataPart = 64 << 10

// write takes the next record.
func (w *dataWriter) write(r leaderboard.MemberRecord) error {
	switch record := r.Record.(type) {
	case leaderboard.HiddenMember:
		return w.add(r.List, httpapi.ShowHidden(&record))
	case leaderboard.MemberEntry:
		p := &record.Period
		shown := api.MemberDataEntry{
			Board: p.Board, Window: p.Window, Period: p.Name, Closed: p.Closed, Hidden: record.Hidden, Score: record.Score, Tiebreak: record.Tiebreak,
			CreatedTime: record.CreatedTime.Time(),
		}
		if record.Metadata != "" {
			shown.Metadata = []byte(record.Metadata)
		}
		return w.add(r.List, shown)
	}
	return w.add(r.List, r.Record)
}

// add appends a record to its list, which it opens if another list is open.
func (w *dataWriter) add(list string, record any) error {
	text, err := wire.Marshal(record)
	if err != nil {
		return err
	}
	if w.call.Strings {
		text = wire.AppendNumbers(nil, text, true)
	}
	w.open(slices.IndexFunc(w.lists, func(l leaderboard.DataList) bool { return l.Name == list }) + 1)
	if w.some {
		w.buf = append(w.buf, ',')
	}
	w.buf, w.some = append(w.buf, text...), true
	if w.parts++; len(w.buf) >= dataPart {
		return w.flush()
	}
	return nil
}

// open ends the open list, and opens the next lists up to the n-th.
func (w *dataWriter) open(n int) {
	for ; w.list < n; w.list++ {
		w.endList()
		l := &w.lists[w.list]
		w.buf = append(append(append(w.buf, `,"`...), l.Name...), `":`...)
		if !l.One {
			w.buf = append(w.buf, '[')
		}
		w.some = false
	}
}

// endList ends the open list.
func (w *dataWriter) endList() {
	switch {
	case w.list == 0:
	case !w.lists[w.list-1].One:
		w.buf = append(w.buf, ']')
	case !w.some:
		w.buf = append(w.buf, "null"...)
	}
}

func (w *dataWriter) finish() error {
	w.open(len(w.lists))
	w.endList()
	w.buf = append(w.buf, "}\n"...)
	return w.flush()
}

func (w *dataWriter) flush() error {
	if w.call.Status == 0 {
		if err := w.begin(wire.TypeJSON, "member.json"); err != nil {
			return err
		}
	} else {
		w.began = w.began.Add(time.Since(w.taken)) // the time of the database is not the client's
	}
	if err := w.count(w.parts); err != nil {
		return err
	}
	err := w.send(w.buf)
	w.buf, w.parts, w.taken = w.buf[:0], 0, time.Now()
	return err
}
