package pages

import (
	"net/http"
	"net/url"
)

// Handler serves the pages; api answers their questions.
func (s *Site) Handler(api http.Handler) http.Handler {
	h := handlers{s, api}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.home)
	mux.HandleFunc("GET /boards/", h.board)
	mux.HandleFunc("GET /console", h.console)
	mux.HandleFunc("GET /assets/{file}", h.asset)
	mux.HandleFunc("GET /boards", h.nothing) // or the mux redirects to /boards/
	mux.HandleFunc("GET /", h.nothing)
	return mux
}

// asset answers GET /assets/{file}.
func (h *handlers) asset(w http.ResponseWriter, r *http.Request) {
	a := h.site.assets.files[r.PathValue("file")]
	if a == nil {
		a = accentSheet(r.PathValue("file"))
	}
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

// nothing answers a person with 404 and a page.
func (h *handlers) nothing(w http.ResponseWriter, r *http.Request) {
	out := h.site.view(r)
	out.Title, out.Problem = out.SiteTitle(), &rejection{Status: http.StatusNotFound, noPage: true}
	h.site.render(w, r, http.StatusNotFound, "home", out)
}

// console answers GET /console. It speaks English alone.
func (h *handlers) console(w http.ResponseWriter, r *http.Request) {
	h.site.render(w, r, http.StatusOK, "console", &view{Title: "Console", language: h.site.languages.english, place: linkBase{base: h.site.base}})
}
