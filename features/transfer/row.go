package transfer

import (
	"strconv"
	"strings"
	"unicode"

	"leaderboard/internal/csvcell"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// The forms of an export.
const (
	formatCSV   = "csv"
	formatJSONL = "jsonl"

	csvHead = "strict_rank,tied_rank,member,score,tiebreak,created_time"
)

func exportType(format string) string {
	if format == formatCSV {
		return "text/csv; charset=utf-8; header=present"
	}
	return "application/jsonl"
}

// exportRow is the entry that is written next, with its ranks, which follow from the entry before it.
type exportRow struct {
	tiebreak     *leaderboard.Tiebreak // of the board
	raw          bool                  // in CSV no quote is put before ids that spreadsheets take for formulas
	strict, tied int64
	entry        leaderboard.Entry
	kept         string // the name of the data kept with entries; "": not asked for
	body         string // the data kept with the entry; "": none
}

// appendHead appends the names of the columns: one per tiebreak field after the others, and the last for data kept with entries.
func (r *exportRow) appendHead(b []byte) []byte {
	b = append(b, csvHead...)
	for i := range r.tiebreak.Fields {
		b = append(append(b, ",fields."...), r.tiebreak.Fields[i].Name...)
	}
	if r.kept != "" {
		b = append(append(b, ','), r.kept...)
	}
	return append(b, '\n')
}

func (r *exportRow) next(e *leaderboard.Entry) {
	r.strict++
	if r.strict == 1 || e.Score != r.entry.Score || e.Tiebreak != r.entry.Tiebreak {
		r.tied = r.strict
	}
	r.entry = *e
}

// appendCSV appends a record of RFC 4180 that ends in a line feed.
func (r *exportRow) appendCSV(b []byte) []byte {
	b = append(strconv.AppendInt(b, r.strict, 10), ',')
	b = append(strconv.AppendInt(b, r.tied, 10), ',')
	member := r.entry.Member
	if !r.raw {
		member = csvcell.Quote(member)
	}
	b = append(appendCSVField(b, member), ',')
	b = append(strconv.AppendInt(b, r.entry.Score, 10), ',')
	b = append(strconv.AppendInt(b, r.entry.Tiebreak, 10), ',')
	b = r.entry.CreatedTime.AppendTo(b)
	for _, f := range r.tiebreak.Unpack(r.entry.Tiebreak) {
		b = strconv.AppendInt(append(b, ','), f.Value, 10)
	}
	if r.kept != "" {
		b = append(b, ',')
	}
	if r.body != "" {
		b = appendCSVField(b, r.body)
	}
	return append(b, '\n')
}

// appendCSVField quotes a field that has a character with a meaning in CSV, or a character that may be lost on the way: control
// characters, spaces at the ends, invisible characters.
func appendCSVField(b []byte, s string) []byte {
	odd := func(r rune) bool { return r == '"' || r == ',' || !unicode.IsPrint(r) }
	if s != "" && s[0] != ' ' && s[len(s)-1] != ' ' && !strings.ContainsFunc(s, odd) {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// appendJSON appends the entry as an object on one line.
func (r *exportRow) appendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"strict_rank":`...), r.strict, 10)
	b = strconv.AppendInt(append(b, `,"tied_rank":`...), r.tied, 10)
	b = wire.AppendEntry(append(b, ','), r.tiebreak, &r.entry)
	if r.body != "" {
		b = append(append(append(append(b, `,"`...), r.kept...), `":`...), r.body...)
	}
	return append(b, "}\n"...)
}
