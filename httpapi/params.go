package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// The parameters of a request. Errors are collected, and badInput returns all of them at once.

// badParam notes that a parameter is wrong.
func (c *call) badParam(parameter, detail string) {
	c.bad = append(c.bad, wire.InputError{Parameter: parameter, Detail: detail})
}

// badInput returns an error when a parameter was wrong.
func (c *call) badInput() error {
	if c.bad == nil {
		return nil
	}
	return wire.Malformed(c.bad...)
}

// text returns a parameter's value, "" when it is not given.
func (c *call) text(name string) string {
	v, ok := c.query.Get(name)
	if ok && v == "" {
		c.badParam(name, "is empty")
	}
	return v
}

// integer returns a parameter's value, or def when it is not given.
func (c *call) integer(name string, def, least, most int64) int64 {
	v, ok := c.query.Get(name)
	if !ok {
		return def
	}
	n, ok := wire.ParseInteger(v)
	if !ok || n < least || n > most {
		c.badParam(name, fmt.Sprintf("want a whole number from %d to %d", least, most))
		return def
	}
	return n
}

const maxInt64 = 1<<63 - 1

// duration returns a parameter that is a duration, 0 when it is not given.
func (c *call) duration(name string, most time.Duration) time.Duration {
	text := c.text(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most {
		c.badParam(name, "want a duration from 0s to "+most.String()+", such as 30s")
	}
	return d
}

// boolean returns a parameter's value, false when it is not given.
func (c *call) boolean(name string) bool {
	switch v, ok := c.query.Get(name); {
	case !ok || v == "false":
		return false
	case v == "true":
		return true
	}
	c.badParam(name, "want true or false")
	return false
}

// window returns the parameter of this name, "" when it is not given. The catalog decides whether the board has the window.
func (c *call) window() string {
	w := c.text("window")
	if detail := unknownWindow(w); detail != "" {
		c.badParam("window", detail)
	}
	return w
}

// unknownWindow returns the error for a window that is given.
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
		v, ok := wire.ParseInteger(value)
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
	if cursor != "" && c.query.Has("offset") {
		c.badParam("cursor", "cursor and offset exclude each other")
	}
	return limit, offset, cursor
}

// aroundParams returns how many entries a slice is to have on either side.
func (c *call) aroundParams() (before, after int64) {
	return c.integer("before", leaderboard.DefaultAround, 0, leaderboard.MaxAroundSide),
		c.integer("after", leaderboard.DefaultAround, 0, leaderboard.MaxAroundSide)
}
