package pages

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/feature/plural"
)

func allLanguages(t *testing.T) *languages {
	t.Helper()
	all, err := loadLanguages(DefaultLanguage)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var placeIn = regexp.MustCompile(`\{(\w+)\}`)

// places returns the places of all forms of a text.
func places(f forms) string {
	found := map[string]bool{}
	for _, text := range f {
		for _, m := range placeIn.FindAllStringSubmatch(text, -1) {
			found[m[1]] = true
		}
	}
	return fmt.Sprint(slices.Sorted(maps.Keys(found)))
}

// needed returns the plural categories that a language uses for many numbers.
func needed(l *language, rules *plural.Rules) []string {
	found := map[string]bool{}
	for n := range int64(1200) {
		found[l.category(rules, n)] = true
	}
	found[l.category(rules, million)] = true
	found["other"] = true // of fractions, and of texts without a number
	return slices.Sorted(maps.Keys(found))
}

// TestLanguageFiles: each language has the texts of English and no others, with the same places, and all the forms that its numbers have.
// Nothing in them is HTML.
func TestLanguageFiles(t *testing.T) {
	all := allLanguages(t)
	if len(all.all) < 7 {
		t.Fatalf("there are %d languages", len(all.all))
	}
	for _, l := range all.all {
		if l.Name == "" || l.Locale == "" || l.Group == "" || l.Point == "" || l.Dir != "ltr" && l.Dir != "rtl" || !strings.HasPrefix(l.Locale, l.Tag) {
			t.Errorf("%s: name %q, locale %q, dir %q, group %q, point %q", l.Tag, l.Name, l.Locale, l.Dir, l.Group, l.Point)
		}
		for key := range l.Texts {
			if all.english.Texts[key] == nil {
				t.Errorf("%s has %s, and English has not", l.Tag, key)
			}
		}
		for key, english := range all.english.Texts {
			of := l.Texts[key]
			if of["other"] == "" {
				t.Errorf("%s has no %s", l.Tag, key)
				continue
			}
			if got, want := places(of), places(english); got != want {
				t.Errorf("%s: %s has the places %s, want %s", l.Tag, key, got, want)
			}
			for category, text := range of {
				if strings.ContainsAny(text, "<>&") || strings.Contains(placeIn.ReplaceAllString(text, ""), "{") {
					t.Errorf("%s: %s, %s: %q", l.Tag, key, category, text)
				}
			}
			want := []string{"other"}
			if key == "ordinal" {
				want = needed(l, plural.Ordinal)
				if len(of) == 1 {
					want = []string{"other"} // it writes the number alone
				}
			} else if len(english) > 1 {
				want = needed(l, plural.Cardinal)
			}
			if got := slices.Sorted(maps.Keys(of)); !slices.Equal(got, want) {
				t.Errorf("%s: %s has the forms %q, want %q", l.Tag, key, got, want)
			}
		}
	}
}

// TestForms: which form a number has, and how it is written.
func TestForms(t *testing.T) {
	by := map[string]*language{}
	for _, l := range allLanguages(t).all {
		by[l.Tag] = l
	}
	for _, c := range []struct {
		tag  string
		n    int64
		want string
	}{
		{"en", 0, "0 players"},
		{"en", 1, "1 player"},
		{"en", 5001, "5,001 players"},
		{"en", 10_000_001, "10,000,001 players"},
		{"de", 1, "1 Spieler"},
		{"de", 9223372036854775807, "9.223.372.036.854.775.807 Spieler"},
		{"fr", 0, "0 joueur"},
		{"fr", 2_000_000, "2\u202f000\u202f000 de joueurs"},
		{"es", 5001, "5.001 jugadores"},
		{"es", 1_000_000, "1.000.000 de jugadores"},
		{"pt", 1, "1 jogador"},
		{"ja", 1, "1 人"},
		{"ar", 0, "لا لاعبين"},
		{"ar", 2, "لاعبان"},
		{"ar", 3, "3 لاعبين"},
		{"ar", 11, "11 لاعبًا"},
		{"ar", 100, "100 لاعب"},
		{"ar", 10_000_003, "10,000,003 لاعبين"},
	} {
		if got := by[c.tag].Members(c.n); got != c.want {
			t.Errorf("%s: %q, want %q", c.tag, got, c.want)
		}
	}
	if got, err := by["en"].Rich("find.none", "name", "<b>"); err != nil || got != "Nobody here has a name that begins with &lt;b&gt;." {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range [][]any{{"no.such.text"}, {"find.none"}, {"find.none", "name"}, {"find.none", "other", "x"}} {
		if got, err := by["en"].Text(bad[0].(string), bad[1:]...); err == nil {
			t.Errorf("%v: %q, and no error", bad, got)
		}
	}
}

// TestLanguageOfReader: the address chooses the language, else the browser does, else the site.
func TestLanguageOfReader(t *testing.T) {
	for _, c := range []struct{ site, address, accepts, want string }{
		{"en", "/", "", "en"},
		{"en", "/", "de", "de"},
		{"en", "/", "de-CH, fr;q=0.9", "de"},
		{"en", "/", "fr;q=0.5, de;q=0.8", "de"},
		{"en", "/", "sv, ja;q=0.5", "ja"},
		{"en", "/", "pt-PT", "pt"},
		{"en", "/", "pt-BR,pt;q=0.9,en;q=0.8", "pt"},
		{"en", "/", "ar-EG", "ar"},
		{"en", "/", "sv", "en"},
		{"de", "/", "sv", "de"},
		{"de", "/", "", "de"},
		{"de", "/", "*", "de"},
		{"de", "/", "en-US,en;q=0.9,de;q=0.8", "en"},
		{"de", "/", "not a language!", "de"},
		{"en", "/", "de;q=x", "en"},
		{"en", "/", strings.Repeat("de,", 200), "en"},
		{"en", "/?lang=fr", "de", "fr"},
		{"de", "/?lang=en", "de", "en"},
		{"en", "/?lang=xx", "de", "de"},
		{"en", "/?lang=FR", "de", "de"},
		{"en", `/?lang="><b>`, "", "en"},
		{"en", "/boards/demo?lang=es", "de", "es"},
		{"en", "/boards/demo?embed=1&lang=es", "de", "es"},
		{"en", "/boards/none", "de", "de"},
		{"en", "/console?lang=de", "de", "en"},
	} {
		s, err := Load(&Options{Language: c.site})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, strings.NewReplacer(`"`, "%22", "<", "%3C", ">", "%3E").Replace(c.address), http.NoBody)
		r.Header.Set("Accept-Language", c.accepts)
		w := httptest.NewRecorder()
		s.Handler(http.HandlerFunc(fakeAPI)).ServeHTTP(w, r)
		if got := w.Header().Get("Content-Language"); got != c.want || !strings.Contains(w.Body.String(), `<html lang="`+c.want+`"`) {
			t.Errorf("%s, Accept-Language %q, site %s: %s, want %s", c.address, c.accepts, c.site, got, c.want)
		}
		vary := "Accept-Encoding, Accept-Language"
		if strings.HasPrefix(c.address, "/console") {
			vary = "Accept-Encoding"
		}
		if got := w.Header().Get("Vary"); got != vary {
			t.Errorf("%s: Vary: %s", c.address, got)
		}
		if strings.Contains(w.Body.String(), "<b>") {
			t.Errorf("%s: the address is HTML", c.address)
		}
	}
	if _, err := Load(&Options{Language: "tlh"}); err == nil {
		t.Error("there are pages in Klingon")
	}
	if _, err := CheckLanguage("ja"); err != nil {
		t.Error(err)
	}
	if _, err := CheckLanguage("tlh"); err == nil {
		t.Error("Klingon can be the language of the site")
	}
}

// TestPagesInLanguages: a page is in its language with the numbers of it, its links keep a language of the address, and only that.
func TestPagesInLanguages(t *testing.T) {
	for path, wants := range map[string][]string{
		"/?lang=de":                              {"60 Spieler", "9.223.372.036.854.775.807", `href="/boards/demo?lang=de"`, `href="/?cursor=more&amp;lang=de"`, "<title>Bestenlisten</title>", `<a class="brand" href="/?lang=de">`, `<a href="/?lang=fr" lang="fr" hreflang="fr"`, `aria-current="true">Deutsch</a>`},
		"/boards/demo?lang=de&mode=dense":        {"Verzögert; Stand: <time", `href="/?labels=type:moba&amp;lang=de"`, `href="/boards/source?lang=de"`, `href="/boards/demo?lang=de&amp;mode=dense&amp;offset=25"`, `name="lang" value="de"`, `href="/boards/demo?lang=es&amp;mode=dense" lang="es"`, "die Summe der Punkte", `aria-label="Zeiträume"`, `content="60 Spieler"`, `picture.png?lang=de&amp;mode=dense"`},
		"/boards/demo?lang=fr&member=ada":        {"top 2 %", "Autour", "rang 1 sur 60"},
		"/boards/demo?lang=ja&member=nobody":     {"この期間にスコアのある人で、<bdi>nobody</bdi> で始まる名前の人はいません。"},
		"/boards/demo?lang=ar":                   {`<html lang="ar" dir="rtl">`, "60 لاعبًا"},
		"/boards/demo?lang=es&embed=1":           {`<html lang="es">`, "60 jugadores"},
		"/boards/busy?lang=pt":                   {"Recarregue a página em 7 segundos.", `href="/?lang=pt"`},
		"/boards/none?lang=de":                   {"Hier ist nichts", "Es gibt keine öffentliche Bestenliste mit diesem Namen."},
		"/boards/demo?lang=de&period=1999-01-01": {"Hier ist nichts", "It ended before the board was made."},
	} {
		_, body := get(t, path)
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", path, want, body)
			}
		}
	}
	_, body := request(t, http.MethodGet, "/boards/demo", http.Header{"Accept-Language": {"de"}})
	if !strings.Contains(body, "60 Spieler") || strings.Contains(strings.Split(body, "<footer")[0], "?lang=") {
		t.Errorf("a language that the browser asks for is in links: %s", body)
	}
	if !strings.Contains(body, `og:description" content="60 players"`) {
		t.Error("what other sites show is in the language of one reader")
	}
	if _, body := get(t, "/boards/demo?embed=1&lang=de"); strings.Contains(body, "hreflang") {
		t.Error("a frame has the list of languages")
	}
}

