package wire

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"strings"
	"unicode/utf8"

	"leaderboard/leaderboard"
)

// A cursor is opaque to clients: base64url of a version byte, a check and the place to continue after. The check covers the list
// of the cursor too, so that a cursor of another board, or a damaged one, is rejected instead of answered with a page that looks
// right. It is no secret: a forged cursor only chooses another place.
const (
	cursorVersion = 1
	cursorHead    = 5
	maxCursor     = 256 // characters
)

// List is the list that a cursor belongs to.
type List struct {
	Name string
	Id   int64
}

// check returns the CRC-32 of the list and a place in it.
func (l List) check(after string) uint32 {
	b := make([]byte, 0, 128) // on the stack
	b = append(append(b, l.Name...), 0)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Id))
	return crc32.ChecksumIEEE(append(b, after...))
}

// AppendCursor appends the cursor of the place after.
func (l List) AppendCursor(b []byte, after string) []byte {
	raw := make([]byte, 0, 128)
	raw = append(raw, cursorVersion)
	raw = binary.BigEndian.AppendUint32(raw, l.check(after))
	raw = append(raw, after...)
	return base64.RawURLEncoding.AppendEncode(b, raw)
}

// Cursor is AppendCursor as a string.
func (l List) Cursor(after string) string { return string(l.AppendCursor(nil, after)) }

// CursorID is Cursor for a list that continues after ids.
func (l List) CursorID(id int64) string { return l.Cursor(strconv.FormatInt(id, 10)) }

// After returns the place to continue after from a cursor of l; false for a cursor of another list.
func (l List) After(cursor string) (string, bool) {
	if len(cursor) > maxCursor {
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= cursorHead || raw[0] != cursorVersion {
		return "", false
	}
	after := string(raw[cursorHead:])
	return after, binary.BigEndian.Uint32(raw[1:cursorHead]) == l.check(after)
}

// AfterID is After for a list that continues after ids.
func (l List) AfterID(cursor string) (int64, bool) {
	s, ok := l.After(cursor)
	if !ok {
		return 0, false
	}
	id, ok := ParseInteger(s)
	return id, ok && id > 0
}

// EntriesOf returns the list of a period's entries; it continues after sort keys. No two periods have the same incarnation.
func EntriesOf(ref *leaderboard.PeriodRef) List { return List{"entries", ref.Incarnation} }

// AfterKey returns the sort key that a cursor of a period's entries continues after. The key has the form of package rank, also in
// a forged cursor: score, tiebreak and created_time in 24 bytes, then the member.
func AfterKey(ref *leaderboard.PeriodRef, cursor string) (string, bool) {
	key, ok := EntriesOf(ref).After(cursor)
	return key, ok && isKey(key)
}

func isKey(key string) bool {
	if len(key) <= 24 || len(key) > 24+leaderboard.MaxMember || !utf8.ValidString(key[24:]) {
		return false
	}
	created := leaderboard.Micros(binary.BigEndian.Uint64([]byte(key[16:24])) ^ 1<<63)
	return created >= leaderboard.MinTime && created <= leaderboard.MaxTime
}

// CombinedEntries returns the list of the entries of any boards with the order of these rules. A cursor of it stays good when
// boards come and go.
func CombinedEntries(rules *leaderboard.Rules) List {
	of := List{Name: "rankings"}
	if rules.Order == leaderboard.OrderAsc {
		of.Id |= 1
	}
	if rules.Tiebreak.Order == leaderboard.OrderAsc {
		of.Id |= 2
	}
	return of
}

// Place returns a place in a list of entries of several boards: a sort key, which may have any bytes in it, and the name of a
// board, which has no zero byte.
func Place(key, board string) string { return key + "\x00" + board }

// AfterPlace returns the parts of the place that a cursor continues after; false for a cursor of another list.
func (l List) AfterPlace(cursor string) (key, board string, ok bool) {
	s, ok := l.After(cursor)
	if !ok {
		return "", "", false
	}
	at := strings.LastIndexByte(s, 0)
	if at < 0 {
		return "", "", false
	}
	key, board = s[:at], s[at+1:]
	return key, board, isKey(key) && leaderboard.CheckBoardName(board) == nil
}

// BadCursor is the error of a cursor that does not belong to the list.
func BadCursor() InputError {
	return InputError{Parameter: "cursor", Detail: "is not a cursor of this list"}
}
