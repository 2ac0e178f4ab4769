package wire

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"leaderboard/leaderboard"
)

// MaxParams is the greatest number of query parameters that a route has.
const MaxParams = 11

// Params holds the parameters of a request, each known to the route and given once.
type Params struct {
	Items []Param
	room  [4]Param // for the first of them: few requests have more, and a call is small
}

// Param is a parameter of the request, decoded.
type Param struct{ Name, Value string }

// Parse reads a raw query. Parameters that the route does not have, or that are given twice, are rejected: a mistyped
// one must not be ignored.
func (q *Params) Parse(raw string, allowed []string) error {
	var bad []InputError
	q.Items = q.room[:0]
	for raw != "" {
		var part string
		part, raw, _ = strings.Cut(raw, "&")
		if part == "" {
			continue
		}
		name, value, problem := splitParam(part)
		switch {
		case problem != "":
			bad = append(bad, InputError{Parameter: name, Detail: problem})
		case !slices.Contains(allowed, name):
			bad = append(bad, InputError{Parameter: name, Detail: unknownParam(allowed)})
		case q.Has(name):
			bad = append(bad, InputError{Parameter: name, Detail: "is given more than once"})
		default:
			q.Items = append(q.Items, Param{name, value})
		}
		if len(bad) >= MaxParams {
			break
		}
	}
	if bad != nil {
		return Malformed(bad...)
	}
	return nil
}

func splitParam(part string) (name, value, problem string) {
	rawName, rawValue, _ := strings.Cut(part, "=")
	name, err := url.QueryUnescape(rawName)
	if err != nil || !utf8.ValidString(name) || len(name) > 64 {
		return "", "", "has a name that is not of this route"
	}
	value, err = url.QueryUnescape(rawValue)
	if err != nil || !utf8.ValidString(value) {
		return name, "", "is not percent-encoded UTF-8"
	}
	return name, value, ""
}

func unknownParam(allowed []string) string {
	return "is not known, want one of " + strings.Join(allowed, ", ")
}

// Get returns the value of a parameter; false when it is not given.
func (q *Params) Get(name string) (string, bool) {
	for i := range q.Items {
		if q.Items[i].Name == name {
			return q.Items[i].Value, true
		}
	}
	return "", false
}

// Has reports whether a parameter is given.
func (q *Params) Has(name string) bool {
	_, ok := q.Get(name)
	return ok
}

// Strings reports whether the answer must have strings for wide numbers.
func (q *Params) Strings() (bool, error) {
	switch value, given := q.Get(NumbersParam); {
	case value == NumbersString:
		return true, nil
	case given && value != numbersNumber:
		return false, Malformed(InputError{Parameter: NumbersParam, Detail: "want string or number"})
	}
	return false, nil
}

// ParseInteger reads an int64 of an address in the forms that bodies take, as leaderboard.WholeNumber does.
func ParseInteger(s string) (int64, bool) { return leaderboard.WholeNumber([]byte(s)) }

// IdempotencyKey returns the request's key, "" without one.
func IdempotencyKey(h http.Header) (string, error) {
	values := h["Idempotency-Key"]
	if len(values) == 0 {
		return "", nil
	}
	bad := Malformed(InputError{Parameter: "Idempotency-Key", Detail: "want one header of 1 to 128 visible ASCII characters"})
	key := values[0]
	if len(values) > 1 || key == "" || len(key) > leaderboard.MaxIdempotencyKey {
		return "", bad
	}
	for i := range len(key) {
		if key[i] < 0x21 || key[i] > 0x7e {
			return "", bad
		}
	}
	return key, nil
}
