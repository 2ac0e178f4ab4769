package httpapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxParams is the greatest number of query parameters that a route has.
const maxParams = 10

// query holds the parameters of a request, each known to the route and given once.
type query struct {
	items []param
	room  [4]param // for the first of them: few requests have more, and a call is small
}

type param struct{ name, value string }

// parse reads a raw query. Parameters that the route does not have, or that are given twice, are rejected: a mistyped
// one must not be ignored.
func (q *query) parse(raw string, allowed []string) error {
	var bad []inputError
	q.items = q.room[:0]
	for raw != "" {
		var part string
		part, raw, _ = strings.Cut(raw, "&")
		if part == "" {
			continue
		}
		name, value, problem := splitParam(part)
		switch {
		case problem != "":
			bad = append(bad, inputError{Parameter: name, Detail: problem})
		case !slices.Contains(allowed, name):
			bad = append(bad, inputError{Parameter: name, Detail: unknownParam(allowed)})
		case q.has(name):
			bad = append(bad, inputError{Parameter: name, Detail: "is given more than once"})
		default:
			q.items = append(q.items, param{name, value})
		}
		if len(bad) >= maxParams {
			break
		}
	}
	if bad != nil {
		return malformed(bad...)
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
	if len(allowed) == 0 {
		return "is not known, this route has no parameters"
	}
	return "is not known, want one of " + strings.Join(allowed, ", ")
}

func (q *query) get(name string) (string, bool) {
	for i := range q.items {
		if q.items[i].name == name {
			return q.items[i].value, true
		}
	}
	return "", false
}

func (q *query) has(name string) bool {
	_, ok := q.get(name)
	return ok
}

// parseInteger reads an int64 in its one decimal form, that of JSON.
func parseInteger(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || (digits[0] == '0' && len(digits) > 1) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
