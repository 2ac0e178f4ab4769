package pages

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
)

// policy lets a page load only files of this server. Other sites may frame only the pages that are made for it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors "

//go:embed templates
var templates embed.FS

// Site holds templates and files, and the pictures that were drawn. Its methods may be called concurrently.
type Site struct {
	assets    *assets
	template  *template.Template
	painter   *painter
	face      *face
	languages *languages
	base      string
}

// Options are an operator's choices.
type Options struct {
	Face Face
	Font []byte // a font file for the letters in share pictures that the embedded fonts lack; nil: none
	// Base is the path below which the service is, such as /games; "": the root. Handler gets requests without it.
	Base string
	// Language is for readers whose languages the pages do not have; "": DefaultLanguage.
	Language string
}

// Load reads the embedded files. An error is a fault of the operator's files, or of the build.
func Load(o *Options) (*Site, error) {
	files, err := fs.Sub(built, "built")
	if err != nil {
		return nil, fmt.Errorf("find what is built: %w", err)
	}
	s := &Site{base: o.Base}
	if s.languages, err = loadLanguages(cmp.Or(o.Language, DefaultLanguage)); err != nil {
		return nil, err
	}
	if s.assets, err = loadAssets(files, o.Base); err != nil {
		return nil, err
	}
	if s.face, err = s.assets.dress(&o.Face); err != nil {
		return nil, err
	}
	if s.painter, err = newPainter(o.Font); err != nil {
		return nil, err
	}
	for _, l := range s.languages.all {
		l.drawn = s.languages.legible(l, s.painter.fonts)
	}
	if s.template, err = template.New("pages").Funcs(template.FuncMap{"bdi": bdi, "link": link, "when": when}).ParseFS(templates, "templates/*.html"); err != nil {
		return nil, fmt.Errorf("parse the templates: %w", err)
	}
	return s, nil
}

// handlers serve pages. Their methods may be called concurrently.
type handlers struct {
	site *Site
	api  http.Handler
}

// render sends the page that a template makes.
func (s *Site) render(w http.ResponseWriter, r *http.Request, status int, name string, v *view) {
	v.Entry = s.assets.entries[name]
	if v.Face == nil {
		v.Face = s.face
	}
	vary := "Accept-Encoding"
	if name != "console" {
		vary += ", Accept-Language"
	}
	var body bytes.Buffer
	if err := s.template.ExecuteTemplate(&body, name+".html", v); err != nil {
		panic(err) // the server answers 500 and logs it
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", vary)
	h.Set("Content-Language", v.Tag)
	h.Set("Referrer-Policy", "no-referrer")
	if v.Problem != nil && v.Problem.Again() != "" {
		h.Set("Retry-After", v.Problem.Again())
	}
	if v.Embed {
		h.Set("Content-Security-Policy", policy+"*")
	} else {
		h.Set("Content-Security-Policy", policy+"'none'")
	}
	sum := sha256.Sum256(body.Bytes())
	etag, out := hex.EncodeToString(sum[:8]), body.Bytes()
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		etag, out = etag+"-gzip", zip(out)
	}
	send(w, r, status, `"`+etag+`"`, out)
}

// zip compresses a page. Nothing can go wrong in memory.
func zip(page []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(page)
	_ = w.Close()
	return out.Bytes()
}
