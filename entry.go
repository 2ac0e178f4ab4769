package leaderboard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMember is the greatest length of a member id in bytes.
const MaxMember = 64

// Entry is what a member has in one period, and is ranked by.
type Entry struct {
	Member      string // 1 to 64 bytes of UTF-8, compared as bytes
	Score       int64
	Tiebreak    int64
	CreatedTime Micros // when this score was reached
}

// CheckMember says whether id can name a member: nil, or a RuleError. It refuses what cannot be shown as it is, or named
// in the path of a URL: control characters, those that turn or break the line that they stand in, "." and "..". What is
// not assigned in Unicode yet passes, since servers of different versions would differ about it.
func CheckMember(id string) error {
	switch {
	case id == "":
		return invalidMember("a member id has at least 1 byte")
	case len(id) > MaxMember:
		return invalidMember(fmt.Sprintf("a member id has at most %d bytes, this one has %d", MaxMember, len(id)))
	case !utf8.ValidString(id):
		return invalidMember("a member id is UTF-8")
	case id == "." || id == "..":
		return invalidMember("a member id is not . or .., which a path cannot name")
	}
	if at := strings.IndexFunc(id, isControl); at >= 0 {
		r, _ := utf8.DecodeRuneInString(id[at:])
		return invalidMember(fmt.Sprintf("a member id has no control characters, this one has %U", r))
	}
	return nil
}

func invalidMember(detail string) error { return &RuleError{Code: CodeInvalidMember, Detail: detail} }

// isControl says whether r is a control character, breaks a line, or bears on the direction of the text around it.
func isControl(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
