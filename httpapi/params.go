package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// The parameters of a request. Errors are collected, and BadInput returns all of them at once.

// Params are the parameters of a request: of its path and of its query.
type Params struct {
	pattern *Pattern // of the route
	path    segments
	Query   wire.Params       // undecoded; each method reads one parameter
	bad     []wire.InputError // the errors of all parameters, so that the answer lists all of them
}

// PathValue returns the decoded segment that stands for {name} in the route's path.
func (p *Params) PathValue(name string) string { return p.pattern.value(&p.path, name) }

// BadParam notes that a parameter is wrong.
func (p *Params) BadParam(parameter, detail string) {
	p.bad = append(p.bad, wire.InputError{Parameter: parameter, Detail: detail})
}

// BadCursor notes that the parameter cursor is wrong.
func (p *Params) BadCursor() { p.bad = append(p.bad, wire.BadCursor()) }

// BadInput returns an error when a parameter was wrong.
func (p *Params) BadInput() error {
	if p.bad == nil {
		return nil
	}
	return wire.Malformed(p.bad...)
}

// Text returns a parameter's value, "" when it is not given.
func (p *Params) Text(name string) string {
	v, ok := p.Query.Get(name)
	if ok && v == "" {
		p.BadParam(name, "is empty")
	}
	return v
}

// of returns the row of a parameter in the table of operations.
func (p *Params) of(name string) *api.Param {
	if of := api.FindParam(p.pattern.known, name); of != nil {
		return of
	}
	panic("httpapi: " + p.pattern.ID + " has no parameter " + name)
}

// Integer returns a parameter's value.
func (p *Params) Integer(name string) int64 {
	of := p.of(name)
	v, ok := p.Query.Get(name)
	if !ok {
		return of.Number
	}
	n, ok := wire.ParseInteger(v)
	if !ok || n < of.Bounds[0] || n > of.Bounds[1] {
		p.BadParam(name, fmt.Sprintf("want a whole number from %d to %d", of.Bounds[0], of.Bounds[1]))
		return of.Number
	}
	return n
}

// Word returns a parameter that is one of several words, its default when it is not given.
func (p *Params) Word(name string) string {
	of, v := p.of(name), p.Text(name)
	if v == "" {
		return of.Default
	}
	if !slices.Contains(of.Words, v) {
		p.BadParam(name, "want "+either(of.Words))
	}
	return v
}

// either lists words to choose from.
func either(words []string) string {
	if len(words) == 2 {
		return words[0] + " or " + words[1]
	}
	return "one of " + strings.Join(words, ", ")
}

// Duration returns a parameter that is a duration, 0 when it is not given.
func (p *Params) Duration(name string) time.Duration {
	most, text := p.of(name).Most, p.Text(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most {
		p.BadParam(name, "want a duration from 0s to "+most.String()+", such as 30s")
	}
	return d
}

// Boolean returns a parameter's value, false when it is not given.
func (p *Params) Boolean(name string) bool {
	switch v, ok := p.Query.Get(name); {
	case !ok || v == "false":
		return false
	case v == "true":
		return true
	}
	p.BadParam(name, "want true or false")
	return false
}

// Window returns the parameter of this name, "" when it is not given. The catalog decides whether the board has the window.
func (p *Params) Window() string {
	w := p.Text("window")
	if detail := unknownWindow(w); detail != "" {
		p.BadParam("window", detail)
	}
	return w
}

// unknownWindow returns the error for a window that is given.
func unknownWindow(w string) string {
	all := leaderboard.Windows()
	if w == "" || slices.Contains(all, leaderboard.Window(w)) {
		return ""
	}
	return "want " + either(api.Texts(all))
}

// Mode returns the mode asked for, "" when that is left to the board.
func (p *Params) Mode() leaderboard.Mode {
	mode := leaderboard.Mode(p.Text("mode"))
	switch mode {
	case "", leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense, leaderboard.ModeAll:
	default:
		p.BadParam("mode", "want one of strict, tied, dense, all")
	}
	return mode
}

// BoardName returns the {board} of the path; no board has a name that is not valid.
func (p *Params) BoardName() (string, error) {
	name := p.PathValue("board")
	if leaderboard.CheckBoardName(name) != nil {
		return "", leaderboard.ErrBoardNotFound
	}
	return name, nil
}

// Member returns the {member} of the path.
func (p *Params) Member() string {
	id := p.PathValue("member")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(id)); broken != nil {
		p.BadParam("member", broken.Detail)
	}
	return id
}

// OptionalMember returns the parameter member, "" when it is not given.
func (p *Params) OptionalMember() string {
	id := p.Text("member")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(id)); id != "" && broken != nil {
		p.BadParam("member", broken.Detail)
	}
	return id
}

// labels returns the labels that the boards must have, none if the parameter is not given.
func (p *Params) labels() leaderboard.Labels {
	text := p.Text("labels")
	if text == "" {
		return nil
	}
	labels, err := leaderboard.ParseLabels(text)
	if err != nil {
		p.BadParam("labels", err.Error())
	}
	return labels
}

// fields returns the parameter fields, as in level:7,paid:1; nil when it is not given.
func (p *Params) fields() map[string]int64 {
	text := p.Text("fields")
	if text == "" {
		return nil
	}
	out := map[string]int64{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, ":")
		v, ok := wire.ParseInteger(value)
		if !ok {
			p.BadParam("fields", "want name:value with whole numbers, separated by commas, such as level:7,paid:1")
			return nil
		}
		if _, twice := out[name]; twice {
			p.BadParam("fields", "a field is given twice")
			return nil
		}
		out[name] = v
	}
	return out
}

// PageParams returns the parameters of a page.
func (p *Params) PageParams() (limit, offset int64, cursor string) {
	limit, offset = p.Integer("limit"), p.Integer("offset")
	cursor = p.Text("cursor")
	if cursor != "" && p.Query.Has("offset") {
		p.BadParam("cursor", "cursor and offset exclude each other")
	}
	return limit, offset, cursor
}

// AroundParams returns how many entries a slice has on either side.
func (p *Params) AroundParams() (before, after int64) {
	return p.Integer("before"), p.Integer("after")
}

// Moment returns a parameter that is a time, 0 when it is not given.
func (p *Params) Moment(name string) (at leaderboard.Micros) {
	text := p.Text(name)
	if text == "" {
		return 0
	}
	if err := at.UnmarshalText([]byte(text)); err != nil || at < leaderboard.MinTime || at > leaderboard.MaxTime {
		p.BadParam(name, "want a time such as 2026-11-20T13:00:00Z")
	}
	return at
}

// Positive returns a number that is not negative; false for any other text, or if ok is false.
func Positive(s string, ok bool) (int64, bool) {
	n, isNumber := wire.ParseInteger(s)
	return n, ok && isNumber && n >= 0
}
