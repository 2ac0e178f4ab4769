package store

import (
	"encoding/hex"
	"strconv"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

// text is a statement built by hand. Whatever came from outside goes into it as a number or in hexadecimal digits, so
// that nothing needs escaping, and a batch of 500 rows costs no boxed arguments.
type text struct{ b []byte }

func (t *text) reset()             { t.b = t.b[:0] }
func (t *text) str(s string) *text { t.b = append(t.b, s...); return t }
func (t *text) char(c byte) *text  { t.b = append(t.b, c); return t }
func (t *text) int(v int64) *text  { t.b = strconv.AppendInt(t.b, v, 10); return t }
func (t *text) String() string     { return string(t.b) }

// hex is a binary string literal.
func (t *text) hex(s string) *text {
	t.b = append(t.b, "x'"...)
	t.b = hex.AppendEncode(t.b, []byte(s))
	t.b = append(t.b, '\'')
	return t
}

// hexText is a string literal of UTF-8.
func (t *text) hexText(s string) *text { return t.str("_utf8mb4 ").hex(s) }

// hexes is a list of binary string literals.
func (t *text) hexes(list []string) *text {
	for i, s := range list {
		t.comma(i).hex(s)
	}
	return t
}

// among is the condition that a column has one of the values, in lists of upsertRows: MariaDB makes a table to join with
// of a list of a thousand and more.
func (t *text) among(column string, list []string) *text {
	t.str("(")
	for from := 0; from < len(list); from += upsertRows {
		if from > 0 {
			t.str(" OR ")
		}
		t.str(column).str(" IN (").hexes(list[from:min(from+upsertRows, len(list))]).str(")")
	}
	return t.str(")")
}

// ints is a list of numbers.
func (t *text) ints(list []int64) *text {
	for i, v := range list {
		t.comma(i).int(v)
	}
	return t
}

func (t *text) hexBytes(b []byte) *text {
	t.b = append(t.b, "x'"...)
	t.b = hex.AppendEncode(t.b, b)
	t.b = append(t.b, '\'')
	return t
}

// time is a DATETIME(6) literal of a moment between MinTime and MaxTime.
func (t *text) time(m leaderboard.Micros) *text {
	t.b = append(t.b, '\'')
	t.b = m.Time().AppendFormat(t.b, "2006-01-02 15:04:05.000000")
	t.b = append(t.b, '\'')
	return t
}

// comma separates the parts of a list; i is the index of the next part.
func (t *text) comma(i int) *text {
	if i > 0 {
		t.b = append(t.b, ',')
	}
	return t
}

// row is one row of entries, in the order of its columns.
func (t *text) row(periodID int64, codec rank.Codec, e leaderboard.Entry) *text {
	score, tiebreak := codec.Stored(e.Score, e.Tiebreak)
	t.str("(").int(periodID).str(",").hex(e.Member).str(",").int(score).str(",").int(tiebreak).str(",")
	return t.time(e.CreatedTime).str(")")
}

func micros(t time.Time) leaderboard.Micros { return leaderboard.MicrosOf(t) }
