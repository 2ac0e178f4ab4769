package manual

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"leaderboard/api"
	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/apidoc"
	"leaderboard/internal/leaks"
	"leaderboard/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(leaks.Main(m)) }

// newEnv returns an API with the routes of the manual and with pages, which have no page for addresses of the manual.
func newEnv(t testing.TB, base string) *apitest.Env {
	routes := Feature().Open(&features.Engine{Server: features.Server{Base: base}}).Routes
	return featuretest.New(t, func(*apitest.Fake) []httpapi.Route { return routes }, func(c *httpapi.Config) {
		c.Base, c.Pages = base, func(http.Handler) http.Handler { return http.HandlerFunc(page) }
	})
}

// page answers as the pages for people do.
func page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	if strings.HasPrefix(r.URL.Path, "/docs/") || strings.HasPrefix(r.URL.Path, "/problems/") {
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = io.WriteString(w, r.URL.Path)
}

// TestDocsAreCurrent holds the JSON and the page that are served against openapi.yaml and the table of problems, and the costs in
// docs/quotas.md against the table of operations. With UPDATE_DOCS=1 it writes them.
func TestDocsAreCurrent(t *testing.T) {
	doc, err := apidoc.Parse(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	var problems []apidoc.Problem
	for i := range wire.Kinds {
		problems = append(problems, apidoc.Problem{Code: wire.Kinds[i].Code, Status: strconv.Itoa(wire.Kinds[i].Status), Title: wire.Kinds[i].Title})
	}
	page, err := doc.HTML(apidoc.Parts{Style: pageStyle, Script: pageScript, Problems: problems})
	if err != nil {
		t.Fatal(err)
	}
	quotas, err := os.ReadFile("../../docs/quotas.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []struct {
		file            string
		current, served []byte
	}{
		{"../../docs/quotas.md", withHeavyWork(quotas), quotas},
		{"../../api/openapi.json", doc.JSON(), api.OpenAPIJSON()},
		{"web/docs.html", page, docsHTML},
		{"web/readme.txt", whatThisIs(t), introduction},
	} {
		if os.Getenv("UPDATE_DOCS") != "" {
			if err := os.WriteFile(made.file, made.current, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if !bytes.Equal(made.current, made.served) {
			t.Errorf("%s is older than openapi.yaml, operations.go, README.md or problems.go: make generate-docs", made.file)
		}
	}
}

// withHeavyWork returns docs/quotas.md with the costs of the table of operations.
func withHeavyWork(page []byte) []byte {
	const head = "| units of heavy work | for |\n|---|---|\n"
	doc, _ := apitest.Document()
	of := map[int][]string{}
	for _, op := range api.Operations() {
		if summary := doc.Paths.Value(op.Path).GetOperation(op.Method).Summary; op.Heavy > 0 {
			of[op.Heavy] = append(of[op.Heavy], strings.ToLower(summary[:1])+summary[1:])
		}
	}
	rows := head
	for _, units := range slices.Backward(slices.Sorted(maps.Keys(of))) {
		rows += fmt.Sprintf("| %d | %s |\n", units, strings.Join(of[units], "; "))
	}
	before, after, _ := bytes.Cut(page, []byte(head))
	_, after, _ = bytes.Cut(append([]byte("\n"), after...), []byte("\n\n"))
	return slices.Concat(before, []byte(rows), []byte("\n"), after)
}

// whatThisIs returns the beginning of the README, up to its first picture or section.
func whatThisIs(t *testing.T) []byte {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	end := regexp.MustCompile(`(?m)^(?:\[?!\[|## )`).FindIndex(readme)
	if end == nil {
		t.Fatal("README.md has neither a picture nor a section")
	}
	return append(bytes.TrimSpace(readme[:end[0]]), '\n')
}

// TestDocs: the page has every route, its example, schema and problem, its links lead somewhere, and it needs no other host.
func TestDocs(t *testing.T) {
	e := newEnv(t, "")
	r := e.Get(apitest.NoKey, "/docs").Want(200)
	page := string(r.Body)
	for _, op := range api.Operations() {
		if !strings.Contains(page, "<code>"+op.Path+"</code>") {
			t.Errorf("%s is missing", op.Path)
		}
	}
	shown := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)<article class="op" id="(\w+)">.*?<pre class="curl">(.*?)</pre>`).FindAllStringSubmatch(page, -1) {
		shown[m[1]] = html.UnescapeString(regexp.MustCompile(`<[^>]+>`).ReplaceAllString(m[2], ""))
	}
	if examples := apitest.Examples(); !maps.Equal(shown, examples) {
		t.Errorf("%d operations have examples, want %d", len(shown), len(examples))
	}
	doc, _ := apitest.Document()
	for name := range doc.Components.Schemas {
		if !strings.Contains(page, `id="schema-`+name+`"`) {
			t.Errorf("the schema %s is missing", name)
		}
	}
	for i := range wire.Kinds {
		if !strings.Contains(page, `href="/problems/`+wire.Kinds[i].Code+`"`) {
			t.Errorf("the problem %s is missing", wire.Kinds[i].Code)
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+m[1]+`"`) {
			t.Errorf("the link #%s leads nowhere", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`href="(/[^"]*)"`).FindAllStringSubmatch(page, -1) {
		e.Get(apitest.NoKey, m[1]).Want(200)
	}
	checkPage(t, page, r.Header.Get("Content-Security-Policy"))
	if policy := r.Header.Get("Referrer-Policy"); policy != "no-referrer" {
		t.Errorf("Referrer-Policy is %q", policy)
	}
	for _, want := range []string{`$SERVER</var>/v1/boards/<var data-v="board">demo</var>/top"`, "1 to 1000, default 10", "desc | asc", "integer or null"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// checkPage holds a page against what a browser may do with it: use the style and the script that are in it, by their
// hashes, and ask the server that it came from.
func checkPage(t *testing.T, page, policy string) {
	t.Helper()
	checkPolicy(t, page, policy)
	checkMarkup(t, page, `href="(?:[a-z]+:|//)`)
	for _, foreign := range []string{"@import", "url("} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page contains %s", foreign)
		}
	}
}

// checkPolicy wants a policy that allows the style and the script of a page, by their hashes.
func checkPolicy(t *testing.T, page, policy string) {
	t.Helper()
	want := "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	for _, kind := range []string{"style", "script"} {
		for _, m := range regexp.MustCompile(`(?s)<`+kind+`[^>]*>(.*?)</`+kind+`>`).FindAllStringSubmatch(page, -1) {
			hash := sha256.Sum256([]byte(m[1]))
			want += "; " + kind + "-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
			if kind == "script" {
				want += "; connect-src 'self'"
			}
		}
	}
	if policy != want {
		t.Errorf("Content-Security-Policy is %q, want %q", policy, want)
	}
}

// checkMarkup finds markup that would load or do something, and links of a kind that the page must not have.
func checkMarkup(t *testing.T, page, links string) {
	t.Helper()
	forbidden := regexp.MustCompile(`\s(?:on\w+|style|src|action)=|` + links + `|<(?:link|img|iframe|object|base)\b`)
	markup := regexp.MustCompile(`(?s)(<(?:script|style)>).*?</`).ReplaceAllString(page, "$1</")
	for _, tag := range regexp.MustCompile(`<[a-z][^>]*>`).FindAllString(markup, -1) {
		if !strings.HasPrefix(tag, `<link rel="icon" href="data:`) && forbidden.MatchString(tag) {
			t.Errorf("the page has %s", tag)
		}
	}
}

// notText matches the parts of a page that are no text for people.
var notText = regexp.MustCompile(`(?s)<(script|pre|code)\b.*?</(?:script|pre|code)>`)

// TestManual: each document of docs is a page with the style and the script of the reference, its links lead somewhere, and the search
// knows each of its headings.
func TestManual(t *testing.T) {
	e := newEnv(t, "")
	files, err := filepath.Glob("../../docs/*.md")
	decisions, failed := filepath.Glob("../../docs/decisions/*.md")
	if files = append(files, decisions...); err != nil || failed != nil || len(files) < 20 {
		t.Fatalf("%d documents, %v, %v", len(files), err, failed)
	}
	var sections []section
	if err := json.Unmarshal(e.Get(apitest.NoKey, "/docs/search.json").Want(200).Body, &sections); err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]bool{}, map[string]string{} // PATH#ID of all pages; links, and a page that has each
	for _, file := range files {
		path := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(file, "../../docs/"), ".md"), "/", "-")
		path = "/docs/" + strings.NewReplacer("-README", "", "README", "start").Replace(path)
		r := e.Get(apitest.NoKey, path).Want(200)
		page := string(r.Body)
		checkPolicy(t, page, r.Header.Get("Content-Security-Policy"))
		checkMarkup(t, page, `href="(?:javascript|data):`)
		if text := notText.ReplaceAllString(page, ""); strings.Contains(page, "raw HTML omitted") || strings.Contains(text, "](") || strings.Contains(text, "| --") {
			t.Errorf("%s has marks that were not rendered", path)
		}
		ids[path] = true
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			ids[path+"#"+m[1]] = true
		}
		for _, m := range regexp.MustCompile(`href="([/#][^"]*)"`).FindAllStringSubmatch(page, -1) {
			if strings.HasPrefix(m[1], "#") {
				m[1] = path + m[1]
			}
			links[m[1]] = path
		}
	}
	for link, path := range links {
		if to, _, _ := strings.Cut(link, "#"); strings.HasPrefix(to, "/docs/") {
			if !ids[link] {
				t.Errorf("%s: the link %s leads nowhere", path, link)
			}
		} else {
			e.Get(apitest.NoKey, to).Want(200)
		}
	}
	found := map[string]bool{}
	for _, s := range sections {
		if !ids[s.Href] || s.Title == "" || s.Under == "" {
			t.Errorf("the search has %s, %q of %q", s.Href, s.Title, s.Under)
		}
		found[s.Href] = s.Text != ""
	}
	for _, want := range []string{"/docs/alerts#leaderboarddown", "/docs/operating#losing-mysql", "/docs/failover#replace-a-member"} {
		if _, ok := found[want]; !ok {
			t.Errorf("the search does not know %s", want)
		}
	}
}

