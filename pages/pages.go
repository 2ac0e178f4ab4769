package pages

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
)

//go:embed templates
var templates embed.FS

// Site holds templates and files. It is immutable.
type Site struct {
	assets   *assets
	template *template.Template
}

// Load reads the embedded files. An error is a fault of the build.
func Load() (*Site, error) {
	files, err := fs.Sub(built, "built")
	if err != nil {
		return nil, fmt.Errorf("find what is built: %w", err)
	}
	s := &Site{}
	if s.assets, err = loadAssets(files); err != nil {
		return nil, err
	}
	if s.template, err = template.New("pages").Funcs(template.FuncMap{"number": number, "moment": moment, "window": windowName}).ParseFS(templates, "templates/*.html"); err != nil {
		return nil, fmt.Errorf("parse the templates: %w", err)
	}
	return s, nil
}

// Handler serves the pages; api answers their questions.
func (s *Site) Handler(api http.Handler) http.Handler {
	h := handlers{s, api}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.home)
	mux.HandleFunc("GET /boards/", h.board)
	mux.HandleFunc("GET /console", h.console)
	mux.HandleFunc("GET /assets/{file}", h.asset)
	return mux
}

// handlers serve pages. Their methods may be called concurrently.
type handlers struct {
	site *Site
	api  http.Handler
}

// asset answers GET /assets/{file}.
func (h *handlers) asset(w http.ResponseWriter, r *http.Request) {
	a := h.site.assets.files[r.PathValue("file")]
	if a == nil {
		h.missing(w, r)
		return
	}
	a.serve(w, r)
}

// missing lets the API answer 404, as it does for every unknown address.
func (h *handlers) missing(w http.ResponseWriter, r *http.Request) {
	missing := r.Clone(r.Context())
	missing.URL = &url.URL{Path: "/v1" + r.URL.Path}
	h.api.ServeHTTP(w, missing)
}

// console answers GET /console.
func (h *handlers) console(w http.ResponseWriter, r *http.Request) {
	h.site.render(w, r, http.StatusOK, "console", &view{Title: "Console"})
}
