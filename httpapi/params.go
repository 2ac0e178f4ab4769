package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"leaderboard"
)

// What a request says besides its body. What is wrong is collected: badInput tells of all of it at once.

// badParam notes that a parameter is wrong.
func (c *call) badParam(parameter, detail string) {
	c.bad = append(c.bad, inputError{Parameter: parameter, Detail: detail})
}

// badInput returns an error when a parameter was wrong.
func (c *call) badInput() error {
	if c.bad == nil {
		return nil
	}
	return malformed(c.bad...)
}

// text returns a parameter's value, "" when it is not given.
func (c *call) text(name string) string {
	v, ok := c.query.get(name)
	if ok && v == "" {
		c.badParam(name, "is empty")
	}
	return v
}

// integer returns a parameter's value, or def when it is not given.
func (c *call) integer(name string, def, least, most int64) int64 {
	v, ok := c.query.get(name)
	if !ok {
		return def
	}
	n, ok := parseInteger(v)
	if !ok || n < least || n > most {
		c.badParam(name, fmt.Sprintf("want a whole number from %d to %d", least, most))
		return def
	}
	return n
}

const maxInt64 = 1<<63 - 1

// boolean returns a parameter's value, false when it is not given.
func (c *call) boolean(name string) bool {
	switch v, ok := c.query.get(name); {
	case !ok || v == "false":
		return false
	case v == "true":
		return true
	}
	c.badParam(name, "want true or false")
	return false
}

// window returns the parameter of this name, "" when it is not given. Whether the board has the window is the catalog's
// to say.
func (c *call) window() string {
	w := c.text("window")
	if detail := unknownWindow(w); detail != "" {
		c.badParam("window", detail)
	}
	return w
}

// unknownWindow says what is wrong with a window that is given.
func unknownWindow(w string) string {
	all := leaderboard.Windows()
	if w == "" || slices.Contains(all, leaderboard.Window(w)) {
		return ""
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = string(all[i])
	}
	return "want one of " + strings.Join(names, ", ")
}

// mode returns the mode asked for, "" when that is left to the board.
func (c *call) mode() leaderboard.Mode {
	mode := leaderboard.Mode(c.text("mode"))
	switch mode {
	case "", leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense, leaderboard.ModeAll:
	default:
		c.badParam("mode", "want one of strict, tied, dense, all")
	}
	return mode
}

// boardName returns the {board} of the path; no board has a name that is not valid.
func (c *call) boardName() (string, error) {
	name := c.pathValue("board")
	if leaderboard.CheckBoardName(name) != nil {
		return "", leaderboard.ErrBoardNotFound
	}
	return name, nil
}

// member returns the {member} of the path.
func (c *call) member() string {
	id := c.pathValue("member")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(id)); broken != nil {
		c.badParam("member", broken.Detail)
	}
	return id
}

// optionalMember returns the parameter member, "" when it is not given.
func (c *call) optionalMember() string {
	id := c.text("member")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(id)); id != "" && broken != nil {
		c.badParam("member", broken.Detail)
	}
	return id
}

// labels returns the labels that the boards asked about are to have, none when the parameter is not given.
func (c *call) labels() leaderboard.Labels {
	text := c.text("labels")
	if text == "" {
		return nil
	}
	labels, err := leaderboard.ParseLabels(text)
	if err != nil {
		c.badParam("labels", err.Error())
	}
	return labels
}

// fields returns the parameter fields, as in level:7,paid:1; nil when it is not given.
func (c *call) fields() map[string]int64 {
	text := c.text("fields")
	if text == "" {
		return nil
	}
	out := map[string]int64{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, ":")
		v, ok := parseInteger(value)
		if !ok {
			c.badParam("fields", "want name:value with whole numbers, separated by commas, such as level:7,paid:1")
			return nil
		}
		if _, twice := out[name]; twice {
			c.badParam("fields", "a field is given twice")
			return nil
		}
		out[name] = v
	}
	return out
}

// pageParams returns the parameters of a page.
func (c *call) pageParams() (limit, offset int64, cursor string) {
	limit = c.integer("limit", leaderboard.DefaultLimit, 1, leaderboard.MaxLimit)
	offset = c.integer("offset", 0, 0, maxInt64)
	cursor = c.text("cursor")
	if cursor != "" && c.query.has("offset") {
		c.badParam("cursor", "cursor and offset exclude each other")
	}
	return limit, offset, cursor
}

// aroundParams returns how many entries a slice is to have on either side.
func (c *call) aroundParams() (before, after int64) {
	return c.integer("before", leaderboard.DefaultAround, 0, leaderboard.MaxAroundSide),
		c.integer("after", leaderboard.DefaultAround, 0, leaderboard.MaxAroundSide)
}

// idempotencyKey returns the request's key, "" without one.
func idempotencyKey(h http.Header) (string, error) {
	values := h["Idempotency-Key"]
	if len(values) == 0 {
		return "", nil
	}
	bad := malformed(inputError{Parameter: "Idempotency-Key", Detail: "want one header of 1 to 128 visible ASCII characters"})
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

// maxParams is the greatest number of query parameters that a route has.
const maxParams = 11

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

// strings returns whether the answer is to have strings for wide numbers.
func (q *query) strings() (bool, error) {
	switch value, given := q.get(numbersParam); {
	case value == numbersString:
		return true, nil
	case given && value != numbersNumber:
		return false, malformed(inputError{Parameter: numbersParam, Detail: "want string or number"})
	}
	return false, nil
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
