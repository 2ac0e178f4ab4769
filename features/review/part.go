// Package review holds submissions until an admin approves or rejects them.
//
//	part.go      which submissions wait, in the transaction of submissions
//	decide.go    what an admin decides
//	store.go     what waits, is listed, swept and forgotten
//	rows.go      its rows
//	handlers.go  its routes
//	feature.go   what the folder registers
package review

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// Part adds the review of submissions to their transaction.
type Part struct{}

// On returns the part that a batch needs to hold submissions of a board and to decide about them, nil without need.
func (Part) On(b *commit.Board, n *commit.Needs) commit.BoardPart {
	r := &reviews{board: b, boardID: b.ID(), ranks: b.Rules().Review.Ranks()}
	if ids := b.PeriodIDs(); len(ids) > 0 {
		r.first = ids[0]
	} else {
		r.ranks = nil
	}
	if b.Rules().Review != nil {
		r.members = n.Members()
	}
	for _, w := range n.Works() {
		if d, ok := w.(*decision); ok {
			r.named = append(r.named, d.ID)
		}
	}
	if b.Rules().Review == nil && len(r.named) == 0 {
		return nil
	}
	return r
}

// Same reports whether both rules hold submissions, and compare with the entries at the same ranks.
func (Part) Same(now, then *leaderboard.Rules) bool {
	return (now.Review == nil) == (then.Review == nil) && slices.Equal(now.Review.Ranks(), then.Review.Ranks())
}

// Rule returns the rule that the part carries out.
func (Part) Rule() string { return "/review" }

// reviews are the held submissions of a board that a batch has read, with its changes. They are read and written under the
// lock of the board: only housekeeping and an erasure change them without it, and they delete.
type reviews struct {
	board   *commit.Board
	boardID int64
	first   int64    // id of the period of the first window
	ranks   []int    // of the entries that decide whether a submission waits; none while there is no period
	members []string // whose submissions may be held; none when the board holds none
	named   []int64  // ids that decisions name

	at      map[int]leaderboard.Entry      // by rank, of the first window, as the batch found it
	waiting map[string][]*leaderboard.Held // by member
	found   map[int64]*leaderboard.Held    // of the named ones
	held    int                            // how many submissions the batch has held
	added   []*leaderboard.Held
	gone    []int64
	decided []*leaderboard.Held
}

// Read reads the data that decide whether submissions wait: the entries at some ranks, and the waiting submissions of the
// members.
func (r *reviews) Read(t *mysql.Text) {
	for _, rank := range r.ranks {
		t.Str("SELECT member, score, tiebreak, created_time")
		(&entries.Scan{Range: entries.Everything(), Offset: int64(rank - 1), Limit: 1}).From(t, r.first)
		t.Str(";")
	}
	for chunk := range slices.Chunk(r.members, mysql.MaxRows) {
		t.Str("SELECT " + waitingColumns() + " FROM held FORCE INDEX (held_waiting) WHERE board_id = ").Int(r.boardID)
		t.Str(" AND member IN (").Hexes(chunk).Str(") AND state = 'waiting';")
	}
	if len(r.named) > 0 {
		t.Str("SELECT " + heldColumns("") + " FROM held FORCE INDEX (PRIMARY) WHERE board_id = ").Int(r.boardID).Str(" AND id IN (").Ints(r.named).Str(");")
	}
}

// Scan reads the answers to Read.
func (r *reviews) Scan(rows *sql.Rows) error {
	r.at, r.waiting, r.found = map[int]leaderboard.Entry{}, map[string][]*leaderboard.Held{}, map[int64]*leaderboard.Held{}
	for _, rank := range r.ranks {
		err := mysql.EachRow(rows, func() error {
			var (
				e       leaderboard.Entry
				created time.Time
			)
			err := rows.Scan(&e.Member, &e.Score, &e.Tiebreak, &created)
			e.Score, e.Tiebreak = r.board.Current()[0].Stored(e.Score, e.Tiebreak)
			e.CreatedTime = leaderboard.MicrosOf(created)
			r.at[rank] = e
			return err
		})
		if err != nil {
			return err
		}
	}
	for range slices.Chunk(r.members, mysql.MaxRows) {
		if err := eachHeld(rows, func(h *leaderboard.Held) { r.waiting[h.Member] = append(r.waiting[h.Member], h) }); err != nil {
			return err
		}
	}
	if len(r.named) > 0 {
		return eachHeld(rows, func(h *leaderboard.Held) { r.found[h.ID] = h })
	}
	return nil
}

func eachHeld(rows *sql.Rows, do func(h *leaderboard.Held)) error {
	return mysql.EachRow(rows, func() error {
		h, err := readHeld(rows.Scan)
		if err == nil {
			do(h)
		}
		return err
	})
}

