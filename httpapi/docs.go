package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"leaderboard/api"
	"leaderboard/docs"
	"leaderboard/httpapi/internal/manual"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// make generate-docs makes these files. Run it when openapi.yaml, README.md, web/style.css or web/manual.js change.
var (
	//go:embed web/openapi.json
	openAPIJSON []byte
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

// docPages serves the document of the API and pages for people. Each page is made once, at the first request for it.
type docPages struct {
	yaml, json, page func() *static
	problems         func() (map[string]*static, error) // by code
	documents        func() (map[string]*static, error) // by the last part of their paths
	pages            *pageHandler                       // answers requests for a page that is missing here
}

func newDocPages(base string, pages *pageHandler) docPages {
	return docPages{
		yaml:      sync.OnceValue(func() *static { return newStatic("application/yaml", basedDocument(api.OpenAPI(), base)) }),
		json:      sync.OnceValue(func() *static { return newStatic(wire.TypeJSON, basedDocument(openAPIJSON, base)) }),
		page:      sync.OnceValue(func() *static { return newPage(docsHTML, base) }),
		problems:  sync.OnceValues(func() (map[string]*static, error) { return problemPages(base) }),
		documents: sync.OnceValues(func() (map[string]*static, error) { return documentPages(base) }),
		pages:     pages,
	}
}

// openAPIYAML answers GET /openapi.yaml.
func (m *docPages) openAPIYAML(c *Call) error { return m.yaml().send(c) }

// openAPIJSON answers GET /openapi.json.
func (m *docPages) openAPIJSON(c *Call) error { return m.json().send(c) }

// reference answers GET /docs.
func (m *docPages) reference(c *Call) error { return m.page().send(c) }

// problemPage answers GET /problems/{code}: the meaning of a problem, from the table of problems.
func (m *docPages) problemPage(c *Call) error {
	pages, err := m.problems()
	if err != nil {
		return err
	}
	if p := pages[c.Params.PathValue("code")]; p != nil {
		return p.send(c)
	}
	return m.pages.missing(c, "No problem has this code.")
}

// document answers GET /docs/{page}: a document of docs, or the data for the search of all documents.
func (m *docPages) document(c *Call) error {
	pages, err := m.documents()
	if err != nil {
		return err
	}
	if p := pages[c.Params.PathValue("page")]; p != nil {
		return p.send(c)
	}
	return m.pages.missing(c, "The manual has no such page.")
}

func documentPages(base string) (map[string]*static, error) {
	m, err := manual.New(docs.Files, introduction, pageStyle, pageScript)
	if err != nil {
		return nil, err
	}
	pages := map[string]*static{"search.json": newStatic(wire.TypeJSON, m.Search)}
	for _, p := range m.Pages {
		pages[p.Name] = newPage(p.HTML, base)
	}
	return pages, nil
}

// pageHandler lets Config.Pages answer.
type pageHandler struct{ handler http.Handler } // nil: no pages

func (h *pageHandler) serve(c *Call) error {
	if h.handler == nil {
		return wire.Reject(wire.CodeNotFound, "")
	}
	h.handler.ServeHTTP(&pageWriter{c.W, c}, c.R)
	if c.Status == 0 {
		c.Status = http.StatusOK // the status of an empty answer
	}
	return nil
}

// missing answers 404 for an address without a route: with a page for a browser that shows one, with a problem and a detail for
// all others. A browser whose address ends in a slash is sent to the address without the slash.
func (h *pageHandler) missing(c *Call, detail string) error {
	at, bare := c.R.URL.Path, strings.TrimSuffix(c.R.URL.EscapedPath(), "/")
	slashed := path.Clean(at)+"/" == at
	isPlain := slashed || path.Clean(at) == at
	if !isPlain || strings.HasPrefix(at, "/v1/") || c.R.Method != http.MethodGet && c.R.Method != http.MethodHead || !strings.Contains(c.R.Header.Get("Accept"), "text/html") {
		return wire.Reject(wire.CodeNotFound, detail)
	}
	if !slashed && h.handler == nil {
		return wire.Reject(wire.CodeNotFound, detail)
	}
	c.W.Header().Add("Vary", "Accept")
	if !slashed {
		return h.serve(c)
	}
	if c.R.URL.RawQuery != "" {
		bare += "?" + c.R.URL.RawQuery
	}
	c.Locate(bare)
	c.SendNothing(http.StatusPermanentRedirect)
	return nil
}

// pictureWork is how many units of heavy work a picture counts for.
const pictureWork = 5

// picture is serve for a picture, which is charged for the work to draw it.
func (h *pageHandler) picture(c *Call) error {
	if err := c.Charge(leaderboard.Charge{leaderboard.QuotaKindHeavy: pictureWork}); err != nil {
		return err
	}
	return h.serve(c)
}

// pageWriter sees the status of an answer.
type pageWriter struct {
	http.ResponseWriter
	call *Call
}

func (w *pageWriter) WriteHeader(status int) {
	w.call.Status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write sends an answer without WriteHeader, whose status is 200.
func (w *pageWriter) Write(p []byte) (int, error) {
	if w.call.Status == 0 {
		w.call.Status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

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
			"Title": k.Title, "Detail": k.Detail, "Help": k.Help, "Retry": k.Wait > 0,
		})
		if err != nil {
			return nil, fmt.Errorf("render the page of a problem: %w", err)
		}
		pages[k.Code] = newPage(out.Bytes(), base)
	}
	return pages, nil
}

