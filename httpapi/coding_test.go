package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// manyEntries is a board whose pages are worth to be compressed.
func manyEntries(t *testing.T) *env {
	e := newEnv(t)
	var entries []leaderboard.Submission
	for i := range 300 {
		entries = append(entries, leaderboard.Submission{Member: fmt.Sprintf("member-%03d", i), Score: int64(1000 - i/2)})
	}
	e.board("many", leaderboard.Rules{}, entries...)
	return e
}

// TestCompressedAnswers: both forms say the same, each under a tag of its own, and either tag is answered with 304.
func TestCompressedAnswers(t *testing.T) {
	e := manyEntries(t)
	e.put(writeKey, "/v1/members/member-001/friends", `{"members":["member-002","member-003","member-004","member-005","member-006","member-007","member-008","member-009","member-010"]}`).want(200)
	const board = "/v1/boards/many/"
	gzip := http.Header{"Accept-Encoding": {"gzip"}}
	for _, path := range []string{
		board + "top?limit=300", board + "top?limit=300&mode=tied", board + "top?limit=300&mode=all", board + "top?limit=300&profiles=true",
		board + "members/member-050/around?before=50&after=50", board + "members/member-001/friends", board + "distribution?buckets=100",
		"/v1/rankings/top?boards=many&limit=100",
	} {
		for range 2 { // made, and kept
			plain, zipped := e.get(readKey, path).want(200), e.do(ask{method: "GET", path: path, key: readKey, header: gzip}).want(200)
			if !bytes.Equal(plain.body, zipped.body) || zipped.zipped == nil || plain.header.Get("Content-Encoding") != "" {
				t.Fatalf("%s: %d and %d bytes, %v", path, len(plain.body), len(zipped.body), zipped.header)
			}
			if n := zipped.header.Get("Content-Length"); n != fmt.Sprint(len(zipped.zipped)) || len(zipped.zipped) > len(plain.body)/2 {
				t.Errorf("%s: %d bytes of %d, Content-Length %s", path, len(zipped.zipped), len(plain.body), n)
			}
			for _, r := range []reply{plain, zipped} {
				if r.header.Get("Vary") != "Accept-Encoding" {
					t.Errorf("%s: Vary is %q", path, r.header.Get("Vary"))
				}
			}
			tag := plain.header.Get("Etag")
			if want := strings.TrimSuffix(tag, `"`) + `-gzip"`; zipped.header.Get("Etag") != want {
				t.Errorf("%s: the tags are %s and %s", path, tag, zipped.header.Get("Etag"))
			}
			for _, had := range []string{tag, zipped.header.Get("Etag")} {
				for _, header := range []http.Header{{"If-None-Match": {had}}, {"If-None-Match": {"W/" + had}, "Accept-Encoding": {"gzip"}}} {
					r := e.do(ask{method: "GET", path: path, key: readKey, header: header}).want(http.StatusNotModified)
					if r.header.Get("Etag") != had || r.header.Get("Vary") == "" || len(r.body) > 0 || r.header.Get("Content-Encoding") != "" {
						t.Errorf("%s: 304 of %s has %v", path, had, r.header)
					}
				}
			}
			e.do(ask{method: "GET", path: path, key: readKey, header: http.Header{"If-None-Match": {`"8-gzip"`}}}).want(200)
		}
	}
	ranks := ask{method: "POST", path: board + "ranks", body: `{"members":["member-0` + strings.Join(strings.Split("0123456789", ""), `1","member-0`) + `1"]}`, header: gzip}
	if r := e.do(ranks).want(200); r.zipped == nil || !strings.Contains(string(r.body), "member-091") || r.header.Get("Vary") == "" {
		t.Errorf("ranks: %v", r.header)
	}
}

// TestNotCompressed: what is small, and what is wrong, is sent as it is.
func TestNotCompressed(t *testing.T) {
	e := manyEntries(t)
	for _, path := range []string{"top?limit=3", "members/member-001", "scores/5/rank", "top?limit=0", "members/" + strings.Repeat("x", 64)} {
		r := e.do(ask{method: "GET", path: "/v1/boards/many/" + path, header: http.Header{"Accept-Encoding": {"gzip"}}})
		if r.zipped != nil || r.header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed: %v", path, r.header)
		}
	}
	if r := e.do(ask{method: "HEAD", path: "/v1/boards/many/top?limit=300", header: http.Header{"Accept-Encoding": {"gzip"}}}).want(200); r.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("HEAD says %v", r.header)
	}
}

// TestCompressedOnce: a page that many get is compressed for the first of them.
func TestCompressedOnce(t *testing.T) {
	api := benchAPI()
	page := api.handlers.reader.Rankings.(*fixed).pages[100]
	r := ask{method: "GET", path: benchPaths["top100"], header: http.Header{"Accept-Encoding": {"gzip"}}}.request()
	var first *coded
	for range 3 {
		api.ServeHTTP(discard{http.Header{}}, r)
		kept := formsOf(page).slot(leaderboard.ModeStrict, false).Load()
		if kept == nil || kept.zipped.Load() == nil || first != nil && kept.zipped.Load() != first {
			t.Fatal("compressed again")
		}
		first = kept.zipped.Load()
	}
}

// TestCompressedExport: it says the same as the plain one. (Those that are broken off are asked for compressed, by the
// client of package http.)
func TestCompressedExport(t *testing.T) {
	e := manyEntries(t)
	for _, path := range []string{"export", "export?format=jsonl"} {
		path = "/v1/boards/many/" + path
		plain := e.get(adminKey, path).want(200)
		zipped := e.do(ask{method: "GET", path: path, key: adminKey, header: http.Header{"Accept-Encoding": {"gzip"}}}).want(200)
		if !bytes.Equal(plain.body, zipped.body) || len(zipped.zipped) == 0 || len(zipped.zipped) > len(plain.body)/2 {
			t.Errorf("%s: %d bytes, compressed %d, of %d", path, len(plain.body), len(zipped.zipped), len(zipped.body))
		}
		if plain.header.Get("Vary") != "Accept-Encoding" || zipped.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Vary is %q", path, zipped.header.Get("Vary"))
		}
	}
}