// TestPictureLanguages: a picture is in the language of its address, and in English when its letters cannot be drawn.
func TestPictureLanguages(t *testing.T) {
	s, pages := site(t, fakeAPI)
	tag := func(query string) string {
		w, _ := getPicture(t, pages, "/boards/demo/picture.png"+query)
		return w.Header().Get("ETag")
	}
	english := tag("")
	for query, same := range map[string]bool{"?lang=en": true, "?lang=ja": true, "?lang=ar": true, "?lang=xx": true, "?lang=de": false, "?lang=fr": false, "?lang=es": false, "?lang=pt": false} {
		if (tag(query) == english) != same {
			t.Errorf("%s: the picture of English: %v, want %v", query, !same, same)
		}
	}
	all := s.languages
	for _, l := range all.all {
		if got := all.legible(l, s.painter.fonts) == l; got != (l.Tag != "ja" && l.Tag != "ar") {
			t.Errorf("pictures in %s: %v", l.Tag, got)
		}
	}
}

// TestTextsAreUsed: the pages use every text, and ask for none that there is not.
func TestTextsAreUsed(t *testing.T) {
	all := allLanguages(t).english.Texts
	var everything strings.Builder
	asks := regexp.MustCompile(`(?:\btext\(|\bsay\(|\.Text |\.Rich |\bof=)"([a-z]\w*(?:\.\w+)*)"`)
	for _, file := range filesOf(t, ".go", ".html", ".svelte", ".ts") {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		everything.Write(body)
		for _, m := range asks.FindAllStringSubmatch(string(body), -1) {
			if all[m[1]] == nil {
				t.Errorf("%s asks for %s", file, m[1])
			}
		}
	}
	for key := range all {
		dot := strings.LastIndexByte(key, '.')
		made := []string{`"` + key + `"`, `"` + key[:dot+1] + `"`, "`" + key[:dot+1] + "${", `"` + strings.Split(key, ".")[0] + `."`, "`" + strings.Split(key, ".")[0] + ".${"}
		if dot < 0 {
			made = made[:1]
		}
		if !slices.ContainsFunc(made, func(m string) bool { return strings.Contains(everything.String(), m) }) {
			t.Errorf("nothing uses %s", key)
		}
	}
}