// static is an answer that is the same for as long as the process runs, in both its forms.
type static struct {
	contentType   string
	policy        string // Content-Security-Policy, of pages
	etag          string // of the plain form
	plain, zipped []byte
}

func newStatic(contentType string, body []byte) *static {
	hash := sha256.Sum256(body)
	f := &static{contentType: contentType, etag: `"` + hex.EncodeToString(hash[:16]) + `"`, plain: body}
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = z.Write(body)                                    // to memory: it cannot fail
	_ = z.Close()
	f.zipped = out.Bytes()
	return f
}

// newPage returns HTML that may use its own style and script and ask its own origin, and nothing else.
func newPage(html []byte, base string) *static {
	html = based(html, base)
	f := newStatic("text/html; charset=utf-8", html)
	f.policy = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	for _, kind := range []string{"style", "script"} {
		for _, m := range regexp.MustCompile(`(?s)<`+kind+`>(.*?)</`+kind+`>`).FindAllSubmatch(html, -1) {
			hash := sha256.Sum256(m[1])
			f.policy += "; " + kind + "-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
			if kind == "script" {
				f.policy += "; connect-src 'self'"
			}
		}
	}
	return f
}

// send answers with the form that the client prefers, or with 304 if the client has the answer.
func (s *static) send(c *Call) error {
	h := c.W.Header()
	h.Set("Cache-Control", "no-cache")
	h["Vary"] = c.shared.values.vary
	if s.policy != "" {
		h.Set("Content-Security-Policy", s.policy)
		h.Set("Referrer-Policy", "no-referrer")
	}
	if tag, ok := wire.NoneMatch(c.R.Header["If-None-Match"], s.etag); ok {
		h["Etag"] = []string{tag}
		c.SendNothing(http.StatusNotModified)
		return nil
	}
	body, etag := s.plain, s.etag
	if wire.AcceptsGzip(c.R.Header) {
		body, etag = s.zipped, wire.GzipTag(s.etag)
		h["Content-Encoding"] = c.shared.values.gzip
	}
	h["Etag"] = []string{etag}
	h.Set("Content-Type", s.contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.Status = http.StatusOK
	c.W.WriteHeader(http.StatusOK)
	_, _ = c.W.Write(body) // a client that is gone misses nothing
	return nil
}
