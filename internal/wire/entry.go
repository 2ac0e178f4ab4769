package wire

import (
	"strconv"

	"leaderboard/leaderboard"
)

// The answers that are served most are encoded by appending; the tests compare the result with encoding/json.

// AppendTime appends a time as a string.
func AppendTime(b []byte, t leaderboard.Micros) []byte {
	return append(t.AppendTo(append(b, '"')), '"')
}

// AppendOptInt appends a number, null for nil.
func AppendOptInt(b []byte, v *int64) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *v, 10)
}

// AppendOptTime appends a time, null for nil.
func AppendOptTime(b []byte, t *leaderboard.Micros) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	return AppendTime(b, *t)
}

// AppendRanked appends the members of an entry's object, without the braces.
func AppendRanked(b []byte, f EntryForm, r *leaderboard.Ranked) []byte {
	return AppendEntry(append(AppendRanks(b, f.Mode, &r.Ranks), ','), f.Tie, &r.Entry)
}

// EntryForm is the form of entries in an answer: the mode of their ranks, and the board's rules of tiebreaks.
type EntryForm struct {
	Mode leaderboard.Mode
	Tie  *leaderboard.Tiebreak
}

// AppendRanks appends the member rank, or one for each mode.
func AppendRanks(b []byte, mode leaderboard.Mode, r *leaderboard.Ranks) []byte {
	if mode != leaderboard.ModeAll {
		return strconv.AppendInt(append(b, `"rank":`...), r.In(mode), 10)
	}
	return AppendDense(append(AppendStrictTied(b, r), ','), r)
}

// AppendStrictTied appends the members strict_rank and tied_rank.
func AppendStrictTied(b []byte, r *leaderboard.Ranks) []byte {
	b = strconv.AppendInt(append(b, `"strict_rank":`...), r.Strict, 10)
	return strconv.AppendInt(append(b, `,"tied_rank":`...), r.Tied, 10)
}

// AppendDense appends the member dense_rank, null when that is not known.
func AppendDense(b []byte, r *leaderboard.Ranks) []byte {
	b = append(b, `"dense_rank":`...)
	if r.Dense == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, r.Dense, 10)
}

// AppendEntry appends the members of an entry without its ranks.
func AppendEntry(b []byte, tie *leaderboard.Tiebreak, e *leaderboard.Entry) []byte {
	b = AppendString(append(b, `"member":`...), e.Member)
	b = strconv.AppendInt(append(b, `,"score":`...), e.Score, 10)
	b = AppendTiebreak(append(b, ','), tie, e.Tiebreak)
	return AppendTime(append(b, `,"created_time":`...), e.CreatedTime)
}

// AppendTiebreak appends the member tiebreak, and fields when the board has any.
func AppendTiebreak(b []byte, tie *leaderboard.Tiebreak, v int64) []byte {
	b = strconv.AppendInt(append(b, `"tiebreak":`...), v, 10)
	if len(tie.Fields) == 0 {
		return b
	}
	b = append(b, `,"fields":{`...)
	for i, f := range tie.Unpack(v) {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(AppendString(b, f.Name), ':'), f.Value, 10)
	}
	return append(b, '}')
}

// AppendPercentile appends the member percentile.
func AppendPercentile(b []byte, tied, total int64) []byte {
	return strconv.AppendFloat(append(b, `"percentile":`...), leaderboard.Percentile(tied, total), 'f', -1, 64)
}
