package wire

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// MinCompressed is the length from which a body is sent compressed if the client takes that: a shorter body fits into a packet.
const MinCompressed = 1 << 10

// AcceptsGzip reports whether a client prefers gzip to the plain form (RFC 9110 section 12.5.3).
func AcceptsGzip(h http.Header) bool {
	gzip, identity, other := -1, -1, -1 // weights in thousandths, -1: not named
	for _, value := range h["Accept-Encoding"] {
		for part := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(part, ";")
			switch weight := weightOf(params); strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				gzip = weight
			case "identity":
				identity = weight
			case "*":
				other = weight
			}
		}
	}
	if gzip < 0 {
		gzip = other
	}
	return gzip > 0 && gzip >= identity
}

// weightOf reads the parameters of a coding, "q=0.5", in thousandths: 1000 without any, 0 for any other parameter.
func weightOf(params string) int {
	params = strings.TrimSpace(params)
	if params == "" {
		return 1000
	}
	name, value, _ := strings.Cut(params, "=")
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || !strings.EqualFold(name, "q") || !(q >= 0 && q <= 1) {
		return 0
	}
	return int(q * 1000)
}

// zipper compresses bodies one after another. It takes a megabyte, so a zipper goes back to its pool before an answer waits for a client.
type zipper struct {
	to  *gzip.Writer
	out appended
}

// Zippers are compressors that are not in use. The zero value is ready.
type Zippers struct{ Pool sync.Pool }

type appended []byte

// Write appends p.
func (a *appended) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// Zip appends body to dst, compressed.
func (s *Zippers) Zip(dst, body []byte) []byte {
	z, ok := s.Pool.Get().(*zipper)
	if !ok {
		z = &zipper{to: gzip.NewWriter(io.Discard)}
	}
	z.out = dst
	z.to.Reset(&z.out)
	_, _ = z.to.Write(body) // to memory: it cannot fail
	_ = z.to.Close()
	dst, z.out = z.out, nil
	s.Pool.Put(z)
	return dst
}

// GzipTag returns the ETag of the compressed form of an answer: other bytes have another strong tag.
func GzipTag(etag string) string { return etag[:len(etag)-1] + GzipTagEnd }

// GzipTagEnd is the end of the ETag of a compressed form.
const GzipTagEnd = `-gzip"`