// TestManualIsSentOnce: pages and the document come with an ETag, compressed for clients that take that, and not at all for clients that
// has them.
func TestManualIsSentOnce(t *testing.T) {
	e := newEnv(t, "")
	for _, path := range []string{"/docs", "/docs/boards", "/openapi.json", "/openapi.yaml", "/problems/not-ranked"} {
		plain := e.Get(apitest.NoKey, path).Want(200)
		zipped := e.Do(apitest.Ask{Method: "GET", Path: path, Header: http.Header{"Accept-Encoding": {"gzip"}}}).Want(200)
		tag, zippedTag := plain.Header.Get("ETag"), zipped.Header.Get("ETag")
		if !strings.HasPrefix(tag, `"`) || zippedTag != wire.GzipTag(tag) {
			t.Errorf("%s: the ETags are %s and %s", path, tag, zippedTag)
		}
		if zipped.Header.Get("Content-Encoding") != "gzip" || !bytes.Equal(zipped.Body, plain.Body) {
			t.Errorf("%s: the compressed form is not that of the plain one", path)
		}
		for _, known := range []string{tag, zippedTag} {
			r := e.Do(apitest.Ask{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {known}}}).Want(304)
			if len(r.Body) != 0 || r.Header.Get("ETag") != known {
				t.Errorf("%s: 304 with %d bytes and ETag %s, want none and %s", path, len(r.Body), r.Header.Get("ETag"), known)
			}
		}
		e.Do(apitest.Ask{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {`"other"`}}}).Want(200)
	}
	if n, most := len(newStatic("", docsHTML).zipped), 60<<10; n > most {
		t.Errorf("the page has %d bytes compressed, want at most %d: it is read on phones", n, most)
	}
}