// filesOf returns the source files of the public pages.
func filesOf(t *testing.T, ends ...string) (out []string) {
	t.Helper()
	for _, dir := range []string{".", "templates", "../../web/src/board", "../../web/src/home", "../../web/src/shared"} {
		files, err := fs.Glob(os.DirFS(dir), "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if slices.Contains(ends, filepath.Ext(f)) && !strings.HasSuffix(f, "_test.go") {
				out = append(out, filepath.Join(dir, f))
			}
		}
	}
	return out
}

var (
	comments   = regexp.MustCompile(`(?s)<!--.*?-->`)
	scripts    = regexp.MustCompile(`(?s)<script.*?</script>`)
	nodes      = regexp.MustCompile(`>([^<>]*)<`)
	spoken     = regexp.MustCompile(`\b(?:title|aria-label|placeholder|alt|label)="([^"]*)"`)
	letters    = regexp.MustCompile(`\p{L}{2,}`)
	literals   = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|`(?:[^`\\\\]|\\\\.)*`")
	lineNote   = regexp.MustCompile(`(?m)(^|\s)//.*$`)
	blockNote  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	likeSpeech = regexp.MustCompile(`\p{L}{2,}[,.;:!?…]? +\p{L}|^"\p{Lu}\p{Ll}+[.!?]?"$|\p{L}{2,}[.!?]"$`)
	actions    = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	schemas    = regexp.MustCompile(`Schemas\["\w+"\]`)
	filled     = regexp.MustCompile(`\$\{(?:[^{}]|\{[^{}]*\})*\}`)
)

