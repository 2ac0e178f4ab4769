package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/csvcell"
	"leaderboard/internal/numbers"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

const (
	columnMember   = "member"
	columnScore    = "score"
	columnTiebreak = "tiebreak"
	columnTime     = "created_time"
	columnMetadata = "metadata"
	columnFields   = "fields." // and the name of a tiebreak field
)

func knownColumns() []string {
	return []string{columnMember, columnScore, columnTiebreak, columnTime, columnMetadata, "strict_rank", "tied_rank", "rank"}
}

// noColumn returns the error for a missing required column, with a cause guessed from the names of the columns.
func noColumn(columns []string, required string) error {
	for _, name := range columns {
		if small := strings.ToLower(strings.TrimSpace(name)); small == required {
			return fmt.Errorf("column %q has to be written as %q: names of columns have small letters and no spaces", name, required)
		}
	}
	if err := wrongMark(columns[0]); len(columns) == 1 && err != nil {
		return err
	}
	return fmt.Errorf("its first line has no column %s: it has to name the columns, such as member,score", required)
}

// wrongMark returns the error for a first line whose columns are separated by another mark than a comma, with or without
// quotes; nil if no mark is found.
func wrongMark(line string) error {
	line = strings.ToLower(strings.NewReplacer(`"`, "", "\r", "").Replace(line))
	for mark, means := range map[string]string{";": "semicolons", "\t": "tabs", "|": "bars"} {
		names := strings.Split(line, mark)
		if slices.Contains(names, columnMember) && slices.Contains(names, columnScore) {
			return fmt.Errorf("its columns are separated by %s; want commas, as in member,score", means)
		}
	}
	return nil
}

// checkColumns checks the names of a CSV's columns.
func checkColumns(columns []string) error {
	for _, required := range []string{columnMember, columnScore} {
		if !slices.Contains(columns, required) {
			return noColumn(columns, required)
		}
	}
	for i, name := range columns {
		field, isField := strings.CutPrefix(name, columnFields)
		known := slices.Contains(knownColumns(), name)
		switch {
		case !known && slices.Contains(knownColumns(), strings.ToLower(strings.TrimSpace(name))):
			return fmt.Errorf("column %q has to be written as %q: names of columns have small letters and no spaces", name, strings.ToLower(strings.TrimSpace(name)))
		case !known && (!isField || field == ""):
			return fmt.Errorf("column %s is not known: want member and score, and may be tiebreak, created_time, metadata, fields.NAME; "+
				"strict_rank, tied_rank and rank are passed over", terminal.Printable(name))
		case slices.Contains(columns[:i], name):
			return fmt.Errorf("column %s is there twice", name)
		}
	}
	return nil
}

// entryOfRecord makes an entry of a CSV record; fault describes the error. Unless raw, it removes the quote before an id
// that a spreadsheet would treat as a formula.
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
				e.Member = csvcell.Unquote(e.Member)
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

// metadata reads the metadata of an entry.
func metadata(b []byte) (object, fault string) {
	if object, ok := leaderboard.CompactMetadata(b); ok {
		return object, ""
	}
	return "", "metadata " + excerpt(b) + ": want a JSON object"
}

// integer reads a whole number of 64 bits.
func integer(name string, b []byte) (int64, string) {
	n, ok := leaderboard.WholeNumber(b)
	if !ok {
		return 0, fmt.Sprintf("%s %s: %s", name, excerpt(b), leaderboard.WantWholeNumber)
	}
	return n, ""
}

// excerpt quotes a piece of the input, bounded and fit for a terminal.
func excerpt(b []byte) string {
	const most = 40
	if len(b) > most {
		return strconv.Quote(strings.ToValidUTF8(string(b[:most]), "")) + "…"
	}
	return strconv.Quote(string(b))
}

// checked checks the member of an entry. It drops a tiebreak next to fields, since the fields determine it.
func checked(e *leaderboard.Submission) (fault string) {
	if e.Fields != nil {
		e.Tiebreak = nil
	}
	if broken := leaderboard.AsRule(leaderboard.CheckMember(e.Member)); broken != nil {
		return broken.Detail
	}
	return ""
}

// jsonLine is a line of JSON lines. The ranks of an export are passed over.
type jsonLine struct {
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

// entryOfLine makes an entry of a JSON line; fault describes the error.
func entryOfLine(line []byte) (e leaderboard.Submission, fault string) {
	var in jsonLine
	err := json.Unmarshal(line, &in, json.RejectUnknownMembers(true))
	if err != nil { // again, with numbers in every form: few files have them
		in = jsonLine{}
		err = json.Unmarshal(line, &in, json.RejectUnknownMembers(true), json.WithUnmarshalers(numbers.Unmarshalers(nil)))
	}
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
			return e, excerptPointer("fields/"+name) + ": " + leaderboard.WantWholeNumber
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

// jsonFault says where a JSON line is wrong, and the expected text.
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
		return at + ": " + leaderboard.WantWholeNumber
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