// TestProblemPages: each problem has a page in the style of the manual, which it leads to.
func TestProblemPages(t *testing.T) {
	e := newEnv(t, "")
	reference, links := string(e.Get(apitest.NoKey, "/docs").Body), 0
	for i := range wire.Kinds {
		r := e.Get(apitest.NoKey, wire.Kinds[i].Type("")).Want(200)
		page := string(r.Body)
		if !strings.Contains(page, "<h1>") || !strings.Contains(page, strconv.Itoa(wire.Kinds[i].Status)) {
			t.Errorf("the page of %s is %s", wire.Kinds[i].Code, page)
		}
		checkPage(t, page, r.Header.Get("Content-Security-Policy"))
		for _, m := range regexp.MustCompile(`href="/docs#([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(reference, `id="`+m[1]+`"`) {
				t.Errorf("%s: the link /docs#%s leads nowhere", wire.Kinds[i].Code, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`href="/docs/([^"#]+)#([^"]+)"`).FindAllStringSubmatch(page, -1) {
			links++
			if named := e.Get(apitest.NoKey, "/docs/"+m[1]).Want(200); !strings.Contains(string(named.Body), `id="`+m[2]+`"`) {
				t.Errorf("%s: the link /docs/%s#%s leads nowhere", wire.Kinds[i].Code, m[1], m[2])
			}
		}
	}
	if links == 0 {
		t.Error("no page of a problem has a link to a section of the manual")
	}
}

