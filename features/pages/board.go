package pages

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"leaderboard/internal/names"
	"leaderboard/leaderboard"
)

// rules are a board's, as far as its page shows them.
type rules struct {
	Name, Title, Order, Policy, Mode string
	Windows                          []string
	Labels                           map[string]string
	StartsAt                         time.Time `json:"starts_at"`
	EndsAt                           time.Time `json:"ends_at"`
	Derive                           *struct {
		From            []struct{ Board, Window, Period string }
		Last, Aggregate string
	}
	Tiebreak struct{ Fields []struct{ Name string } }
	Display  *leaderboard.Display
	Face     *leaderboard.Face
	Metadata *struct{} // entries may have some
}

// Heading returns the title of a board, or else its name.
func (b *rules) Heading() string {
	if b.Title != "" {
		return b.Title
	}
	return b.Name
}

// Empty returns the key of the text for an empty ranking.
func (b *rules) Empty() string {
	switch now := time.Now(); {
	case now.Before(b.StartsAt):
		return "empty.ahead"
	case !b.EndsAt.IsZero() && !now.Before(b.EndsAt):
		return "empty.ended"
	default:
		return "empty"
	}
}

// wideScore is the most characters of a score that fit next to a name on a phone. web/src/shared/format.ts has it too.
const wideScore = 15

// Long reports whether scores are so long that phones need smaller text.
func (b *rules) Long(entries []entry) bool {
	return slices.ContainsFunc(entries, func(e entry) bool { return utf8.RuneCountInString(b.Display.Text(e.Score)) > wideScore })
}

// podium is how many members stand on it.
const podium = 3

// Rows returns the entries of the table: all but the podium.
func (v *boardView) Rows() []entry { return v.Top.Entries[len(v.Podium()):] }

// Podium returns the first three of the ranking, when the page begins with them and there are three.
func (v *boardView) Podium() []entry {
	if v.Embed || v.question.offset > 0 || len(v.Top.Entries) < podium {
		return nil
	}
	return v.Top.Entries[:podium]
}

// top is the answer of GET …/top, as far as it is shown.
type top struct {
	Window, Period, Mode string
	Total                int64
	AsOf                 string `json:"as_of"`
	Stale                bool
	Entries              []entry
}

// found is a member that the reader searched for: its entry, and the entries around it.
type found struct {
	entry
	Total  int64
	Around []entry
	Page   string // the page of the ranking with the member
	next   *entry // the nearest one ahead with another score
}

// ahead returns the nearest entry ahead with another score, among the entries around the member, or nil.
func (f *found) ahead(around []entry) *entry {
	at := slices.IndexFunc(around, func(e entry) bool { return e.Member == f.Member })
	for i := at - 1; i >= 0; i-- {
		if around[i].Score != f.Score {
			return &around[i]
		}
	}
	return nil
}

// Next returns the entry at the next rank. It returns nil for the leaders, and if scores are dates, because dates have no
// distance in points.
func (f *found) Next(d *leaderboard.Display) *entry {
	if d != nil && d.Kind == leaderboard.DisplayKindDate {
		return nil
	}
	return f.next
}

// Gap returns how many points another entry is away.
func (f *found) Gap(to *entry) int64 { return max(to.Score-f.Score, f.Score-to.Score) }

// choice is a link to the page with another choice.
type choice struct {
	Text, Title, Link string
	Chosen            bool
}

// boardView is a board as readers without JavaScript see it.
type boardView struct {
	Rules                    *rules
	Top                      *top // nil: not available, and the problem says why
	Windows, Modes, Periods  []choice
	Parts                    []partOf // boards of a part of the members, and first the board of all
	Labels                   []labelled
	First, Previous, Next    string // pages of the ranking, empty at the ends
	Member                   string
	Found                    *found
	Named                    []entry    // members whose names begin with the text, if no member has it as id
	Unfound                  string     // the key of the text for nobody
	Unknown                  *rejection // why it is not known whether the member has an entry
	More                     bool       // there are more of them
	Window, Period, ModeName string     // as chosen, for the form
	Embed                    bool
	question                 *question
}

