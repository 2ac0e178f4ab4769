package mysql

import (
	"encoding/hex"
	"strconv"
	"strings"

	"leaderboard/leaderboard"
)

// MaxRows is the number of rows, or of values in a list, in one statement; more make it slower, not faster.
const MaxRows = 500

// MaxActor and MaxRequestID are the lengths of the columns of actors and ids of requests, in characters, or in bytes where the
// column is binary.
const (
	MaxActor     = 128
	MaxRequestID = 128
)

// CutBytes returns the first n bytes of s.
func CutBytes(s string, n int) string { return s[:min(len(s), n)] }

// CutText makes s valid UTF-8 of at most n characters.
func CutText(s string, n int) string {
	runes := []rune(strings.ToValidUTF8(s, "?"))
	return string(runes[:min(n, len(runes))])
}

// Text is a statement built by hand. Every value from outside goes into it as a number or in hexadecimal digits, so that
// nothing needs escaping, and a batch of 500 rows costs no boxed arguments.
type Text struct{ b []byte }

// Len returns the length of the statement in bytes.
func (t *Text) Len() int { return len(t.b) }

func (t *Text) Reset()             { t.b = t.b[:0] }
func (t *Text) Str(s string) *Text { t.b = append(t.b, s...); return t }
func (t *Text) Char(c byte) *Text  { t.b = append(t.b, c); return t }
func (t *Text) Int(v int64) *Text  { t.b = strconv.AppendInt(t.b, v, 10); return t }
func (t *Text) String() string     { return string(t.b) }

// Hex appends a binary string literal.
func (t *Text) Hex(s string) *Text {
	t.b = append(t.b, "x'"...)
	t.b = hex.AppendEncode(t.b, []byte(s))
	t.b = append(t.b, '\'')
	return t
}

// HexText appends a string literal of UTF-8.
func (t *Text) HexText(s string) *Text { return t.Str("_utf8mb4 ").Hex(s) }

// Hexes appends a list of binary string literals.
func (t *Text) Hexes(list []string) *Text {
	for i, s := range list {
		t.Comma(i).Hex(s)
	}
	return t
}

// Among appends the condition that a column has any of the values, in lists of MaxRows: MariaDB turns a list of a thousand
// or more into a table and joins it.
func (t *Text) Among(column string, list []string) *Text {
	t.Str("(")
	for from := 0; from < len(list); from += MaxRows {
		if from > 0 {
			t.Str(" OR ")
		}
		t.Str(column).Str(" IN (").Hexes(list[from:min(from+MaxRows, len(list))]).Str(")")
	}
	return t.Str(")")
}

// Ints appends a list of numbers.
func (t *Text) Ints(list []int64) *Text {
	for i, v := range list {
		t.Comma(i).Int(v)
	}
	return t
}

func (t *Text) HexBytes(b []byte) *Text {
	t.b = append(t.b, "x'"...)
	t.b = hex.AppendEncode(t.b, b)
	t.b = append(t.b, '\'')
	return t
}

// Time appends a DATETIME(6) literal of a moment between MinTime and MaxTime.
func (t *Text) Time(m leaderboard.Micros) *Text {
	t.b = append(t.b, '\'')
	t.b = m.Time().AppendFormat(t.b, "2006-01-02 15:04:05.000000")
	t.b = append(t.b, '\'')
	return t
}

// Comma separates the parts of a list; i is the index of the next part.
func (t *Text) Comma(i int) *Text {
	if i > 0 {
		t.b = append(t.b, ',')
	}
	return t
}
