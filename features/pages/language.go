package pages

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/feature/plural"
	xlanguage "golang.org/x/text/language"

	"leaderboard/leaderboard"
)

//go:embed languages
var languageFiles embed.FS

// DefaultLanguage is the language for readers whose languages the pages do not have.
const DefaultLanguage = "en"

// language is the words of the pages in one language, and how it writes numbers. The scripts of a page get the whole file.
type language struct {
	Tag    string           // "de", the name of the file
	Name   string           // in the language itself
	Dir    string           // ltr or rtl
	Locale string           // by which browsers write numbers and times
	Group  string           // between three digits
	Point  string           // before decimals
	Texts  map[string]forms // with {places}
	tag    xlanguage.Tag
	file   json.RawMessage
	drawn  *language // in which pictures are written
}

// forms are the forms of a text by plural category of the number n; a text without a number has the form "other" alone.
type forms map[string]string

// UnmarshalJSON reads a text, or an object of forms.
func (f *forms) UnmarshalJSON(body []byte) error {
	if len(body) > 0 && body[0] == '{' {
		return json.Unmarshal(body, (*map[string]string)(f))
	}
	var text string
	err := json.Unmarshal(body, &text)
	*f = forms{"other": text}
	return err
}

// languages are all that there are.
type languages struct {
	all     []*language // sorted by tag, with the site's language first
	english *language
	match   xlanguage.Matcher
}

