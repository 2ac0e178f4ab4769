package httpapi

import (
	"net/http"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

var readingPaths = []string{
	"top", "top?limit=3", "top?mode=tied", "top?offset=1", "members/5", "members/4", "members/5/around", "members/5/around?before=1",
	"scores/80/rank", "scores/81/rank", "scores/80/rank?tiebreak=1", "distribution", "distribution?buckets=3",
}

func TestETags(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	seen := map[string]string{}
	for _, path := range readingPaths {
		path = "/v1/boards/classic/" + path
		full := e.Get(apitest.NoKey, path).Want(200)
		etag := full.Header.Get("Etag")
		if other, ok := seen[etag]; ok {
			t.Errorf("%s has the tag of %s", path, other)
		}
		seen[etag] = path
		if cc := full.Header.Get("Cache-Control"); cc != "public, no-cache" {
			t.Errorf("%s: Cache-Control is %q", path, cc)
		}
		for _, match := range []string{etag, "W/" + etag, `"other", ` + etag, `W/"a",W/"b" ,` + etag, "*"} {
			r := e.Do(apitest.Ask{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {match}}})
			r.Want(http.StatusNotModified)
			if len(r.Body) != 0 || r.Header.Get("Etag") != etag || r.Header.Get("Cache-Control") == "" {
				t.Errorf("%s: 304 has header %v and %d bytes", path, r.Header, len(r.Body))
			}
		}
		for _, match := range []string{`"other"`, etag[1 : len(etag)-1], `"` + etag + `"`, `"broken`, ""} {
			e.Do(apitest.Ask{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {match}}}).Want(200)
		}
	}
}

// TestETagIdentity: a tag names state and question: it survives another source and another spelling, and not a change.
func TestETagIdentity(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("other", leaderboard.Rules{}, apitest.Classic()...)
	tag := func(path string) string { return e.Get(apitest.NoKey, "/v1/boards/"+path).Want(200).Header.Get("Etag") }
	before := tag("classic/top")
	e.fake.Source = leaderboard.SourceMySQL
	for _, path := range []string{"classic/top", "classic/top?limit=10&offset=0&mode=strict", "classic/top?period=current&window=all_time&min_seq=3", "classic/top?offset=0&limit=%310"} {
		if got := tag(path); got != before {
			t.Errorf("%s has the tag %s, not %s", path, got, before)
		}
	}
	if tag("other/top") == before {
		t.Error("two boards have the same tag")
	}
	e.Post(apitest.WriteKey, "/v1/boards/classic/scores", `{"entries":[{"member":"9","score":1}]}`).Want(200)
	if tag("classic/top") == before {
		t.Error("a write left the tag as it was")
	}
}

// TestStaleAnswers: a stale answer is not kept and always sent whole, so that its reader learns that it is stale. It is
// when the board could not be looked up, too, whatever was kept of the same answer.
func TestStaleAnswers(t *testing.T) {
	for cause, begin := range map[string]func(*fake){
		"the answer": func(f *fake) { f.Stale = true }, "the board": func(f *fake) { f.Unseen = true },
	} {
		e := newEnv(t)
		e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
		etag := e.Get(apitest.NoKey, "/v1/boards/classic/top").Header.Get("Etag")
		paths := []string{"/v1/rankings/top?boards=classic"}
		for _, path := range readingPaths {
			paths = append(paths, "/v1/boards/classic/"+path)
		}
		for _, path := range paths {
			e.Get(apitest.NoKey, path).Want(200)
		}
		begin(e.fake)
		for _, path := range paths {
			r := e.Do(apitest.Ask{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {etag, "*"}}}).Want(200)
			if cc := r.Header.Get("Cache-Control"); cc != "no-store" {
				t.Errorf("%s, %s: Cache-Control is %q", cause, path, cc)
			}
			var got apitest.Rows
			if r.Decode(&got); !got.Stale {
				t.Errorf("%s: %s does not say that it is stale", cause, path)
			}
		}
	}
}

func TestHead(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	srv := newServer(t, e)
	plain := http.Header{"Accept-Encoding": {"identity"}} // without it the client asks for gzip in a GET, but not in a HEAD
	for _, path := range append(readingPaths, "", "periods") {
		full := srv.do(apitest.Ask{Method: "GET", Path: "/v1/boards/classic/" + path, Header: plain})
		head := srv.do(apitest.Ask{Method: "HEAD", Path: "/v1/boards/classic/" + path})
		if path == "" {
			full = srv.do(apitest.Ask{Method: "GET", Path: "/v1/boards/classic"})
			head = srv.do(apitest.Ask{Method: "HEAD", Path: "/v1/boards/classic"})
		}
		for _, name := range []string{"Etag", "Content-Length", "Content-Type", "Cache-Control"} {
			if head.Header.Get(name) != full.Header.Get(name) {
				t.Errorf("%s: %s is %q for HEAD and %q for GET", path, name, head.Header.Get(name), full.Header.Get(name))
			}
		}
		if head.Want(200); len(head.Body) != 0 {
			t.Errorf("%s: HEAD has a body", path)
		}
	}
	if r := srv.do(apitest.Ask{Method: "HEAD", Path: "/v1/boards/none/top"}); r.Status != 404 {
		t.Errorf("HEAD of nothing answers %d", r.Status)
	}
}

// TestETagOfAllRanks: answers of copies with and without dense ranks differ in their tags.
func TestETagOfAllRanks(t *testing.T) {
	known, unknown := []leaderboard.Ranked{{Ranks: leaderboard.Ranks{Dense: 3}}}, []leaderboard.Ranked{{}}
	if wire.EmptyETag.DenseOf(leaderboard.ModeAll, known) == wire.EmptyETag.DenseOf(leaderboard.ModeAll, unknown) {
		t.Error("answers that know dense ranks and such that do not have one ETag")
	}
	if wire.EmptyETag.DenseOf(leaderboard.ModeTied, known) != wire.EmptyETag.DenseOf(leaderboard.ModeTied, unknown) {
		t.Error("what an answer does not tell has a part in its ETag")
	}
}

// TestOtherIncarnation: neither a tag nor a cursor of a period is one of another that has its id since a restore.
func TestOtherIncarnation(t *testing.T) {
	t.Parallel()
	rules := leaderboard.Rules{}.WithDefaults()
	lost, made := leaderboard.PeriodRef{ID: 7, Incarnation: 1, Rules: &rules}, leaderboard.PeriodRef{ID: 7, Incarnation: 2, Rules: &rules}
	key := string(rank.CodecOf(&rules).Key(leaderboard.Entry{Member: "m"}))
	if _, ok := wire.AfterKey(&made, wire.EntriesOf(&lost).Cursor(key)); ok {
		t.Error("a cursor of the lost period continues in the new one")
	}
	tag := func(ref *leaderboard.PeriodRef) wire.ETag {
		return wire.NewETag(ref, &leaderboard.State{Revision: leaderboard.Revision{Incarnation: ref.Incarnation, Seq: 3, AsOf: 4}}, "top", leaderboard.ModeStrict)
	}
	combined := func(ref leaderboard.PeriodRef) wire.ETag {
		s := Selection{Refs: []leaderboard.PeriodRef{ref}}
		return s.etag("top", []leaderboard.State{{Revision: leaderboard.Revision{Incarnation: ref.Incarnation, Seq: 3, AsOf: 4}}})
	}
	if tag(&lost) == tag(&made) || combined(lost) == combined(made) {
		t.Error("the new period has the tag of the lost one")
	}
}
