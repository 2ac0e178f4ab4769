package httpapi

import (
	"strconv"
	"unicode/utf8"

	"leaderboard"
)

// The answers that are served most are encoded by appending; the tests compare the result with encoding/json.

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD; U+2028 and U+2029 are escaped, so
// that the text is also valid JavaScript.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			b = appendEscape(append(b, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && size == 1) || r == '\u2028' || r == '\u2029' {
			b = append(b, s[start:i]...)
			b = append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}

func appendTime(b []byte, t leaderboard.Micros) []byte {
	return append(t.AppendTo(append(b, '"')), '"')
}

// appendOptInt and appendOptTime write null for nil.
func appendOptInt(b []byte, v *int64) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *v, 10)
}

func appendOptTime(b []byte, t *leaderboard.Micros) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	return appendTime(b, *t)
}

// appendRanked appends the members of an entry's object, without the braces.
func appendRanked(b []byte, f form, r *leaderboard.Ranked) []byte {
	return appendEntry(append(appendRanks(b, f.mode, &r.Ranks), ','), f.tie, &r.Entry)
}

// form is what entries look like besides what they are: their ranks in a mode, and the board's rules of tiebreaks.
type form struct {
	mode leaderboard.Mode
	tie  *leaderboard.Tiebreak
}

// form returns that of an answer.
func (on *target) form() form { return form{on.query.Mode, &on.ref.Rules.Tiebreak} }

// appendRanks appends the member rank, or one for each mode.
func appendRanks(b []byte, mode leaderboard.Mode, r *leaderboard.Ranks) []byte {
	if mode != leaderboard.ModeAll {
		return strconv.AppendInt(append(b, `"rank":`...), r.In(mode), 10)
	}
	return appendDense(append(appendStrictTied(b, r), ','), r)
}

func appendStrictTied(b []byte, r *leaderboard.Ranks) []byte {
	b = strconv.AppendInt(append(b, `"strict_rank":`...), r.Strict, 10)
	return strconv.AppendInt(append(b, `,"tied_rank":`...), r.Tied, 10)
}

// appendDense appends the member dense_rank, null when that is not known.
func appendDense(b []byte, r *leaderboard.Ranks) []byte {
	b = append(b, `"dense_rank":`...)
	if r.Dense == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, r.Dense, 10)
}

func appendEntry(b []byte, tie *leaderboard.Tiebreak, e *leaderboard.Entry) []byte {
	b = appendString(append(b, `"member":`...), e.Member)
	b = strconv.AppendInt(append(b, `,"score":`...), e.Score, 10)
	b = appendTiebreak(append(b, ','), tie, e.Tiebreak)
	return appendTime(append(b, `,"created_time":`...), e.CreatedTime)
}

// appendTiebreak appends the member tiebreak, and fields when the board has any.
func appendTiebreak(b []byte, tie *leaderboard.Tiebreak, v int64) []byte {
	b = strconv.AppendInt(append(b, `"tiebreak":`...), v, 10)
	if len(tie.Fields) == 0 {
		return b
	}
	b = append(b, `,"fields":{`...)
	for i, f := range tie.Unpack(v) {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(appendString(b, f.Name), ':'), f.Value, 10)
	}
	return append(b, '}')
}

func appendPercentile(b []byte, tied, total int64) []byte {
	return strconv.AppendFloat(append(b, `"percentile":`...), leaderboard.Percentile(tied, total), 'f', -1, 64)
}
