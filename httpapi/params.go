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

// params are what a request says in its path and in its query.
type params struct {
	pattern *pattern // of the route
	path    segments
	query   wire.Params
	bad     []wire.InputError // what is wrong with the parameters, collected so that the answer lists all of it
}

// pathValue returns the decoded segment that stands for {name} in the route's path.
func (p *params) pathValue(name string) string { return p.pattern.value(&p.path, name) }

// badParam notes that a parameter is wrong.
func (p *params) badParam(parameter, detail string) {
	p.bad = append(p.bad, wire.InputError{Parameter: parameter, Detail: detail})
}

// badInput returns an error when a parameter was wrong.
func (p *params) badInput() error {
	if p.bad == nil {
		return nil
	}
	return wire.Malformed(p.bad...)
}

// text returns a parameter's value, "" when it is not given.
func (p *params) text(name string) string {
	v, ok := p.query.Get(name)
	if ok && v == "" {
		p.badParam(name, "is empty")
	}
	return v
}

// integer returns a parameter's value, or def when it is not given.
func (p *params) integer(name string, def, least, most int64) int64 {
	v, ok := p.query.Get(name)
	if !ok {
		return def
	}
	n, ok := wire.ParseInteger(v)
	if !ok || n < least || n > most {
		p.badParam(name, fmt.Sprintf("want a whole number from %d to %d", least, most))
		return def
	}
	return n
}

const maxInt64 = 1<<63 - 1

// duration returns a parameter that is a duration, 0 when it is not given.
func (p *params) duration(name string, most time.Duration) time.Duration {
	text := p.text(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most {
		p.badParam(name, "want a duration from 0s to "+most.String()+", such as 30s")
	}
	return d
}

// boolean returns a parameter's value, false when it is not given.
func (p *params) boolean(name string) bool {
	switch v, ok := p.query.Get(name); {
	case !ok || v == "false":
		return false
	case v == "true":
		return true
	}
	p.badParam(name, "want true or false")
	return false
}

// window returns the parameter of this name, "" when it is not given. The catalog decides whether the board has the window.
func (p *params) window() string {
	w := p.text("window")
	if detail := unknownWindow(w); detail != "" {
		p.badParam("window", detail)
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
func (p *params) mode() leaderboard.Mode {
	mode := leaderboard.Mode(p.text("mode"))
	switch mode {
	case "", leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense, leaderboard.ModeAll:
	default:
		p.badParam("mode", "want one of strict, tied, dense, all")
	}
	return mode
}

// boardName returns the {board} of the path; no board has a name that is not valid.
func (p *params) boardName() (string, error) {
	name := p.pathValue("board")
	if leaderboard.CheckBoardName(name) != nil {
		return "", leaderboard.ErrBoardNotFound
	}
	return name, nil
}

// member returns the {member} of the path.
func (p *params) member() string {
	id := p.pathValue("member")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(id)); broken != nil {
		p.badParam("member", broken.Detail)
	}
	return id
}

// optionalMember returns the parameter member, "" when it is not given.
func (p *params) optionalMember() string {
	id := p.text("member")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(id)); id != "" && broken != nil {
		p.badParam("member", broken.Detail)
	}
	return id
}

// labels returns the labels that the boards asked about are to have, none when the parameter is not given.
func (p *params) labels() leaderboard.Labels {
	text := p.text("labels")
	if text == "" {
		return nil
	}
	labels, err := leaderboard.ParseLabels(text)
	if err != nil {
		p.badParam("labels", err.Error())
	}
	return labels
}

// fields returns the parameter fields, as in level:7,paid:1; nil when it is not given.
func (p *params) fields() map[string]int64 {
	text := p.text("fields")
	if text == "" {
		return nil
	}
	out := map[string]int64{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, ":")
		v, ok := wire.ParseInteger(value)
		if !ok {
			p.badParam("fields", "want name:value with whole numbers, separated by commas, such as level:7,paid:1")
			return nil
		}
		if _, twice := out[name]; twice {
			p.badParam("fields", "a field is given twice")
			return nil
		}
		out[name] = v
	}
	return out
}

// pageParams returns the parameters of a page.
func (p *params) pageParams() (limit, offset int64, cursor string) {
	limit = p.integer("limit", leaderboard.DefaultLimit, 1, leaderboard.MaxLimit)
	offset = p.integer("offset", 0, 0, maxInt64)
	cursor = p.text("cursor")
	if cursor != "" && p.query.Has("offset") {
		p.badParam("cursor", "cursor and offset exclude each other")
	}
	return limit, offset, cursor
}

// aroundParams returns how many entries a slice is to have on either side.
func (p *params) aroundParams() (before, after int64) {
	return p.integer("before", leaderboard.DefaultAround, 0, leaderboard.MaxAroundSide),
		p.integer("after", leaderboard.DefaultAround, 0, leaderboard.MaxAroundSide)
}

// moment returns a parameter that is a time, 0 when it is not given.
func (p *params) moment(name string) (at leaderboard.Micros) {
	text := p.text(name)
	if text == "" {
		return 0
	}
	if err := at.UnmarshalText([]byte(text)); err != nil || at < leaderboard.MinTime || at > leaderboard.MaxTime {
		p.badParam(name, "want a time such as 2026-11-20T13:00:00Z")
	}
	return at
}

// positive reads a number that is not negative, unless something was wrong before.
func positive(s string, ok bool) (int64, bool) {
	n, isNumber := wire.ParseInteger(s)
	return n, ok && isNumber && n >= 0
}
