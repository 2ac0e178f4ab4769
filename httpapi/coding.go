package httpapi

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// minCompressed is the length from which on a body is sent compressed to who asks for it: a shorter one fits into a
// packet as it is.
const minCompressed = 1 << 10

// takesGzip says whether a client would rather have gzip than the plain form (RFC 9110 section 12.5.3).
func takesGzip(h http.Header) bool {
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

// weightOf reads the parameters of a coding, "q=0.5", in thousandths: 1000 without any, 0 when they are something else.
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

// zipper compresses bodies one after another. It takes a megabyte, so nothing has one while it waits for a client.
type zipper struct {
	to  *gzip.Writer
	out appended
}

type appended []byte

// Write appends p.
func (a *appended) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// zip appends body to dst, compressed.
func (s *shared) zip(dst, body []byte) []byte {
	z, ok := s.zippers.Get().(*zipper)
	if !ok {
		z = &zipper{to: gzip.NewWriter(io.Discard)}
	}
	z.out = dst
	z.to.Reset(&z.out)
	_, _ = z.to.Write(body) // to memory: it cannot fail
	_ = z.to.Close()
	dst, z.out = z.out, nil
	s.zippers.Put(z)
	return dst
}

// gzipTag returns the ETag of the compressed form of an answer: other bytes have another strong tag.
func gzipTag(etag string) string { return etag[:len(etag)-1] + gzipTagEnd }

const gzipTagEnd = `-gzip"`
