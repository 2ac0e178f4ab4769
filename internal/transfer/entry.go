package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard"
	"leaderboard/internal/terminal"
)

const (
	columnMember   = "member"
	columnScore    = "score"
	columnTiebreak = "tiebreak"
	columnTime     = "created_time"
	columnMetadata = "metadata"
	columnFields   = "fields." // and the name of a tiebreak field
)

// checkColumns checks the names of a CSV's columns.
func checkColumns(columns []string) error {
	for _, required := range []string{columnMember, columnScore} {
		if !slices.Contains(columns, required) {
			return fmt.Errorf("its first line has no column %s: it has to name the columns, such as member,score", required)
		}
	}
	for i, name := range columns {
		field, isField := strings.CutPrefix(name, columnFields)
		known := slices.Contains([]string{columnMember, columnScore, columnTiebreak, columnTime, columnMetadata, "strict_rank", "tied_rank", "rank"}, name)
		switch {
		case !known && (!isField || field == ""):
			return fmt.Errorf("column %s is not known: want member and score, and may be tiebreak, created_time, metadata, fields.NAME; "+
				"strict_rank, tied_rank and rank are passed over", terminal.Printable(name))
		case slices.Contains(columns[:i], name):
			return fmt.Errorf("column %s is there twice", name)
		}
	}
	return nil
}

// entryOfRecord makes an entry of a CSV record; fault says what is wrong with it. Unless raw, it removes the quote before an id
// that a spreadsheet would take for a formula.
func entryOfRecord(columns []string, fields [][]byte, raw bool) (e leaderboard.Submission, fault string) {
	if len(fields) != len(columns) {
		return e, fmt.Sprintf("has %d fields, want %d", len(fields), len(columns))
	}
	for i, name := range columns {
		value := fields[i]
		if !utf8.Valid(value) {
			return e, "is not UTF-8"
		}
		field, isField := strings.CutPrefix(name, columnFields)
		switch {
		case name == columnMember:
			if e.Member = string(value); !raw {
				e.Member = leaderboard.UnquoteFormula(e.Member)
			}
		case name == columnScore:
			e.Score, fault = integer(name, value)
		case len(value) == 0: // the other columns may be empty
		case name == columnTiebreak:
			e.Tiebreak = new(int64)
			*e.Tiebreak, fault = integer(name, value)
		case name == columnTime:
			e.CreatedTime = new(leaderboard.Micros)
			if err := e.CreatedTime.UnmarshalText(value); err != nil {
				fault = fmt.Sprintf("created_time %s: %s", excerpt(value), err)
			}
		case name == columnMetadata:
			e.Metadata, fault = metadata(value)
		case isField:
			if e.Fields == nil {
				e.Fields = map[string]int64{}
			}
			e.Fields[field], fault = integer(name, value)
		}
		if fault != "" {
			return e, fault
		}
	}
	return e, checked(&e)
}

// metadata reads that of an entry.
func metadata(b []byte) (object, fault string) {
	if object, ok := leaderboard.CompactMetadata(b); ok {
		return object, ""
	}
	return "", "metadata " + excerpt(b) + ": want a JSON object"
}

// integer reads an int64 in its one decimal form, that of JSON.
func integer(name string, b []byte) (int64, string) {
	digits := bytes.TrimPrefix(b, []byte{'-'})
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || digits[0] == '+' || (digits[0] == '0' && len(digits) > 1) {
		return 0, fmt.Sprintf("%s %s: %s", name, excerpt(b), wantInteger)
	}
	return n, ""
}

const wantInteger = "want a whole number from -9223372036854775808 to 9223372036854775807, without fraction or exponent"

// excerpt quotes a piece of the input, bounded and fit for a terminal.
func excerpt(b []byte) string {
	const most = 40
	if len(b) > most {
		return strconv.Quote(strings.ToValidUTF8(string(b[:most]), "")) + "…"
	}
	return strconv.Quote(string(b))
}

// checked checks the member of an entry. It drops a tiebreak beside fields, since the fields determine it.
func checked(e *leaderboard.Submission) (fault string) {
	if e.Fields != nil {
		e.Tiebreak = nil
	}
	if broken := leaderboard.AsRule(leaderboard.CheckMember(e.Member)); broken != nil {
		return broken.Detail
	}
	return ""
}

// entryOfLine makes an entry of a JSON line; fault says what is wrong with it.
func entryOfLine(line []byte) (e leaderboard.Submission, fault string) {
	var in struct {
		Member      *string             `json:"member"`
		Score       *int64              `json:"score"`
		Tiebreak    *int64              `json:"tiebreak"`
		Fields      map[string]*int64   `json:"fields"`
		CreatedTime *leaderboard.Micros `json:"created_time"`
		Metadata    jsontext.Value      `json:"metadata"`
		StrictRank  jsontext.Value      `json:"strict_rank"`
		TiedRank    jsontext.Value      `json:"tied_rank"`
		Rank        jsontext.Value      `json:"rank"`
	}
	err := json.Unmarshal(line, &in, json.RejectUnknownMembers(true))
	switch {
	case err != nil:
		return e, jsonFault(err)
	case in.Member == nil:
		return e, "has no member"
	case in.Score == nil:
		return e, "has no score"
	}
	e = leaderboard.Submission{Member: *in.Member, Score: *in.Score, Tiebreak: in.Tiebreak, CreatedTime: in.CreatedTime}
	for name, value := range in.Fields {
		if value == nil {
			return e, excerptPointer("fields/"+name) + ": " + wantInteger
		}
		if e.Fields == nil {
			e.Fields = map[string]int64{}
		}
		e.Fields[name] = *value
	}
	if in.Metadata != nil && string(in.Metadata) != "null" {
		var fault string
		if e.Metadata, fault = metadata(in.Metadata); fault != "" {
			return e, fault
		}
	}
	return e, checked(&e)
}

// jsonFault says where a JSON line is wrong, and what is expected there.
func jsonFault(err error) string {
	var (
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case errors.As(err, &syntactic):
		return fmt.Sprintf("is not valid JSON at byte %d: %s", syntactic.ByteOffset, syntactic.Err)
	case !errors.As(err, &semantic):
		return "is not valid JSON"
	case semantic.JSONPointer == "":
		return "want an object with member and score"
	}
	at := excerptPointer(string(semantic.JSONPointer))
	switch name, _, _ := strings.Cut(at, "/"); {
	case errors.Is(err, json.ErrUnknownName):
		return at + " is not known"
	case name == columnMember:
		return at + ": want a string"
	case name == columnTime:
		return at + ": want an RFC 3339 time in a string, with six digits of fraction at most"
	case at == "fields":
		return at + ": want an object"
	default:
		return at + ": " + wantInteger
	}
}

func excerptPointer(p string) string {
	const most = 60
	p = strings.TrimPrefix(p, "/")
	if len(p) > most {
		p = p[:most] + "…"
	}
	if q := strconv.Quote(p); len(q) > len(p)+2 {
		return q
	}
	return p
}
