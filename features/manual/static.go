package manual

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"leaderboard/httpapi"
	"leaderboard/internal/wire"
)

// static is an answer that is the same for as long as the process runs, in both its forms.
type static struct {
	contentType   string
	policy        string // Content-Security-Policy, of pages
	etag          string // of the plain form
	plain, zipped []byte
}

func newStatic(contentType string, body []byte) *static {
	hash := sha256.Sum256(body)
	s := &static{contentType: contentType, etag: `"` + hex.EncodeToString(hash[:16]) + `"`, plain: body}
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = z.Write(body)                                    // to memory: it cannot fail
	_ = z.Close()
	s.zipped = out.Bytes()
	return s
}

// newPage returns HTML that may use its own style and script and ask its own origin, and nothing else.
func newPage(html []byte, base string) *static {
	html = based(html, base)
	s := newStatic("text/html; charset=utf-8", html)
	s.policy = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	for _, kind := range []string{"style", "script"} {
		for _, m := range regexp.MustCompile(`(?s)<`+kind+`>(.*?)</`+kind+`>`).FindAllSubmatch(html, -1) {
			hash := sha256.Sum256(m[1])
			s.policy += "; " + kind + "-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
			if kind == "script" {
				s.policy += "; connect-src 'self'"
			}
		}
	}
	return s
}

// send answers with the form that the client prefers, or with 304 if the client has the answer.
func (s *static) send(c *httpapi.Call) error {
	h := c.W.Header()
	h.Set("Cache-Control", "no-cache")
	c.Vary()
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
		h.Set("Content-Encoding", "gzip")
	}
	h["Etag"] = []string{etag}
	h.Set("Content-Type", s.contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.Status = http.StatusOK
	c.W.WriteHeader(http.StatusOK)
	_, _ = c.W.Write(body) // a client that is gone misses nothing
	return nil
}