// board answers GET /boards/{board}, and the picture of it.
func (h *handlers) board(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.EscapedPath(), pictureEnd) {
		h.picture(w, r)
		return
	}
	out, a := h.site.view(r), newAsker(h.api, r)
	q := readQuestion(r, out.place)
	out.Title, out.Embed, out.Class, out.Told = q.board, q.embed, q.look, a.answers
	var b rules
	if a.need(q.path(""), nil, &b) {
		out.Title, out.Face = b.Heading(), h.site.assets.worn(h.site.face, b.Face)
		v := h.boardView(a, &q, &b, out.language)
		if v.Member != q.member { // the address had the name, and holds the id from now on
			w.Header().Set("Cache-Control", "no-cache")
			http.Redirect(w, r, v.Link(v.Member), http.StatusFound)
			return
		}
		out.Board, out.Shared = v, v.share(r, &q, h.site.languages.shared(r))
	}
	status := http.StatusOK
	if a.worst != nil {
		status, out.Problem = a.worst.Status, a.worst
	}
	if out.Board == nil {
		out.Told = nil
	}
	h.site.render(w, r, status, "board", out)
}

func (h *handlers) boardView(a *asker, q *question, b *rules, l *language) *boardView {
	v := &boardView{Rules: b, Member: q.member, Window: q.window, Period: q.period, ModeName: q.mode, Embed: q.embed, question: q}
	var t top
	if v.neighbours(a, q, &t) || a.need(q.path("/top"), q.top(), &t) {
		v.Top = &t
		v.pages(q)
	}
	v.choices(q, l)
	if !q.embed {
		v.periods(a, q)
		v.parts(a, q)
		v.labels(a)
	}
	if q.member != "" && v.Top != nil && !q.embed {
		v.find(a, q)
	}
	return v
}

// neighbours asks for the entries around the member that a frame names. If the member has no entry, the frame shows the top.
func (v *boardView) neighbours(a *asker, q *question, t *top) bool {
	if !q.isAround() {
		return false
	}
	problem, err := a.get(q.path("/members/"+url.PathEscape(q.member)+"/around"), q.around(), t)
	return err == nil && problem == nil
}

// Link is the address of this page with a member shown.
func (v *boardView) Link(member string) string {
	return v.question.link("member", member, "offset", positive(v.question.offset))
}

// pages sets the links to the pages before and after this page.
func (v *boardView) pages(q *question) {
	limit := int64(q.limit)
	if q.offset > 0 {
		v.First, v.Previous = q.link(), q.link("offset", positive(q.offset-limit))
	}
	if q.offset+limit < v.Top.Total {
		v.Next = q.link("offset", positive(q.offset+limit))
	}
}

