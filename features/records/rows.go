package records

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/internal/varint"
	"leaderboard/leaderboard"
)

// appendRequestID appends the id of a request in its stored form: an id of hexadecimal digits, like the ids made here,
// becomes a zero byte and the bytes.
func appendRequestID(t *mysql.Text, id string) {
	if id == "" || !isHex(id) {
		t.Hex(id)
		return
	}
	t.Str("x'00").Str(id).Str("'")
}

// isHex reports whether a text is a result of hex.EncodeToString.
func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s)%2 == 0
}

// requestIDOf returns the id of a request from its stored form in a row of submissions.
func requestIDOf(stored []byte) string {
	if len(stored) > 0 && stored[0] == 0 {
		return hex.EncodeToString(stored[1:])
	}
	return string(stored)
}

// maxDetail is the length that submissions.detail can hold, in characters.
const maxDetail = 300

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

// recordTerms is the format of records of submissions that are not plain, or with a status without a number in
// recordFormat. After the format it has the edit in JSON, or empty, and the status, both as texts; the rest is as in
// recordFormat, without the status there. An older server cannot list such records.
const recordTerms = 2

// statuses are the statuses that recordFormat has numbers for, in the order of the numbers.
func statuses() []leaderboard.Status {
	return []leaderboard.Status{leaderboard.StatusApplied, leaderboard.StatusUnchanged, leaderboard.StatusRejected}
}

// optionals are the values of a record that may be missing, by flag.
func optionals(r *SubmissionRecord) [3]**int64 {
	return [...]**int64{&r.Tiebreak, &r.Previous, &r.NewScore}
}

// appendRecord appends submissions.result.
func appendRecord(b []byte, r *SubmissionRecord) []byte {
	flags := byte(0)
	if i := slices.Index(statuses(), r.Status); r.Edit == nil && i >= 0 {
		b, flags = append(b, recordFormat), byte(i)
	} else {
		b = varint.AppendText(varint.AppendText(append(b, recordTerms), editText(r.Edit)), string(r.Status))
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
		b = varint.AppendText(varint.AppendText(b, r.Code), mysql.CutText(r.Detail, maxDetail))
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

// readRecord reads submissions.result into a record.
func readRecord(b []byte, r *SubmissionRecord) error {
	t := &varint.Reader{Left: b}
	var flags byte
	switch t.Byte() {
	case recordFormat:
		flags = t.Byte()
		if status := int(flags & 3); status < len(statuses()) {
			r.Status = statuses()[status]
		} else {
			t.Fail()
		}
	case recordTerms:
		if edit := t.Text(); edit != "" && json.Unmarshal([]byte(edit), &r.Edit) != nil {
			t.Fail()
		}
		r.Status, flags = leaderboard.Status(t.Text()), t.Byte()
	default:
		t.Fail()
	}
	r.Hidden = flags&recordHidden != 0
	r.Score = t.Int()
	for i, v := range optionals(r) {
		if flags&(recordTiebreak<<i) != 0 {
			n := t.Int()
			*v = &n
		}
	}
	if r.Seq = t.Int(); flags&recordRule != 0 {
		r.Code, r.Detail = t.Text(), t.Text()
	}
	if !t.Done() {
		return mysql.Wrap("record of a submission", errRecord)
	}
	return nil
}