// TestServedDocument: the served YAML is openapi.yaml, and the JSON has the same content.
func TestServedDocument(t *testing.T) {
	e := newEnv(t, "")
	var served, written any
	if got := e.Get(apitest.NoKey, "/openapi.yaml").Want(http.StatusOK); !bytes.Equal(got.Body, api.OpenAPI()) {
		t.Error("/openapi.yaml is not openapi.yaml")
	}
	e.Get(apitest.NoKey, "/openapi.json").Want(http.StatusOK).Decode(&served)
	if err := yaml.Unmarshal(api.OpenAPI(), &written); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	apitest.Reply{T: t, Body: text}.Decode(&written)
	if !reflect.DeepEqual(served, written) {
		t.Error("/openapi.json and openapi.yaml differ")
	}
}

// TestBasePath: below a path, all addresses in pages and in the document are below it, types of problems too.
func TestBasePath(t *testing.T) {
	e := newEnv(t, "/games")
	get := func(path string) string {
		t.Helper()
		return string(e.Do(apitest.Ask{Method: http.MethodGet, Path: path, Undocumented: true}).Want(http.StatusOK).Body)
	}
	for path, want := range map[string]string{"/games/openapi.json": `"servers":[{"url":"/games"}]`, "/games/openapi.yaml": "servers:\n  - url: /games\n", "/games/docs": `href="/games/docs/start"`, "/games/docs/start": `href="/games/docs/boards`, "/games/problems/not-ranked": `href="/games/docs#errors"`} {
		body := get(path)
		if !strings.Contains(body, want) {
			t.Errorf("%s: no %s", path, want)
		}
		for _, link := range regexp.MustCompile(`<[a-z]+ [^<>]*(?:href|src|action)="(/[^"]*)"`).FindAllStringSubmatch(body, -1) {
			if !strings.HasPrefix(link[1], "/games/") {
				t.Errorf("%s leads to %s", path, link[1])
			}
		}
	}
	if doc := get("/games/openapi.json"); !strings.Contains(doc, `"/games/problems/not-ranked"`) || strings.Contains(doc, `"/problems/not-ranked`) {
		t.Error("openapi.json has other types of problems than the answers")
	}
	if doc := get("/games/openapi.yaml"); !strings.Contains(doc, "\n        - /games/problems/not-ranked\n") || !strings.Contains(doc, "\n  /problems/{code}:\n") {
		t.Error("openapi.yaml has other types of problems than the answers")
	}
}

// TestMissing: a browser that asks for a page that the manual lacks gets a page for people, every other caller the problem; a slash at
// the end of an address is one too many.
func TestMissing(t *testing.T) {
	e := newEnv(t, "")
	browser := http.Header{"Accept": {"text/html"}}
	for path, detail := range map[string]string{"/docs/nothing": "The manual has no such page.", "/problems/nothing": "No problem has this code."} {
		if p := e.Get(apitest.NoKey, path).WantProblem(404, wire.CodeNotFound); p.Detail != detail {
			t.Errorf("%s: %q, want %q", path, p.Detail, detail)
		}
		if r := e.Do(apitest.Ask{Method: http.MethodGet, Path: path, Header: browser}).Want(404); string(r.Body) != path || r.Header.Get("Vary") != "Accept" {
			t.Errorf("%s: a browser gets %s, Vary %q", path, r.Body, r.Header.Get("Vary"))
		}
	}
	for _, path := range []string{"/docs", "/docs/boards", "/problems/not-ranked"} {
		r := e.Do(apitest.Ask{Method: http.MethodGet, Path: path + "/", Header: browser, Undocumented: true}).Want(http.StatusPermanentRedirect)
		if to := r.Header.Get("Location"); to != path {
			t.Errorf("%s/ leads to %q", path, to)
		}
	}
}

// TestExamples runs the examples of the manual's own routes.
func TestExamples(t *testing.T) {
	featuretest.Examples(t, routes(""), func(t testing.TB) *apitest.Env { return newEnv(t, "") }, nil)
}
