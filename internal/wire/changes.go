package wire

import (
	"encoding/binary"
	"strconv"

	"leaderboard/leaderboard"
)

// ChangePlace is a place in the change feed of a board's window: after a change of a period.
type ChangePlace struct {
	Window leaderboard.Window
	Period string // its name; it may not have begun
	// At is the state after the last whole commit. Without an incarnation no change of the period was given yet; the time of seq 0
	// is 0.
	At leaderboard.Revision
	// Skip is how many changes of the next commit were given, and Commit the time of that commit; both are 0 if no changes were.
	Skip   int64
	Commit leaderboard.Micros
	// Ended is the last state of the period before that had a row, until a change of this period is given: the database must still
	// have that state. The zero value: there was no such period.
	Ended leaderboard.PeriodRevision
}

// Behind returns the place after the first n changes of the commit that begins at p.At.
func (p *ChangePlace) Behind(c *leaderboard.Commit, n int) ChangePlace {
	next := ChangePlace{Window: p.Window, Period: p.Period, At: p.At}
	if n == len(c.Changes) {
		next.At = c.To()
	} else if n > 0 {
		next.Skip, next.Commit = int64(n), c.CommittedAt
	}
	return next
}

// changesOf returns the list of changes of a board, by its name: the place has the incarnation.
func changesOf(board string) List { return List{Name: "changes " + board} }

// AppendCursor appends the cursor of a place in the feed of a board.
func (p *ChangePlace) AppendCursor(b []byte, board string) []byte {
	at := make([]byte, 0, maxCursor)
	for _, text := range []string{string(p.Window), p.Period} {
		at = append(append(at, byte(len(text))), text...)
	}
	for _, n := range p.numbers() {
		at = binary.AppendVarint(at, *n)
	}
	return changesOf(board).AppendCursor(b, string(at))
}

// Cursor is AppendCursor as a string.
func (p *ChangePlace) Cursor(board string) string { return string(p.AppendCursor(nil, board)) }

// numbers returns pointers to the numbers of a cursor, in its order.
func (p *ChangePlace) numbers() []*int64 {
	asOf := func(m *leaderboard.Micros) *int64 { return (*int64)(m) }
	return []*int64{
		&p.At.Incarnation, &p.At.Seq, asOf(&p.At.AsOf), &p.Skip, asOf(&p.Commit),
		&p.Ended.PeriodID, &p.Ended.Incarnation, &p.Ended.Seq, asOf(&p.Ended.AsOf),
	}
}

// AfterChange returns the place that a cursor of the feed of a board names; false for any other cursor.
func AfterChange(board, cursor string) (p ChangePlace, ok bool) {
	at, ok := changesOf(board).After(cursor)
	if !ok {
		return p, false
	}
	rest := []byte(at)
	var texts [2]string
	for i := range texts {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return p, false
		}
		texts[i], rest = string(rest[1:1+rest[0]]), rest[1+rest[0]:]
	}
	p.Window, p.Period = leaderboard.Window(texts[0]), texts[1]
	for _, n := range p.numbers() {
		var size int
		if *n, size = binary.Varint(rest); size <= 0 {
			return ChangePlace{}, false
		}
		rest = rest[size:]
	}
	sane := len(rest) == 0 && p.At.Seq >= 0 && p.Skip >= 0 && p.Skip <= maxSkip && p.Ended.PeriodID >= 0 && p.Ended.Seq >= 0
	return p, sane
}

// maxSkip is more than the changes of any commit.
const maxSkip = 1 << 20

// ChangeForm is the common form of the lines of a feed.
type ChangeForm struct {
	Board string
	Tie   *leaderboard.Tiebreak // the board's rules of tiebreaks
}

// AppendChange appends a change as an object; next is the place after it.
func (f *ChangeForm) AppendChange(b []byte, at leaderboard.Micros, c *leaderboard.Change, next *ChangePlace) []byte {
	b = AppendString(append(b, `{"period":`...), next.Period)
	b = strconv.AppendInt(append(b, `,"seq":`...), c.Seq, 10)
	b = AppendTime(append(b, `,"committed_at":`...), at)
	b = AppendString(append(b, `,"member":`...), c.Member)
	b = f.appendSide(append(b, `,"before":`...), c.Old)
	b = f.appendSide(append(b, `,"after":`...), c.New)
	return append(next.AppendCursor(append(b, `,"cursor":"`...), f.Board), `"}`...)
}

func (f *ChangeForm) appendSide(b []byte, e *leaderboard.Entry) []byte {
	if e == nil {
		return append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `{"score":`...), e.Score, 10)
	b = AppendTiebreak(append(b, ','), f.Tie, e.Tiebreak)
	return append(AppendTime(append(b, `,"created_time":`...), e.CreatedTime), '}')
}

// AppendEnd appends the object that ends a period; next is the place where the feed continues, nil while no next period is known.
func (f *ChangeForm) AppendEnd(b []byte, period string, next *ChangePlace) []byte {
	b = append(AppendString(append(b, `{"end":true,"period":`...), period), `,"next":`...)
	if next == nil {
		return append(b, "null}"...)
	}
	return append(next.AppendCursor(append(b, '"'), f.Board), `"}`...)
}
