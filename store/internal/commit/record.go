package commit

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// What is kept of a submission is a row with few columns: half of what a row costs MySQL is to read the statement that
// inserts it, literal by literal.

// What columns of submissions take.
const (
	maxDetail    = 300 // characters
	maxActor     = 128 // bytes
	maxRequestID = 128 // bytes
)

// submissionRow is a row of submissions to write.
type submissionRow struct {
	board *lockedBoard
	id    int64
	rec   *leaderboard.SubmissionRecord
}

// appendSubmissions records submissions, those of a batch in one statement as a rule. Their ids tell them apart from
// those of a batch at the same microsecond, however the clock goes.
func appendSubmissions(t *mysql.Text, boards []*lockedBoard) {
	var rows []submissionRow
	for _, b := range boards {
		first := int64(b.random()>>18) << 16
		rows = slices.Grow(rows, len(b.records))
		for i := range b.records {
			rows = append(rows, submissionRow{b, first + int64(i), &b.records[i]})
		}
	}
	var room []byte
	for chunk := range slices.Chunk(rows, mysql.MaxRows) {
		t.Str("INSERT INTO submissions (board_id, recorded_at, id, member, actor, request_id, result) VALUES ")
		for i := range chunk {
			r := &chunk[i]
			t.Comma(i).Str("(").Int(r.board.known.Board.ID).Str(",").Time(r.board.clock).Str(",").Int(r.id).Str(",").Hex(r.rec.Member)
			t.Str(",").Hex(r.rec.Actor[:min(len(r.rec.Actor), maxActor)]).Str(",")
			appendRequestID(t, r.rec.RequestID[:min(len(r.rec.RequestID), maxRequestID)])
			room = appendRecord(room[:0], r.rec)
			t.Str(",").HexBytes(room).Str(")")
		}
		t.Str(";")
	}
}

// appendRequestID appends the id of a request as it is stored: one that is the digits of bytes, as those made here are, as
// a zero byte and these.
func appendRequestID(t *mysql.Text, id string) {
	if id == "" || !isHex(id) {
		t.Hex(id)
		return
	}
	t.Str("x'00").Str(id).Str("'")
}

// isHex reports whether a text is what hex.EncodeToString returns.
func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s)%2 == 0
}

// RequestID returns the id of a request as it was, of what a row of submissions has.
func RequestID(stored []byte) string {
	if len(stored) > 0 && stored[0] == 0 {
		return hex.EncodeToString(stored[1:])
	}
	return string(stored)
}

// submissions.result is recordFormat, a byte of flags with the status in its two lowest bits, the score that was submitted,
// what the flags say there is, the seq (varints), and of a rejected one the code and the detail of the rule.
const (
	recordFormat = 1

	recordTiebreak = 1 << 2
	recordPrevious = 1 << 3
	recordNewScore = 1 << 4
	recordRule     = 1 << 5
	recordHidden   = 1 << 6 // older servers pass over it
)

// recordTerms is the format of records that are not of plain submissions, or of a status that recordFormat has no number
// for. After the format it has the edit in JSON, empty for none, and the status, both as texts; the rest is as in
// recordFormat, but for the status there. An older server cannot list such records.
const recordTerms = 2

// optionals are the values of a record that may be missing, by flag.
func optionals(r *leaderboard.SubmissionRecord) [3]**int64 {
	return [...]**int64{&r.Tiebreak, &r.Previous, &r.NewScore}
}

// appendRecord appends submissions.result.
func appendRecord(b []byte, r *leaderboard.SubmissionRecord) []byte {
	flags := byte(0)
	if i := slices.Index(shapeStatuses(), r.Status); r.Edit == nil && i >= 0 {
		b, flags = append(b, recordFormat), byte(i)
	} else {
		b = appendText(appendText(append(b, recordTerms), editText(r.Edit)), string(r.Status))
	}
	values := optionals(r)
	for i, v := range values {
		if *v != nil {
			flags |= recordTiebreak << i
		}
	}
	if r.Code != "" {
		flags |= recordRule
	}
	if r.Hidden {
		flags |= recordHidden
	}
	b = binary.AppendVarint(append(b, flags), r.Score)
	for _, v := range values {
		if *v != nil {
			b = binary.AppendVarint(b, **v)
		}
	}
	b = binary.AppendVarint(b, r.Seq)
	if r.Code != "" {
		b = appendText(appendText(b, r.Code), mysql.CutText(r.Detail, maxDetail))
	}
	return b
}

// editText returns an edit as a record has it.
func editText(e *leaderboard.Edit) string {
	if e == nil {
		return ""
	}
	text, err := json.Marshal(e)
	if err != nil {
		return "" // it has numbers and texts only
	}
	return string(text)
}

// errRecord is a record that is damaged, or of another version of the program.
var errRecord = errors.New("it cannot be read")

// ReadRecord reads submissions.result into a record.
func ReadRecord(b []byte, r *leaderboard.SubmissionRecord) error {
	t := &receiptText{b: b}
	var flags byte
	switch t.byte() {
	case recordFormat:
		flags = t.byte()
		if status := int(flags & 3); status < len(shapeStatuses()) {
			r.Status = shapeStatuses()[status]
		} else {
			t.fail()
		}
	case recordTerms:
		if edit := t.text(); edit != "" && json.Unmarshal([]byte(edit), &r.Edit) != nil {
			t.fail()
		}
		r.Status, flags = leaderboard.Status(t.text()), t.byte()
	default:
		t.fail()
	}
	r.Hidden = flags&recordHidden != 0
	r.Score = t.varint()
	for i, v := range optionals(r) {
		if flags&(recordTiebreak<<i) != 0 {
			n := t.varint()
			*v = &n
		}
	}
	if r.Seq = t.varint(); flags&recordRule != 0 {
		r.Code, r.Detail = t.text(), t.text()
	}
	if t.failed || len(t.b) > 0 {
		return mysql.Wrap("record of a submission", errRecord)
	}
	return nil
}