// positive formats an offset; "" for the top.
func positive(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// choices are the windows of the board and the ways to number ties.
func (v *boardView) choices(q *question, l *language) {
	window, mode := q.window, q.mode
	if v.Top != nil {
		window, mode = v.Top.Window, v.Top.Mode
	}
	for _, name := range v.Rules.Windows {
		v.Windows = append(v.Windows, choice{Text: l.Window(name), Link: q.link("window", name, "period", ""), Chosen: name == window})
	}
	for _, name := range []string{"strict", "tied", "dense"} {
		as := name
		if name == v.Rules.Mode { // it needs no word in the address
			as = ""
		}
		v.Modes = append(v.Modes, choice{Text: l.say("mode." + name), Title: l.say("mode." + name + ".about"), Link: q.link("mode", as), Chosen: name == mode})
	}
}

// periods sets the links to the latest periods of the window. The window all_time has no links.
func (v *boardView) periods(a *asker, q *question) {
	if v.Top == nil || v.Top.Window == "all_time" {
		return
	}
	var list struct {
		Periods []struct{ Period, State string }
	}
	problem, err := a.get(q.path("/periods"), url.Values{"window": {v.Top.Window}, "limit": {"60"}}, &list)
	if err != nil || problem != nil {
		return // the page is about the ranking
	}
	for i, p := range list.Periods {
		c := choice{Text: p.Period, Link: q.link("period", p.Period), Chosen: p.Period == v.Top.Period}
		if i == 0 && p.State == "open" {
			c.Link = q.link("period", "")
		}
		v.Periods = append(v.Periods, c)
	}
}

// labelled is a label that other boards have too.
type labelled struct{ Name, Value string }

// mostLabels is how many labels of a board its page shows.
const mostLabels = 8

// labels shows the labels of the board that other public boards have too: they lead there.
func (v *boardView) labels(a *asker) {
	for _, name := range slices.Sorted(maps.Keys(v.Rules.Labels)) {
		if len(v.Labels) == mostLabels {
			return
		}
		if name == leaderboard.PartOf || v.Rules.Face != nil && name == v.Rules.Face.Parts { // parts have separate links
			continue
		}
		value := v.Rules.Labels[name]
		var list struct{ Boards []rules }
		if a.aside("/v1/boards", url.Values{"labels": {name + ":" + value}, "limit": {"2"}}, &list) && slices.ContainsFunc(list.Boards, func(b rules) bool { return b.Name != v.Rules.Name }) {
			v.Labels = append(v.Labels, labelled{name, value})
		}
	}
}

// LabelsJSON returns the labels as JSON, for the script.
func (v *boardView) LabelsJSON() (string, error) {
	text, err := json.Marshal(v.Labels)
	return string(text), err
}

// mostParts is how many parts of a board its page leads to.
const mostParts = 250

// partOf is a board of a part of the members.
type partOf struct {
	Value  string `json:"value"` // value of the label that names the part; "": all members
	Board  string `json:"board"`
	Link   string `json:"-"`
	Chosen bool   `json:"-"`
}

// parts sets the links to the boards labelled as parts of this board, or of the board that this is a part of.
func (v *boardView) parts(a *asker, q *question) {
	face := v.Rules.Face
	if face == nil || face.Parts == "" {
		return
	}
	whole := cmp.Or(v.Rules.Labels[leaderboard.PartOf], v.Rules.Name)
	var list struct{ Boards []rules }
	if !a.aside("/v1/boards", url.Values{"labels": {leaderboard.PartOf + ":" + whole}, "limit": {strconv.Itoa(mostParts)}}, &list) {
		return // the page is about the ranking
	}
	out := []partOf{{Board: whole}}
	for i := range list.Boards {
		if value := list.Boards[i].Labels[face.Parts]; value != "" {
			out = append(out, partOf{Value: value, Board: list.Boards[i].Name})
		}
	}
	if len(out) == 1 {
		return
	}
	slices.SortStableFunc(out, func(x, y partOf) int { return strings.Compare(x.Value, y.Value) })
	for i := range out {
		of := *q
		of.board, of.window, of.period = out[i].Board, "", ""
		out[i].Link, out[i].Chosen = of.link("member", ""), out[i].Board == v.Rules.Name
	}
	v.Parts = out
}

// PartsLabel returns the label that names the parts.
func (v *boardView) PartsLabel() string { return v.Rules.Face.Parts }

// PartsJSON returns the parts as JSON, for the script.
func (v *boardView) PartsJSON() (string, error) {
	text, err := json.Marshal(v.Parts)
	return string(text), err
}

// find asks for a member and the entries around it. If no member has that id, the text may be a name: a single match is shown,
// and among several the reader chooses.
func (v *boardView) find(a *asker, q *question) {
	if !v.isMissing(a, q) {
		return
	}
	switch {
	case !names.Enough(q.member):
		v.Unfound = "find.short"
	case v.Top.Window == "all_time":
		v.Unfound = "find.none"
	default:
		v.Unfound = "find.nonePeriod"
	}
	v.named(a, q)
}

// isMissing asks for a member and the entries around it, and reports whether it has no entry here. A text that cannot be an id may be
// a name.
func (v *boardView) isMissing(a *asker, q *question) bool {
	path := q.path("/members/" + url.PathEscape(q.member))
	var f found
	beside := url.Values{"profiles": {"true"}}
	if v.Rules.Metadata != nil {
		beside.Set("metadata", "true")
	}
	problem, err := a.get(path, q.state(beside), &f)
	switch {
	case err != nil:
		return false
	case problem == nil:
	case problem.Status == http.StatusNotFound, problem.Status == http.StatusBadRequest:
		return true
	default:
		v.Unknown = problem
		return false
	}
	var around struct{ Entries []entry }
	if problem, err = a.get(path+"/around", q.state(url.Values{"before": {"3"}, "after": {"3"}, "profiles": {"true"}}), &around); err == nil && problem == nil {
		f.Around = around.Entries
	}
	if f.next = f.ahead(f.Around); f.next == nil && len(f.Around) > 0 && f.Around[0].Rank > 1 { // many have the same score
		if problem, err = a.get(path+"/around", q.state(url.Values{"before": {"49"}, "after": {"0"}, "profiles": {"true"}}), &around); err == nil && problem == nil {
			f.next = f.ahead(around.Entries)
		}
	}
	f.Page = q.link("rank", strconv.FormatInt(f.Rank, 10))
	v.Found = &f
	return false
}

// named asks for the members whose names fit what the reader looks for.
func (v *boardView) named(a *asker, q *question) {
	var list struct {
		Entries []entry
		Partial bool
		Next    string `json:"next_cursor"`
	}
	problem, err := a.get(q.path("/members"), q.state(url.Values{"q": {q.member}, "limit": {"10"}, "profiles": {"true"}}), &list)
	if err != nil || problem != nil {
		return
	}
	v.Named, v.More = list.Entries, list.Partial || list.Next != ""
	if len(v.Named) == 1 && !v.More {
		v.Member, v.Named = v.Named[0].Member, nil // q.member itself is gone since it was asked for
	}
}
