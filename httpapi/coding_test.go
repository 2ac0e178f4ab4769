package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// manyEntries is a board whose pages are worth to be compressed.
func manyEntries(t *testing.T) *env {
	e := newEnv(t)
	var entries []leaderboard.Submission
	for i := range 300 {
		entries = append(entries, leaderboard.Submission{Member: fmt.Sprintf("member-%03d", i), Score: int64(1000 - i/2)})
	}
	e.Board("many", leaderboard.Rules{}, entries...)
	return e
}

// TestCompressedAnswers: both forms have the same content, each has a different tag, and either tag is answered with 304.
func TestCompressedAnswers(t *testing.T) {
	e := manyEntries(t)
	const board = "/v1/boards/many/"
	gzip := http.Header{"Accept-Encoding": {"gzip"}}
	for _, path := range []string{
		board + "top?limit=300", board + "top?limit=300&mode=tied", board + "top?limit=300&mode=all", board + "top?limit=300&profiles=true",
		board + "members/member-050/around?before=50&after=50", board + "distribution?buckets=100",
		"/v1/rankings/top?boards=many&limit=100",
	} {
		for range 2 { // made, and kept
			plain, zipped := e.Get(apitest.ReadKey, path).Want(200), e.Do(apitest.Ask{Method: "GET", Path: path, Key: apitest.ReadKey, Header: gzip}).Want(200)
			if !bytes.Equal(plain.Body, zipped.Body) || zipped.Zipped == nil || plain.Header.Get("Content-Encoding") != "" {
				t.Fatalf("%s: %d and %d bytes, %v", path, len(plain.Body), len(zipped.Body), zipped.Header)
			}
			if n := zipped.Header.Get("Content-Length"); n != fmt.Sprint(len(zipped.Zipped)) || len(zipped.Zipped) > len(plain.Body)/2 {
				t.Errorf("%s: %d bytes of %d, Content-Length %s", path, len(zipped.Zipped), len(plain.Body), n)
			}
			for _, r := range []apitest.Reply{plain, zipped} {
				if r.Header.Get("Vary") != "Accept-Encoding" {
					t.Errorf("%s: Vary is %q", path, r.Header.Get("Vary"))
				}
			}
			tag := plain.Header.Get("Etag")
			if want := strings.TrimSuffix(tag, `"`) + `-gzip"`; zipped.Header.Get("Etag") != want {
				t.Errorf("%s: the tags are %s and %s", path, tag, zipped.Header.Get("Etag"))
			}
			for _, had := range []string{tag, zipped.Header.Get("Etag")} {
				for _, header := range []http.Header{{"If-None-Match": {had}}, {"If-None-Match": {"W/" + had}, "Accept-Encoding": {"gzip"}}} {
					r := e.Do(apitest.Ask{Method: "GET", Path: path, Key: apitest.ReadKey, Header: header}).Want(http.StatusNotModified)
					if r.Header.Get("Etag") != had || r.Header.Get("Vary") == "" || len(r.Body) > 0 || r.Header.Get("Content-Encoding") != "" {
						t.Errorf("%s: 304 of %s has %v", path, had, r.Header)
					}
				}
			}
			e.Do(apitest.Ask{Method: "GET", Path: path, Key: apitest.ReadKey, Header: http.Header{"If-None-Match": {`"8-gzip"`}}}).Want(200)
		}
	}
	ranks := apitest.Ask{Method: "POST", Path: board + "ranks", Body: `{"members":["member-0` + strings.Join(strings.Split("0123456789", ""), `1","member-0`) + `1"]}`, Header: gzip}
	if r := e.Do(ranks).Want(200); r.Zipped == nil || !strings.Contains(string(r.Body), "member-091") || r.Header.Get("Vary") == "" {
		t.Errorf("ranks: %v", r.Header)
	}
}

// TestNotCompressed: small answers and errors are not compressed.
func TestNotCompressed(t *testing.T) {
	e := manyEntries(t)
	for _, path := range []string{"top?limit=3", "members/member-001", "scores/5/rank", "top?limit=0", "members/" + strings.Repeat("x", 64)} {
		r := e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/many/" + path, Header: http.Header{"Accept-Encoding": {"gzip"}}})
		if r.Zipped != nil || r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed: %v", path, r.Header)
		}
	}
	if r := e.Do(apitest.Ask{Method: "HEAD", Path: "/v1/boards/many/top?limit=300", Header: http.Header{"Accept-Encoding": {"gzip"}}}).Want(200); r.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("HEAD says %v", r.Header)
	}
}

// TestCompressedOnce: a page that many get is compressed for the first of them.
func TestCompressedOnce(t *testing.T) {
	api := benchAPI()
	page := api.handlers.reader.Rankings.(*fixed).pages[100]
	r := apitest.Ask{Method: "GET", Path: benchPaths["top100"], Header: http.Header{"Accept-Encoding": {"gzip"}}}.Request()
	var first *coded
	for range 3 {
		api.ServeHTTP(discard{http.Header{}}, r)
		kept := formsOf(page).slot(leaderboard.ModeStrict, false, false).Load()
		if kept == nil || kept.zipped.Load() == nil || first != nil && kept.zipped.Load() != first {
			t.Fatal("compressed again")
		}
		first = kept.zipped.Load()
	}
}
