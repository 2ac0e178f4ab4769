package commit

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/outbox"
)

// reviews are held submissions of a board that a batch has read, and what it makes of them. The lock of the board is theirs, too:
// only housekeeping and an erasure change them without it, and they delete.
type reviews struct {
	at      map[int]leaderboard.Entry      // by place, of the first window, as the batch found it
	waiting map[string][]*leaderboard.Held // by member
	asked   map[int64]*leaderboard.Held    // that decisions name
	held    int                            // how many submissions the batch has held
	added   []*leaderboard.Held
	gone    []int64
	decided []*leaderboard.Held
}

// changed reports whether there is anything to write.
func (r *reviews) changed() bool { return len(r.added)+len(r.gone)+len(r.decided) > 0 }

// mark returns a function that takes back what is held from now on.
func (r *reviews) mark() (undo func()) {
	was := *r
	was.waiting = maps.Clone(r.waiting)
	return func() { *r = was }
}

// HeldColumns returns the columns that ReadHeld reads, each after a prefix such as "h.".
func HeldColumns(prefix string) string {
	columns := [...]string{
		"id", "board_id", "member", "state", "held_at", "created_time", "score", "tiebreak", "reason", "submission", "actor", "request_id",
		"decided_at", "decided_by", "note", "outcome",
	}
	return prefix + strings.Join(columns[:], ", "+prefix)
}

// waitingColumns are HeldColumns of what is only compared: what was submitted is left out.
var waitingColumns = strings.Replace(HeldColumns(""), "submission", "'{}'", 1)

// heldText is held.submission.
type heldText struct {
	Score    int64             `json:"score"`
	Tiebreak *int64            `json:"tiebreak,omitempty"`
	Fields   map[string]int64  `json:"fields,omitempty"`
	Edit     *leaderboard.Edit `json:"edit,omitempty"`
	Metadata string            `json:"metadata,omitempty"`
	Periods  []int64           `json:"periods"`
}

// ReadHeld reads a row of HeldColumns.
func ReadHeld(scan func(dest ...any) error) (*leaderboard.Held, error) {
	var (
		h                        leaderboard.Held
		held, created            time.Time
		decided                  sql.NullTime
		text                     []byte
		decidedBy, note, outcome sql.NullString
		written                  heldText
		dest                     = []any{&h.ID, &h.BoardID, &h.Member, &h.State, &held, &created, &h.NewScore, &h.Tiebreak, &h.Reason, &text}
	)
	if err := scan(append(dest, &h.Actor, &h.RequestID, &decided, &decidedBy, &note, &outcome)...); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &written); err != nil {
		return nil, mysql.Wrap("held submission", err)
	}
	h.HeldTime, h.CreatedTime, h.DecidedTime = leaderboard.MicrosOf(held), leaderboard.MicrosOf(created), 0
	if decided.Valid {
		h.DecidedTime = leaderboard.MicrosOf(decided.Time)
	}
	h.DecidedBy, h.Note, h.Outcome = decidedBy.String, note.String, leaderboard.Status(outcome.String)
	h.Score, h.Periods = written.Score, written.Periods
	h.Sub = leaderboard.Submission{Member: h.Member, Score: h.Score, Tiebreak: written.Tiebreak, Fields: written.Fields, Edit: written.Edit, Metadata: written.Metadata}
	return &h, nil
}

// textOf returns held.submission.
func textOf(h *leaderboard.Held) []byte {
	text, err := json.Marshal(heldText{h.Score, h.Sub.Tiebreak, h.Sub.Fields, h.Sub.Edit, h.Sub.Metadata, h.Periods})
	if err != nil {
		return []byte("{}") // it has numbers and texts only
	}
	return text
}

// heldNeeds are what a batch needs to know to hold submissions of a board and to decide about them.
type heldNeeds struct {
	boardID int64
	first   int64    // id of the period of the first window, 0: there is none yet
	ranks   []int    // places whose entries decide whether a submission waits
	members []string // whose submissions may be held; none when the board holds none
	decided []int64  // ids of held submissions
}