// Decided returns why a submission waits for an admin, in which case it is noted, or why it is refused: too many of its member
// wait. nil: it is carried out.
func (r *reviews) Decided(a *commit.Attempt, decisions []commit.Decision) error {
	b, sub, rules := r.board, a.Sub, r.board.Rules()
	first := slices.IndexFunc(decisions, func(d commit.Decision) bool { return d.Changed() })
	if rules.Review == nil || first < 0 {
		return nil
	}
	d := &decisions[first]
	holding := &leaderboard.Holding{
		Next: d.Next(), First: first == 0,
		At: func(rank int) (e leaderboard.Entry, ok bool) { e, ok = r.at[rank]; return e, ok },
	}
	if a.Start > 0 {
		holding.Played = time.Duration(b.Clock()-a.Start) * time.Microsecond
	}
	why := leaderboard.AsRule(rules.Hold(sub, a.Caller, holding))
	if why == nil {
		return nil
	}
	h := &leaderboard.Held{
		ID:      int64(b.Clock()+leaderboard.Micros(r.held))<<heldBits | int64(b.Random()>>(64-heldBits)),
		BoardID: b.ID(), Board: b.Name(), Member: sub.Member, State: leaderboard.HeldStateWaiting, Reason: why.Detail,
		Score: sub.Score, NewScore: d.Next().Score, Tiebreak: d.Next().Tiebreak, CreatedTime: d.Assigned(), HeldTime: b.Clock(),
		Actor: a.Caller.Key, RequestID: a.Caller.RequestID, Sub: *sub,
	}
	if sub.CreatedTime != nil {
		h.CreatedTime = *sub.CreatedTime
	}
	h.Sub.If, h.Sub.Play = nil, nil
	for _, p := range b.Current() {
		h.Periods = append(h.Periods, p.ID())
	}
	waiting := r.waiting[sub.Member]
	worst, full := rules.Worst(waiting, h)
	if full != nil {
		return full
	}
	if worst >= 0 {
		r.drop(waiting[worst])
		waiting = slices.Delete(slices.Clone(waiting), worst, worst+1)
	}
	r.held++
	r.waiting[sub.Member] = append(slices.Clip(waiting), h)
	r.added = append(slices.Clip(r.added), h)
	return why
}

// heldBits are the random bits of the id of a held submission. The bits before them are its time in microseconds.
const heldBits = 11

// Write writes submissions that were held, dropped and decided.
func (Part) Write(t *mysql.Text, changed []commit.BoardPart) {
	for _, r := range commit.PartsOf[*reviews](changed) {
		for chunk := range slices.Chunk(r.gone, mysql.MaxRows) {
			t.Str("DELETE FROM held WHERE id IN (").Ints(chunk).Str(");")
		}
		for chunk := range slices.Chunk(r.added, mysql.MaxRows) {
			t.Str("INSERT INTO held (id, board_id, member, held_at, expires_at, created_time, score, tiebreak, reason, submission, actor, request_id) VALUES ")
			for i, h := range chunk {
				t.Comma(i).Str("(").Int(h.ID).Str(",").Int(h.BoardID).Str(",").Hex(h.Member).Str(",").Time(h.HeldTime).Str(",").Time(r.heldUntil(h)).Str(",")
				t.Time(h.CreatedTime).Str(",").Int(h.NewScore).Str(",").Int(h.Tiebreak).Str(",").HexText(h.Reason).Str(",").HexBytes(heldText(h)).Str(",")
				t.Hex(mysql.CutBytes(h.Actor, mysql.MaxActor)).Str(",").Hex(mysql.CutBytes(h.RequestID, mysql.MaxRequestID)).Str(")")
			}
			t.Str(";")
		}
		for _, h := range r.decided {
			t.Str("UPDATE held SET state = ").Hex(string(h.State)).Str(", decided_at = ").Time(h.DecidedTime).Str(", decided_by = ").Hex(mysql.CutBytes(h.DecidedBy, mysql.MaxActor))
			t.Str(", note = ").HexText(h.Note).Str(", outcome = ").Hex(string(h.Outcome)).Str(" WHERE id = ").Int(h.ID).Str(" AND state = 'waiting';")
		}
	}
}

// heldUntil returns when the row of a held submission goes.
func (r *reviews) heldUntil(h *leaderboard.Held) leaderboard.Micros {
	return h.HeldTime + leaderboard.Micros(r.board.Rules().Review.HeldFor()/time.Microsecond)
}

// drop takes the row of a held submission away.
func (r *reviews) drop(h *leaderboard.Held) {
	if i := slices.Index(r.added, h); i >= 0 {
		r.added = slices.Delete(slices.Clone(r.added), i, i+1)
		return
	}
	r.gone = append(slices.Clip(r.gone), h.ID)
}

// Changed reports whether there is anything to write.
func (r *reviews) Changed() bool { return len(r.added)+len(r.gone)+len(r.decided) > 0 }

// Mark returns a function that undoes the holds from now on.
func (r *reviews) Mark([]string) (undo func()) {
	was := *r
	was.waiting = maps.Clone(r.waiting)
	return func() { *r = was }
}

// Announce returns the events of submissions that were held and decided.
func (r *reviews) Announce() (out []commit.Announcement) {
	add := func(kind leaderboard.EventKind, h *leaderboard.Held) {
		out = append(out, commit.Announcement{
			Kind: kind, Board: h.Board, Once: fmt.Sprint(kind, " ", h.ID), Members: []leaderboard.EventMember{{Member: h.Member}},
			Data: struct {
				Held  string `json:"held_id"`
				Board string `json:"board"`
				Score int64  `json:"score"`
				By    string `json:"decided_by,omitempty"`
			}{strconv.FormatInt(h.ID, 10), h.Board, h.Score, h.DecidedBy},
		})
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
