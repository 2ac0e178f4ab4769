package manual

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"leaderboard/api"
	"leaderboard/docs"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
)

var (
	//go:embed web/docs.html
	docsHTML []byte
	//go:embed web/problem.html
	problemTemplate string
	//go:embed web/style.css
	pageStyle string
	//go:embed web/manual.js
	pageScript string
	//go:embed web/readme.txt
	introduction []byte
)

// routes returns the routes of the manual of a service below a path, "" for the root.
func routes(base string) []httpapi.Route {
	return []httpapi.Route{
		httpapi.On("getOpenAPI", one(func() *static { return newStatic(wire.TypeJSON, basedDocument(api.OpenAPIJSON(), base)) })),
		httpapi.On("getOpenAPIYAML", one(func() *static { return newStatic("application/yaml", basedDocument(api.OpenAPI(), base)) })),
		httpapi.On("getDocs", one(func() *static { return newPage(docsHTML, base) })),
		httpapi.On("getManualPage", oneOf("page", "The manual has no such page.", func() (map[string]*static, error) { return documentPages(base) })),
		httpapi.On("getProblemPage", oneOf("code", "No problem has this code.", func() (map[string]*static, error) { return problemPages(base) })),
	}
}

// one returns a handler that sends an answer, which is made at the first request for it.
func one(answer func() *static) func(*httpapi.Call) error {
	made := sync.OnceValue(answer)
	return func(c *httpapi.Call) error { return made().send(c) }
}

// oneOf returns a handler that sends the answer that a parameter of the path names. The answers are made at the first request for any.
// missing is the detail of the problem when there is no such answer.
func oneOf(param, missing string, answers func() (map[string]*static, error)) func(*httpapi.Call) error {
	made := sync.OnceValues(answers)
	return func(c *httpapi.Call) error {
		all, err := made()
		if err != nil {
			return err
		}
		if found := all[c.Params.PathValue(param)]; found != nil {
			return found.send(c)
		}
		return httpapi.Missing(c, missing)
	}
}

// documentPages returns the pages of the documents and the data for their search, by the last part of their paths.
func documentPages(base string) (map[string]*static, error) {
	pages, search, err := render(docs.Files, introduction, pageStyle, pageScript)
	if err != nil {
		return nil, err
	}
	answers := map[string]*static{"search.json": newStatic(wire.TypeJSON, search)}
	for name, page := range pages {
		answers[name] = newPage(page, base)
	}
	return answers, nil
}

// named finds the pages of the manual that a text names.
var named = regexp.MustCompile(`/?\bdocs(?:/[a-z-]+(?:#[a-z-]+)?)?`)

// linked returns a text as HTML, with links to the pages of the manual that it names.
func linked(text string) template.HTML {
	return template.HTML(named.ReplaceAllStringFunc(template.HTMLEscapeString(text), func(path string) string {
		return `<a href="/` + strings.TrimPrefix(path, "/") + `">` + path + "</a>"
	}))
}

// problemPages returns the pages of problems by their codes: the meaning of each, from the table of problems.
func problemPages(base string) (map[string]*static, error) {
	t, err := template.New("problem").Parse(problemTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse the page of a problem: %w", err)
	}
	pages := map[string]*static{}
	for i := range wire.Kinds {
		k := &wire.Kinds[i]
		var out bytes.Buffer
		err := t.Execute(&out, map[string]any{
			"Style": template.CSS(pageStyle), "Code": k.Code, "Status": k.Status, "StatusText": http.StatusText(k.Status),
			"Title": k.Title, "Detail": k.Detail, "Help": linked(k.Help), "Retry": k.Wait > 0,
		})
		if err != nil {
			return nil, fmt.Errorf("render the page of a problem: %w", err)
		}
		pages[k.Code] = newPage(out.Bytes(), base)
	}
	return pages, nil
}
