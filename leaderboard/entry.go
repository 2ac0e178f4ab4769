package leaderboard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMember is the greatest length of a member id in bytes.
const MaxMember = 64

// Entry is a member's place in one period: the score, the tiebreak and the times that are ranked.
type Entry struct {
	Member      string // 1 to 64 bytes of UTF-8, compared as bytes
	Score       int64
	Tiebreak    int64
	CreatedTime Micros // when this score was reached
}

// CheckMember returns a RuleError when id is not a valid id of a member. It refuses what cannot be displayed unchanged,
// or named in the path of a URL: control characters, characters that turn or break their line, "." and "..". Characters
// that Unicode has not assigned yet pass, since servers of different versions would disagree about them.
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
	if at := strings.IndexFunc(id, IsControl); at >= 0 {
		r, _ := utf8.DecodeRuneInString(id[at:])
		return invalidMember(fmt.Sprintf("a member id has no control characters, this one has %U", r))
	}
	return nil
}

func invalidMember(detail string) error { return &RuleError{Code: CodeInvalidMember, Detail: detail} }

// IsControl reports whether a rune is a control character, breaks a line, or changes the direction of the text around it.
func IsControl(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