// unsaid are literals that look like texts and that nobody reads.
var unsaid = map[string]string{
	"windows":                                "the name of a rule",
	"record":                                 "the name of a rule",
	`"Escape"`:                               "a key",
	`"AbortError"`:                           "the name of an error of browsers",
	`"card note own"`:                        "classes",
	`"(prefers-reduced-motion: reduce)"`:     "a question to the browser",
	"`${end} is not among the last periods`": "an error that the caller replaces",
	"`around ${page.entries[0]?.rank}`":      "names what is compared",
}

// speech returns the parts of a source of the pages that look like texts for people.
func speech(name, body string) (found []string) {
	markup := comments.ReplaceAllString(body, "")
	code := ""
	switch filepath.Ext(name) {
	case ".html":
		markup = actions.ReplaceAllString(markup, "")
	case ".svelte":
		code = strings.Join(scripts.FindAllString(markup, -1), "\n")
		markup = scripts.ReplaceAllString(markup, "")
		var computed string
		markup, computed = apart(markup)
		code += computed
	case ".ts":
		markup, code = "", body
	}
	for _, m := range nodes.FindAllStringSubmatch(markup, -1) {
		if letters.MatchString(m[1]) && unsaid[m[1]] == "" {
			found = append(found, strings.TrimSpace(m[1]))
		}
	}
	for _, m := range spoken.FindAllStringSubmatch(markup, -1) {
		if letters.MatchString(m[1]) {
			found = append(found, m[1])
		}
	}
	code = lineNote.ReplaceAllString(blockNote.ReplaceAllString(code, ""), "$1")
	code = schemas.ReplaceAllString(code, "")
	for _, literal := range literals.FindAllString(code, -1) {
		if likeSpeech.MatchString(filled.ReplaceAllString(literal, "")) && unsaid[literal] == "" {
			found = append(found, literal)
		}
	}
	return found
}

// apart takes what Svelte computes, {…}, out of its markup.
func apart(markup string) (rest, computed string) {
	var out, inner strings.Builder
	depth := 0
	for _, r := range markup {
		switch r {
		case '{':
			if depth++; depth == 1 {
				continue
			}
		case '}':
			if depth--; depth == 0 {
				inner.WriteByte('\n')
				continue
			}
		}
		if depth > 0 {
			inner.WriteRune(r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String(), inner.String()
}

// TestNoTextElsewhere: texts for people are in the language files, and nowhere in the templates and scripts of the public pages.
// The test does not look at the console, which is in English.
func TestNoTextElsewhere(t *testing.T) {
	for _, file := range filesOf(t, ".html", ".svelte", ".ts") {
		if filepath.Base(file) == "console.html" {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range speech(file, string(body)) {
			t.Errorf("%s: %q belongs into features/pages/languages", file, text)
		}
	}
	for source, want := range map[string]int{
		`a.html:<p>{{.Text "x"}} members</p>`: 1, `a.html:<p title="{{.Text "x"}}">{{.N}}</p>`: 0, `a.html:<p aria-label="Pages"></p>`: 1,
		`a.svelte:<p>{text("x")}</p>`: 0, `a.svelte:<p>{n} members</p>`: 1, `a.svelte:<p>{n > 1 ? "are here" : ""}</p>`: 1, `a.svelte:<input placeholder="Name" />`: 1,
		`a.svelte:<p title={open ? "Close" : undefined}></p>`: 1, `a.svelte:<script>let x = "Not now"</script><p class="two words">{x}</p>`: 1, "a.ts:x = `Rank ${n} of ${m}`": 1,
		"a.ts:x = \"day\" // the day of it": 0, `a.ts:x = "Gone."`: 1,
	} {
		name, body, _ := strings.Cut(source, ":")
		if got := speech(name, body); len(got) != want {
			t.Errorf("%s: %q, want %d", source, got, want)
		}
	}
}

// TestPicturesAreWrittenFromLeftToRight: a picture is in the language that is asked for, but in English where that is written from right to
// left, whatever letters the fonts have, or where they lack letters.
func TestPicturesAreWrittenFromLeftToRight(t *testing.T) {
	all := allLanguages(t)
	fonts, err := loadTypefaces(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, text string
		itself    bool
	}{{"ltr", "{n} abc", true}, {"rtl", "{n} abc", false}, {"ltr", "{n} 人", false}} {
		l := &language{Dir: c.dir, Texts: map[string]forms{"members": {"other": c.text}}}
		if got := all.legible(l, fonts); (got == l) != c.itself || got != l && got != all.english {
			t.Errorf("%s, %q: it is written in %q", c.dir, c.text, got.Tag)
		}
	}
}
