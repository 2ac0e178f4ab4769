package leaderboard

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// MaxBoardName is the greatest length of the name of a board in bytes.
const MaxBoardName = 64

// failFunc records a fault at a place in the rules of a board.
type failFunc func(pointer, format string, args ...any)

func checkOneOf[T ~string](fail failFunc, pointer string, value T, allowed ...T) {
	if !slices.Contains(allowed, value) {
		fail(pointer, "want one of %s", joined(allowed))
	}
}

func joined[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}

// CheckBoardName returns a RuleError when name is not a valid name of a board.
func CheckBoardName(name string) error {
	const form = "a board name is [a-z0-9][a-z0-9._-]{0,63}"
	if !isName(name) {
		return &RuleError{Code: CodeInvalidBoard, Detail: form}
	}
	return nil
}

// isName reports whether s has the form of the names of boards and labels.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
		if !alnum && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return false
		}
	}
	return s != "" && len(s) <= MaxBoardName
}

// validSeason reports whether s is a valid name of a season: like a board's name, but capitals are allowed.
func validSeason(name string) bool {
	return CheckBoardName(strings.ToLower(name)) == nil && isASCII(name)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// pointerEscape returns a name as a JSON pointer has it.
func pointerEscape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// IsThisMachine reports whether a host is surely this machine, so that nobody else can see requests to it without TLS.
func IsThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
