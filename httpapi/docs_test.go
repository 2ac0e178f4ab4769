package httpapi

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"leaderboard/httpapi/internal/apidoc"
)

// TestDocsAreCurrent holds the JSON and the page that are served against openapi.yaml and the table of problems. With
// UPDATE_DOCS=1 it writes them.
func TestDocsAreCurrent(t *testing.T) {
	doc, err := apidoc.Parse(openAPIDocument)
	if err != nil {
		t.Fatal(err)
	}
	style, err := problemTemplates.ReadFile("web/style.html")
	if err != nil {
		t.Fatal(err)
	}
	var problems []apidoc.Problem
	for i := range kinds {
		problems = append(problems, apidoc.Problem{Code: kinds[i].code, Status: strconv.Itoa(kinds[i].status), Title: kinds[i].title})
	}
	page, err := doc.HTML(string(style), problems)
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []struct {
		file            string
		current, served []byte
	}{
		{"web/openapi.json", doc.JSON(), openAPIJSON},
		{"web/docs.html", page, docsHTML},
	} {
		if os.Getenv("UPDATE_DOCS") != "" {
			if err := os.WriteFile(made.file, made.current, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if !bytes.Equal(made.current, made.served) {
			t.Errorf("%s is older than openapi.yaml or problems.go: make docs", made.file)
		}
	}
}

// TestDocs: the page tells of every route, schema and problem, its links lead somewhere, and it needs no other host.
func TestDocs(t *testing.T) {
	e := newEnv(t)
	r := e.get(noKey, "/docs").want(200)
	page := string(r.body)
	for _, rt := range (&handlers{}).routes(true) {
		if !strings.Contains(page, "<code>"+rt.path+"</code>") {
			t.Errorf("%s is missing", rt.path)
		}
	}
	doc, _ := document()
	for name := range doc.Components.Schemas {
		if !strings.Contains(page, `id="schema-`+name+`"`) {
			t.Errorf("the schema %s is missing", name)
		}
	}
	for i := range kinds {
		if !strings.Contains(page, `href="/problems/`+kinds[i].code+`"`) {
			t.Errorf("the problem %s is missing", kinds[i].code)
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+m[1]+`"`) {
			t.Errorf("the link #%s leads nowhere", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`href="(/[^"]*)"`).FindAllStringSubmatch(page, -1) {
		e.get(noKey, m[1]).want(200)
	}
	for _, foreign := range []string{"http://", "https://", "//", "<script", "@import", "url(", "<img", "<link"} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page contains %s", foreign)
		}
	}
	if csp := r.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("Content-Security-Policy is %q", csp)
	}
	if policy := r.header.Get("Referrer-Policy"); policy != "no-referrer" {
		t.Errorf("Referrer-Policy is %q", policy)
	}
	for _, want := range []string{"$SERVER/v1/boards/demo/top", "1 to 1000, default 10", "desc | asc", "integer or null"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}
