package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"leaderboard"
)

// A cursor is opaque to clients: base64url of a version byte, a check and what to continue after. The check covers the
// list that the cursor is of, so that one of another board, or a damaged one, is rejected instead of answered with
// something that looks right. It is no secret: whoever forges one only chooses where to continue.
const (
	cursorVersion = 1
	cursorHead    = 5
	maxCursor     = 256 // characters
)

// Bounds of the lists of boards, periods, members and runs.
const (
	defaultList = 100
	maxList     = 1000
)

// sendList answers with a page of a list, the member name: as show has them, up to limit of the items that were found, and when
// there are more the cursor behind the last of the page.
func sendList[T, J any](c *call, name string, found []T, limit int, show func(*T) J, cursor func(last *T) string) error {
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = cursor(&found[limit-1])
	}
	return sendPage(c, name, found, show, next)
}

// sendPage answers with a part of a list, and the cursor of what follows ("": nothing does).
func sendPage[T, J any](c *call, name string, found []T, show func(*T) J, next string) error {
	out := map[string]any{}
	if next != "" {
		out["next_cursor"] = next
	}
	items := make([]J, len(found))
	for i := range found {
		items[i] = show(&found[i])
	}
	out[name] = items
	return c.sendJSON(http.StatusOK, out)
}

// list is the list that a cursor belongs to.
type list struct {
	name string
	id   int64
}

// check returns the CRC-32 of what is continued after and of the list.
func (l list) check(after string) uint32 {
	b := make([]byte, 0, 128) // on the stack
	b = append(append(b, l.name...), 0)
	b = binary.BigEndian.AppendUint64(b, uint64(l.id))
	return crc32.ChecksumIEEE(append(b, after...))
}

func (l list) appendCursor(b []byte, after string) []byte {
	raw := make([]byte, 0, 128)
	raw = append(raw, cursorVersion)
	raw = binary.BigEndian.AppendUint32(raw, l.check(after))
	raw = append(raw, after...)
	return base64.RawURLEncoding.AppendEncode(b, raw)
}

func (l list) cursor(after string) string { return string(l.appendCursor(nil, after)) }

func (l list) cursorID(id int64) string { return l.cursor(strconv.FormatInt(id, 10)) }

// after returns what a cursor of l continues after; false when it is none of l.
func (l list) after(cursor string) (string, bool) {
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

// afterID is after for a list that continues after ids.
func (l list) afterID(cursor string) (int64, bool) {
	s, ok := l.after(cursor)
	if !ok {
		return 0, false
	}
	id, ok := parseInteger(s)
	return id, ok && id > 0
}

// entriesOf returns the list of a period's entries; it continues after sort keys. No two periods have the same history.
func entriesOf(ref *leaderboard.PeriodRef) list { return list{"entries", ref.Incarnation} }

// afterKey returns the sort key that a cursor of a period's entries continues after. It has the form of one (see
// package rank: score, tiebreak and created_time in 24 bytes, then the member), whoever made the cursor.
func afterKey(ref *leaderboard.PeriodRef, cursor string) (string, bool) {
	key, ok := entriesOf(ref).after(cursor)
	return key, ok && isKey(key)
}

func isKey(key string) bool {
	if len(key) <= 24 || len(key) > 24+leaderboard.MaxMember || !utf8.ValidString(key[24:]) {
		return false
	}
	created := leaderboard.Micros(binary.BigEndian.Uint64([]byte(key[16:24])) ^ 1<<63)
	return created >= leaderboard.MinTime && created <= leaderboard.MaxTime
}

// combinedEntries returns the list of the entries of any boards with the order of these rules: a place in it stays one
// when boards come and go.
func combinedEntries(rules *leaderboard.Rules) list {
	of := list{name: "rankings"}
	if rules.Order == leaderboard.OrderAsc {
		of.id |= 1
	}
	if rules.Tiebreak.Order == leaderboard.OrderAsc {
		of.id |= 2
	}
	return of
}

// place returns what a cursor continues after: a sort key, which may have any bytes in it, and the name of a board,
// which has no zero byte.
func place(key, board string) string { return key + "\x00" + board }

func (l list) afterPlace(cursor string) (key, board string, ok bool) {
	s, ok := l.after(cursor)
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

func badCursor() inputError {
	return inputError{Parameter: "cursor", Detail: "is not a cursor of this list"}
}
