package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/httpapi/internal/manual"
	"leaderboard/internal/apidoc"
	"leaderboard/internal/wire"
)

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
	quotas, err := os.ReadFile("../docs/quotas.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []struct {
		file            string
		current, served []byte
	}{
		{"../docs/quotas.md", withHeavyWork(quotas), quotas},
		{"web/openapi.json", doc.JSON(), openAPIJSON},
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
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	end := regexp.MustCompile(`(?m)^(?:\[?!\[|## )`).FindIndex(readme)
	if end == nil {
		t.Fatal("README.md has neither a picture nor a section")
	}
	return append(bytes.TrimSpace(readme[:end[0]]), '\n')
}

// TestDocs: the page has every route, schema and problem, its links lead somewhere, and it needs no other host.
func TestDocs(t *testing.T) {
	e := newEnv(t)
	r := e.Get(apitest.NoKey, "/docs").Want(200)
	page := string(r.Body)
	for _, rt := range routesOfEngine() {
		if !strings.Contains(page, "<code>"+rt.Path+"</code>") {
			t.Errorf("%s is missing", rt.Path)
		}
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
	e := newEnv(t)
	files, err := filepath.Glob("../docs/*.md")
	decisions, failed := filepath.Glob("../docs/decisions/*.md")
	if files = append(files, decisions...); err != nil || failed != nil || len(files) < 20 {
		t.Fatalf("%d documents, %v, %v", len(files), err, failed)
	}
	var sections []manual.Section
	if err := json.Unmarshal(e.Get(apitest.NoKey, "/docs/search.json").Want(200).Body, &sections); err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]bool{}, map[string]string{} // PATH#ID of all pages; links, and a page that has each
	for _, file := range files {
		path := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(file, "../docs/"), ".md"), "/", "-")
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
	e.Get(apitest.NoKey, "/docs/no-such").WantProblem(404, wire.CodeNotFound)
}

// TestManualIsSentOnce: pages and the document come with an ETag, compressed for clients that take that, and not at all for clients that
// has them.
func TestManualIsSentOnce(t *testing.T) {
	e := newEnv(t)
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
	e := newEnv(t)
	manual := string(e.Get(apitest.NoKey, "/docs").Body)
	for i := range wire.Kinds {
		r := e.Get(apitest.NoKey, wire.Kinds[i].Type("")).Want(200)
		page := string(r.Body)
		checkPage(t, page, r.Header.Get("Content-Security-Policy"))
		for _, m := range regexp.MustCompile(`href="/docs#([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(manual, `id="`+m[1]+`"`) {
				t.Errorf("%s: the link /docs#%s leads nowhere", wire.Kinds[i].Code, m[1])
			}
		}
	}
	e.Get(apitest.NoKey, "/problems/no-such").WantProblem(404, wire.CodeNotFound)
}