// loadLanguages reads the files. first is the tag of the language of the pages if none of the reader's is available.
func loadLanguages(first string) (*languages, error) {
	files, err := fs.Glob(languageFiles, "languages/*.json")
	if err != nil {
		return nil, fmt.Errorf("list the languages: %w", err)
	}
	out := &languages{}
	for _, name := range files {
		l := &language{Tag: strings.TrimSuffix(strings.TrimPrefix(name, "languages/"), ".json")}
		if l.file, err = languageFiles.ReadFile(name); err == nil {
			err = json.Unmarshal(l.file, l)
		}
		if err == nil {
			l.tag, err = xlanguage.Parse(l.Tag)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if l.Tag == DefaultLanguage {
			out.english = l
		}
		if l.Tag == first {
			out.all = append([]*language{l}, out.all...)
		} else {
			out.all = append(out.all, l)
		}
	}
	if len(out.all) == 0 || out.all[0].Tag != first {
		return nil, fmt.Errorf("there is no language %q", first)
	}
	tags := make([]xlanguage.Tag, 0, len(out.all))
	for _, l := range out.all {
		tags = append(tags, l.tag)
	}
	out.match = xlanguage.NewMatcher(tags)
	return out, nil
}

// CheckLanguage returns v when the pages have that language.
func CheckLanguage(v string) (string, error) {
	all, err := loadLanguages(DefaultLanguage)
	if err != nil {
		return "", err
	}
	tags := make([]string, 0, len(all.all))
	for _, l := range all.all {
		if l.Tag == v {
			return v, nil
		}
		tags = append(tags, l.Tag)
	}
	return "", fmt.Errorf("want one of %s, not %q", strings.Join(tags, ", "), v)
}

// site returns the language of the site.
func (l *languages) site() *language { return l.all[0] }

// named returns the language that an address asks for by lang; nil: none that there is.
func (l *languages) named(r *http.Request) *language {
	tag := r.URL.Query().Get("lang")
	for _, one := range l.all {
		if one.Tag == tag {
			return one
		}
	}
	return nil
}

// mostAccepted is how much of Accept-Language is read, in bytes. Browsers send a tenth of it.
const mostAccepted = 500

// of returns the language for a reader: the language in the address, or else the best match for the browser's.
func (l *languages) of(r *http.Request) *language {
	if named := l.named(r); named != nil {
		return named
	}
	wanted := strings.Join(r.Header.Values("Accept-Language"), ",")
	if len(wanted) > mostAccepted {
		return l.site()
	}
	tags, _, err := xlanguage.ParseAcceptLanguage(wanted)
	if err != nil || len(tags) == 0 {
		return l.site()
	}
	_, at, _ := l.match.Match(tags...)
	return l.all[at]
}

// shared returns the language of previews on other sites. The programs of other sites send no reader's Accept-Language.
func (l *languages) shared(r *http.Request) *language {
	if named := l.named(r); named != nil {
		return named
	}
	return l.site()
}

// errText reports a fault in a template.
var errText = errors.New("want pairs of a place and its value")

// Text returns a text with its places filled: pairs of names and values. A whole number is written as the language does, and the
// number called n chooses the form.
func (l *language) Text(key string, places ...any) (string, error) {
	return l.fill(key, places, func(literal string) string { return literal }, func(v any) string {
		switch v := v.(type) {
		case int64:
			return l.Number(v)
		case string:
			return v
		default:
			return fmt.Sprint(v)
		}
	})
}

// Rich is Text for values that are HTML; values of other types are escaped.
func (l *language) Rich(key string, places ...any) (template.HTML, error) {
	out, err := l.fill(key, places, template.HTMLEscapeString, func(v any) string {
		switch v := v.(type) {
		case template.HTML:
			return string(v)
		case int64:
			return l.Number(v)
		default:
			return template.HTMLEscapeString(fmt.Sprint(v))
		}
	})
	return template.HTML(out), err //nolint:gosec // all that was not HTML is escaped
}

// say is Text for keys that are in the program: a fault in them fails the request, and tests.
func (l *language) say(key string, places ...any) string {
	out, err := l.Text(key, places...)
	if err != nil {
		panic(err) // the server answers 500 and logs it
	}
	return out
}

// fill fills the places of a text.
func (l *language) fill(key string, places []any, literal func(string) string, value func(any) string) (string, error) {
	of, ok := l.Texts[key]
	if !ok || len(places)%2 != 0 {
		return "", fmt.Errorf("%s in %s: %w", key, l.Tag, errText)
	}
	values := map[string]any{}
	for i := 0; i < len(places); i += 2 {
		name, ok := places[i].(string)
		if !ok {
			return "", fmt.Errorf("%s in %s: %w", key, l.Tag, errText)
		}
		values[name] = places[i+1]
	}
	text := of["other"]
	if n, ok := values["n"].(int64); ok && len(of) > 1 {
		text = of.form(l.category(plural.Cardinal, n))
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(literal(before))
		if !found {
			return out.String(), nil
		}
		name, after, _ := strings.Cut(rest, "}")
		v, ok := values[name]
		if !ok {
			return "", fmt.Errorf("%s in %s has the place %s: %w", key, l.Tag, name, errText)
		}
		out.WriteString(value(v))
		text = after
	}
}

// form returns the form of a category, or else the form that fits every number.
func (f forms) form(category string) string {
	if text, ok := f[category]; ok {
		return text
	}
	return f["other"]
}

// million is from where on Romance languages say "a million *of* members".
const million = 1_000_000

// category returns the plural category of a number. x/text has the rules of 2017; since then whole millions in Spanish, French
// and Portuguese are many, also in browsers.
func (l *language) category(rules *plural.Rules, n int64) string {
	n = max(n, -n)
	if base, _ := l.tag.Base(); rules == plural.Cardinal && n > 0 && n%million == 0 && strings.Contains(" es fr pt ", " "+base.String()+" ") {
		return "many"
	}
	if n >= 10*million { // the rules look at the last digits of great numbers; int may have 32 bits
		n = 10*million + n%(10*million)
	}
	return categories[rules.MatchPlural(l.tag, int(n), 0, 0, 0, 0)]
}

// categories are the names of the categories in CLDR.
var categories = [...]string{plural.Other: "other", plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many"}

// Number writes a whole number.
func (l *language) Number(n int64) string { return l.Score(nil, n) }

// Score writes a score as a board shows it.
func (l *language) Score(d *leaderboard.Display, score int64) string {
	return d.TextWith(score, l.Group, l.Point)
}

// Percent writes a percentage.
func (l *language) Percent(n float64) string {
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(n, 'f', 2, 64), "0"), ".")
	return l.say("percent", "n", strings.Replace(text, ".", l.Point, 1))
}

// Best says among which share of all a rank is, in whole percent or, below one, in tenths; "" in the worse half. web/src/shared/format.ts has it too.
func (l *language) Best(rank, total int64) string {
	share := 100 * float64(rank) / float64(total)
	if share > 50 {
		return ""
	}
	step := 1.0
	if share < 1 {
		step = 10
	}
	return l.say("place.top", "percent", l.Percent(math.Ceil(share*step)/step))
}

// Ordinal writes a rank as a part of a sentence: 603rd.
func (l *language) Ordinal(n int64) string {
	return strings.ReplaceAll(l.Texts["ordinal"].form(l.category(plural.Ordinal, n)), "{n}", l.Number(n))
}

// Moment writes a time so that everybody can read it; scripts write it as the language does, in the reader's zone.
func (*language) Moment(t string) string {
	at, err := time.Parse(time.RFC3339Nano, t)
	if err != nil {
		return t
	}
	return at.UTC().Format("2006-01-02 15:04:05") + " UTC"
}

// Window returns the title of a window.
func (l *language) Window(window string) string {
	if of, ok := l.Texts["window."+window]; ok {
		return of["other"]
	}
	return window
}

// Members says how many there are.
func (l *language) Members(n int64) string { return l.say("members", "n", n) }