// appendTo asks for what decides whether submissions wait: the entries at some places, and what waits already of the members.
// A board without the rule asks nothing.
func (n *heldNeeds) appendTo(t *mysql.Text) {
	for _, place := range n.places() {
		t.Str("SELECT member, score, tiebreak, created_time")
		(&entries.Scan{Range: entries.Everything(), Offset: int64(place - 1), Limit: 1}).From(t, n.first)
		t.Str(";")
	}
	for chunk := range slices.Chunk(n.members, mysql.MaxRows) {
		t.Str("SELECT " + waitingColumns + " FROM held FORCE INDEX (held_waiting) WHERE board_id = ").Int(n.boardID)
		t.Str(" AND member IN (").Hexes(chunk).Str(") AND state = 'waiting';")
	}
	if len(n.decided) > 0 {
		t.Str("SELECT " + HeldColumns("") + " FROM held FORCE INDEX (PRIMARY) WHERE board_id = ").Int(n.boardID).Str(" AND id IN (").Ints(n.decided).Str(");")
	}
}

// places returns the places whose entries are read.
func (n *heldNeeds) places() []int {
	if n.first == 0 {
		return nil
	}
	return n.ranks
}

// scan reads the answers to appendTo. stored returns a score and a tiebreak as they are, of what is stored.
func (n *heldNeeds) scan(rows *sql.Rows, stored func(score, tiebreak int64) (int64, int64)) (reviews, error) {
	r := reviews{at: map[int]leaderboard.Entry{}, waiting: map[string][]*leaderboard.Held{}, asked: map[int64]*leaderboard.Held{}}
	for _, place := range n.places() {
		err := eachRow(rows, func() error {
			var (
				e       leaderboard.Entry
				created time.Time
			)
			err := rows.Scan(&e.Member, &e.Score, &e.Tiebreak, &created)
			e.Score, e.Tiebreak = stored(e.Score, e.Tiebreak)
			e.CreatedTime = leaderboard.MicrosOf(created)
			r.at[place] = e
			return err
		})
		if err != nil {
			return r, err
		}
	}
	for range slices.Chunk(n.members, mysql.MaxRows) {
		if err := eachHeld(rows, func(h *leaderboard.Held) { r.waiting[h.Member] = append(r.waiting[h.Member], h) }); err != nil {
			return r, err
		}
	}
	if len(n.decided) > 0 {
		return r, eachHeld(rows, func(h *leaderboard.Held) { r.asked[h.ID] = h })
	}
	return r, nil
}

// eachRow goes through the rows of the next answer.
func eachRow(rows *sql.Rows, do func() error) error {
	if err := mysql.NextResult(rows); err != nil {
		return err
	}
	for rows.Next() {
		if err := do(); err != nil {
			return err
		}
	}
	return rows.Err()
}

func eachHeld(rows *sql.Rows, do func(h *leaderboard.Held)) error {
	return eachRow(rows, func() error {
		h, err := ReadHeld(rows.Scan)
		if err == nil {
			do(h)
		}
		return err
	})
}

// drop takes the row of a held submission away.
func (r *reviews) drop(h *leaderboard.Held) {
	if i := slices.Index(r.added, h); i >= 0 {
		r.added = slices.Delete(slices.Clone(r.added), i, i+1)
		return
	}
	r.gone = append(slices.Clip(r.gone), h.ID)
}

// news returns the events of what became of held submissions.
func (r *reviews) news() (out []outbox.News) {
	add := func(kind leaderboard.EventKind, h *leaderboard.Held) {
		once := fmt.Sprint(kind, " ", h.ID)
		out = append(out, outbox.News{Kind: kind, Board: h.Board, Once: once, Data: outbox.Of(struct {
			Held  string `json:"held_id"`
			Board string `json:"board"`
			Score int64  `json:"score"`
			By    string `json:"decided_by,omitempty"`
		}{strconv.FormatInt(h.ID, 10), h.Board, h.Score, h.DecidedBy}, leaderboard.EventMember{Member: h.Member})})
	}
	for _, h := range r.added {
		add(leaderboard.EventKindHeld, h)
	}
	for _, h := range r.decided {
		kind := leaderboard.EventKindRejected
		if h.State == leaderboard.HeldStateApproved {
			kind = leaderboard.EventKindApproved
		}
		add(kind, h)
	}
	return out
}
