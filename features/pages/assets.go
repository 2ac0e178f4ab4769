package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed all:built
var built embed.FS

// asset is an encoded file of the folder built.
type asset struct {
	kind    string // media type
	etag    string
	plain   []byte
	gzipped []byte // nil when it would not be shorter
}

// sources are the files that a page loads.
type sources struct {
	Script  string
	Styles  []string
	Preload []string // modules that the script imports
}

// assets are all files of built by name, and the entries of pages by name.
type assets struct {
	at      string // address of the folder
	files   map[string]*asset
	entries map[string]sources
}

// chunk is an entry of vite's manifest.
type chunk struct {
	File    string   `json:"file"`
	CSS     []string `json:"css"`
	Imports []string `json:"imports"`
	IsEntry bool     `json:"isEntry"`
	Name    string   `json:"name"`
}

// loadAssets reads and compresses the built files.
func loadAssets(from fs.FS, base string) (*assets, error) {
	out := &assets{at: base + "/assets/", files: map[string]*asset{}, entries: map[string]sources{}}
	files, err := fs.ReadDir(from, ".")
	if err != nil {
		return nil, fmt.Errorf("list what is built: %w", err)
	}
	for _, f := range files {
		if f.Name() == "licenses.json" { // for releases
			continue
		}
		body, err := fs.ReadFile(from, f.Name())
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		if f.Name() == "manifest.json" {
			err = out.readManifest(body)
		} else {
			out.files[f.Name()], err = newAsset(f.Name(), body)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *assets) readManifest(body []byte) error {
	var manifest map[string]chunk
	if err := json.Unmarshal(body, &manifest); err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	for _, c := range manifest {
		if !c.IsEntry {
			continue
		}
		e := sources{Script: a.at + c.File}
		e.add(a.at, manifest, &c, map[string]bool{})
		a.entries[c.Name] = e
	}
	return nil
}

// add adds the files that a chunk needs. The styles of its imports come first.
func (e *sources) add(at string, manifest map[string]chunk, c *chunk, seen map[string]bool) {
	for _, name := range c.Imports {
		if seen[name] {
			continue
		}
		seen[name] = true
		next := manifest[name]
		e.Preload = append(e.Preload, at+next.File)
		e.add(at, manifest, &next, seen)
	}
	for _, css := range c.CSS {
		e.Styles = append(e.Styles, at+css)
	}
}

func newAsset(name string, body []byte) (*asset, error) {
	sum := sha256.Sum256(body)
	a := &asset{kind: mediaType(name), etag: `"` + hex.EncodeToString(sum[:8]) + `"`, plain: body}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress %s: %w", name, err)
	}
	if out.Len() < len(body) {
		a.gzipped = out.Bytes()
	}
	return a, nil
}

// mediaType does not ask the machine, where a script may be text/plain.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".png":
		return "image/png"
	case ".jpg":
		return "image/jpeg"
	case ".webp":
		return "image/webp"
	default:
		return mime.TypeByExtension(path.Ext(name))
	}
}

// serve sends a file. Its name changes with its content, so clients may keep it for good.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body, etag := a.plain, a.etag
	if a.gzipped != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body, etag = a.gzipped, strings.TrimSuffix(etag, `"`)+`-gzip"`
	}
	send(w, r, http.StatusOK, etag, body)
}

// send sends a body, unless the client has it already.
func send(w http.ResponseWriter, r *http.Request, status int, etag string, body []byte) {
	h := w.Header()
	h.Set("ETag", etag)
	if status == http.StatusOK && strings.Contains(r.Header.Get("If-None-Match"), etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error means that the client has gone
	}
}

// acceptsGzip reports whether a client accepts gzip. Browsers say so plainly; other forms count as no.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		coding, params, weighed := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(params), "=")
		weight, err := strconv.ParseFloat(value, 64)
		return !weighed || strings.EqualFold(name, "q") && err == nil && weight > 0
	}
	return false
}
