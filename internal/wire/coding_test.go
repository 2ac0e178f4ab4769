package wire

import (
	"net/http"
	"testing"
)

// TestAcceptsGzip: the cases follow RFC 9110 section 12.5.3.
func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		accept string
		want   bool
	}{
		{"gzip", true},
		{"GZIP", true},
		{"x-gzip", true},
		{"gzip, deflate, br, zstd", true},
		{"deflate;q=1.0,gzip ; q=0.001", true},
		{"br;q=1, gzip;q=0", false},
		{"gzip;q=0.000", false},
		{"*", true},
		{"*;q=0", false},
		{"*;q=0.5, gzip;q=0", false},
		{"gzip;q=1, *;q=0", true},
		{"identity", false},
		{"identity, gzip", true},
		{"identity;q=1, gzip;q=0.5", false},
		{"identity;q=0.5, *;q=0.2", false},
		{"identity;q=0", false}, // the server has no other coding: it sends the plain form
		{"identity;q=0, gzip;q=0.1", true},
		{"deflate, br", false},
		{"", false},
		{"gzip;q=2", false},
		{"gzip;q=x", false},
		{"gzip;level=9", false},
		{"gzip;q=NaN", false},
		{"gzipped", false},
	} {
		if got := AcceptsGzip(http.Header{"Accept-Encoding": {c.accept}}); got != c.want {
			t.Errorf("%q: %t", c.accept, got)
		}
	}
	if AcceptsGzip(http.Header{}) || !AcceptsGzip(http.Header{"Accept-Encoding": {"br", "gzip"}}) {
		t.Error("without the header, or with two of it")
	}
}
