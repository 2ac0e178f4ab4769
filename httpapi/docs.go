package httpapi

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
)

// What is shown of openapi.yaml is made when that changes: UPDATE_DOCS=1 go test -run TestDocsAreCurrent ./httpapi
var (
	//go:embed web/openapi.json
	openAPIJSON []byte
	//go:embed web/docs.html
	docsHTML []byte
	//go:embed web/problem.html web/style.html
	problemTemplates embed.FS
)

// openAPI answers GET /openapi.json.
func openAPI(c *call) error {
	c.w.Header().Set("Cache-Control", "no-cache")
	c.send(http.StatusOK, typeJSON, openAPIJSON)
	return nil
}

// docs answers GET /docs.
func docs(c *call) error {
	c.sendPage(docsHTML)
	return nil
}

// pageHandler lets Config.Pages answer.
type pageHandler struct{ handler http.Handler } // nil: there are none

func (h *pageHandler) serve(c *call) error {
	if h.handler == nil {
		return reject(codeNotFound, "")
	}
	c.status = http.StatusOK
	h.handler.ServeHTTP(&pageWriter{c.w, c}, c.r)
	return nil
}

// pageWriter sees the status of an answer.
type pageWriter struct {
	http.ResponseWriter
	call *call
}

func (w *pageWriter) WriteHeader(status int) {
	w.call.status = status
	w.ResponseWriter.WriteHeader(status)
}

// problemPage answers GET /problems/{code}: what a problem means, from the table it is made from.
func problemPage(c *call) error {
	code := c.pathValue("code")
	for i := range kinds {
		if k := &kinds[i]; k.code == code {
			page, err := renderProblem(k)
			if err != nil {
				return err
			}
			c.sendPage(page)
			return nil
		}
	}
	return reject(codeNotFound, "No problem has this code.")
}

func renderProblem(k *kind) ([]byte, error) {
	t, err := template.ParseFS(problemTemplates, "web/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the page of a problem: %w", err)
	}
	var out bytes.Buffer
	err = t.ExecuteTemplate(&out, "problem.html", map[string]any{
		"Code": k.code, "Status": k.status, "StatusText": http.StatusText(k.status), "Title": k.title,
		"Detail": k.detail, "Help": k.help, "Retry": k.wait > 0,
	})
	if err != nil {
		return nil, fmt.Errorf("render the page of a problem: %w", err)
	}
	return out.Bytes(), nil
}

// sendPage answers with HTML that may load nothing and run nothing.
func (c *call) sendPage(html []byte) {
	h := c.w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	c.send(http.StatusOK, "text/html; charset=utf-8", html)
}
