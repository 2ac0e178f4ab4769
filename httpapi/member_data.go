package httpapi

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// memberEntryJSON is an entry with the period that it is in.
type memberEntryJSON struct {
	Board       string             `json:"board"`
	Window      leaderboard.Window `json:"window"`
	Period      string             `json:"period"`
	Closed      bool               `json:"closed"`
	Hidden      bool               `json:"hidden"`
	Score       int64              `json:"score"`
	Tiebreak    int64              `json:"tiebreak"`
	CreatedTime leaderboard.Micros `json:"created_time"`
	Metadata    jsontext.Value     `json:"metadata,omitzero"`
}

// memberPlayJSON is a play that was begun and not used.
type memberPlayJSON struct {
	Board       string             `json:"board"`
	StartedTime leaderboard.Micros `json:"started_time"`
	Refusals    int                `json:"refusals"`
}

// memberLists are the lists of a member's data, in the order in which MemberData tells of them.
var memberLists = []string{"friends", "friend_of", "hidden", "bars", "plays", "held", "entries", "submissions", "audit"}

// data answers GET /v1/members/{member}/data: all that is stored of a member. It is sent while it is read, as an export is.
func (h *exportHandlers) data(c *Call) error {
	member := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	if err := h.permits.Acquire(); err != nil {
		return err
	}
	defer h.permits.Release()
	defer c.SetBuffers(ExportBuffer)()
	out := dataWriter{download: download{call: c, stall: h.stall}}
	out.buf = append(wire.AppendString(append(out.buf, `{"member":`...), member), `,"profile":`...)
	err := h.members.MemberData(c.Ctx, member, out.tell)
	if err == nil {
		err = out.finish()
	}
	return out.end(err)
}

// dataWriter sends a member's data.
type dataWriter struct {
	download
	list  int       // how many of memberLists were begun; 0: the profile comes
	some  bool      // the last list that was begun has something in it, or there is a profile
	parts int       // records in buf
	taken time.Time // when the client had taken the last part
	buf   []byte
}

// dataPart is how many bytes are sent at once.
const dataPart = 64 << 10

// tell takes the next record.
func (w *dataWriter) tell(r leaderboard.MemberRecord) error {
	switch {
	case r.Hidden != nil:
		return w.add("hidden", showHidden(r.Hidden))
	case r.Play != nil:
		return w.add("plays", memberPlayJSON{r.Play.Board, r.Play.StartedTime, r.Play.Refusals})
	case r.Entry != nil:
		e := r.Entry
		shown := memberEntryJSON{e.Period.Board, e.Period.Window, e.Period.Name, e.Period.Closed, e.Hidden, e.Score, e.Tiebreak, e.CreatedTime, nil}
		if e.Metadata != "" {
			shown.Metadata = jsontext.Value(e.Metadata)
		}
		return w.add("entries", shown)
	default:
		return w.add(r.List, r.Record)
	}
}

// add appends a record to its list, which is opened when it is another one than the last.
func (w *dataWriter) add(list string, record any) error {
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if w.call.Strings {
		text = wire.AppendNumbers(nil, text, true)
	}
	if list != "profile" {
		w.open(slices.Index(memberLists, list) + 1)
		if w.some {
			w.buf = append(w.buf, ',')
		}
	}
	w.buf, w.some = append(w.buf, text...), true
	if w.parts++; len(w.buf) >= dataPart {
		return w.flush()
	}
	return nil
}

// open ends the list that is open, and opens those up to the n-th.
func (w *dataWriter) open(n int) {
	for ; w.list < n; w.list++ {
		switch {
		case w.list > 0:
			w.buf = append(w.buf, ']')
		case !w.some:
			w.buf = append(w.buf, "null"...)
		}
		w.buf = append(append(append(w.buf, `,"`...), memberLists[w.list]...), `":[`...)
		w.some = false
	}
}

func (w *dataWriter) finish() error {
	w.open(len(memberLists))
	w.buf = append(w.buf, "]}\n"...)
	return w.flush()
}

func (w *dataWriter) flush() error {
	if w.call.Status == 0 {
		if err := w.begin(wire.TypeJSON, "member.json"); err != nil {
			return err
		}
	} else {
		w.began = w.began.Add(time.Since(w.taken)) // what the database took is not the client's
	}
	if err := w.count(w.parts); err != nil {
		return err
	}
	err := w.send(w.buf)
	w.buf, w.parts, w.taken = w.buf[:0], 0, time.Now()
	return err
}
