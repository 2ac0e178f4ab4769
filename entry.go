package leaderboard

import (
	"fmt"
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

// CheckMember says whether id can name a member: nil, or a RuleError.
func CheckMember(id string) error {
	switch {
	case id == "":
		return &RuleError{Code: CodeInvalidMember, Detail: "a member id has at least 1 byte"}
	case len(id) > MaxMember:
		return &RuleError{Code: CodeInvalidMember, Detail: fmt.Sprintf("a member id has at most %d bytes, this one has %d", MaxMember, len(id))}
	case !utf8.ValidString(id):
		return &RuleError{Code: CodeInvalidMember, Detail: "a member id is UTF-8"}
	}
	return nil
}
