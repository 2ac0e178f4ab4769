package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// oneKey is a keyring with one key, whatever its secret is.
type oneKey leaderboard.Key

func (k *oneKey) Find(_ context.Context, id string, _ leaderboard.KeyHash, _ time.Time) (*leaderboard.Key, error) {
	if id != k.ID {
		return nil, leaderboard.ErrKeyNotFound
	}
	return (*leaderboard.Key)(k), nil
}

// withKey makes an API know a key of the database, and returns how it is used.
func withKey(t *testing.T, scope leaderboard.Scope, boards ...string) (e *env, key string) {
	t.Helper()
	id := leaderboard.NewKeyID()
	key, _ = leaderboard.NewKeySecret(id)
	return newEnv(t, func(c *Config) { c.Keyring = &oneKey{ID: id, Name: "k", Scope: scope, Boards: boards} }), key
}

// told is all that an answer says but for its date and the id of its request.
func told(r reply) (string, http.Header) {
	h := r.header.Clone()
	body := strings.ReplaceAll(string(r.body), h.Get("X-Request-Id"), "")
	h.Del("Date")
	h.Del("X-Request-Id")
	h.Del("Content-Length") // the ids of requests are of different lengths
	return fmt.Sprint(r.status, " ", body), h
}

// queriesOf returns queries of a route, good ones and bad ones.
func queriesOf(rt *Route) []string {
	out := []string{"", "?nothing=1"}
	for _, name := range rt.Params {
		for _, value := range map[string][]string{
			"window": {"season", "all_time", "hour", "foo"}, "period": {"current", "previous", "2020", "first", "x&window=season"}, "mode": {"all", "x"},
			"min_seq": {"9"}, "limit": {"1", "x"}, "offset": {"1"}, "cursor": {"x"}, "profiles": {"true"}, "before": {"1"}, "after": {"1"}, "buckets": {"2"},
			"tiebreak": {"1"}, "fields": {"level:1"}, "against": {"sources"}, "format": {"jsonl"}, "q": {"ada", "ada&limit=1", "a"},
		}[name] {
			out = append(out, "?"+name+"="+value)
		}
	}
	return out
}

// TestPrivateBoardsAreNotThere: on every route that names a board, a caller that may not read a private one gets the answer for a
// board that does not exist, to the byte: without a key, and with one for other boards (finding F27).
func TestPrivateBoardsAreNotThere(t *testing.T) {
	e, other := withKey(t, leaderboard.ScopeRead, "open", "game1-*")
	private := leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}
	e.board("open", leaderboard.Rules{}, classic()...)
	e.board("p-plain", private, classic()...)
	private.Windows = []leaderboard.Window{leaderboard.WindowSeason, leaderboard.WindowAllTime}
	private.Seasons = []leaderboard.SeasonRule{{Name: "first", StartsAt: leaderboard.MaxTime - 2, EndsAt: leaderboard.MaxTime - 1}}
	e.board("p-early", private) // before its first season, which is its first window
	derived := leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "open"}}}}
	e.board("p-derived", derived)
	bodies := map[string]string{
		"POST /v1/boards/{board}/ranks": `{"members":["5","nobody"]}`, "POST /v1/boards/{board}/scores": `{"entries":[{"member":"m","score":1}]}`,
	}
	compared := 0
	for _, rt := range (&handlers{}).routes(true) {
		if !strings.Contains(rt.Path, "{board}") {
			continue
		}
		for _, query := range queriesOf(&rt) {
			for _, key := range []string{noKey, other} {
				for _, match := range []string{"", "*"} {
					a := ask{method: rt.Method, key: key, body: bodies[rt.Method+" "+rt.Path], undocumented: true, header: http.Header{}}
					if match != "" {
						a.header["If-None-Match"] = []string{match}
					}
					answer := func(board string) (string, http.Header) {
						a.path = strings.NewReplacer("{board}", board, "{member}", "5", "{score}", "1").Replace(rt.Path) + query
						return told(e.do(a))
					}
					want, wantHeader := answer("none")
					if strings.HasPrefix(want, "200") {
						t.Fatalf("%s %s: there is a board called none: %s", rt.Method, rt.Path, want)
					}
					for _, board := range []string{"p-plain", "p-early", "p-derived"} {
						compared++
						if got, header := answer(board); got != want || !reflect.DeepEqual(header, wantHeader) {
							t.Errorf("%s %s of %s:\n%s %v, want\n%s %v", rt.Method, rt.Path+query, board, got, header, want, wantHeader)
						}
					}
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("%d answers were compared", compared)
	}
	e.fake.unseen = true
	e.get(noKey, "/v1/boards/p-plain/top").wantProblem(503, "unavailable") // as for a name that cannot be looked up now
	e.get(other, "/v1/boards/open/top").want(200)
}

// TestPrivateBoardsInRankings: a private board is neither ranked nor reported as absent, nor is one that is named.
func TestPrivateBoardsInRankings(t *testing.T) {
	e, other := withKey(t, leaderboard.ScopeRead, "game1-*")
	label := leaderboard.Labels{"type": "game"}
	e.board("open", leaderboard.Rules{Labels: label}, classic()...)
	early := leaderboard.Rules{
		Labels: label, Visibility: leaderboard.VisibilityPrivate, Windows: []leaderboard.Window{leaderboard.WindowSeason},
		Seasons: []leaderboard.SeasonRule{{Name: "first", StartsAt: leaderboard.MaxTime - 2, EndsAt: leaderboard.MaxTime - 1}},
	}
	e.board("early", early)
	e.board("game1-early", early)
	for key, absent := range map[string]string{noKey: "", other: `"absent":["game1-early"]`, readKey: `"absent":["early","game1-early"]`} {
		for _, path := range []string{"/v1/rankings/top", "/v1/members/5/standings"} {
			body := string(e.get(key, path+"?labels=type:game").want(200).body)
			if !strings.Contains(body, absent) || strings.Contains(body, "absent") != (absent != "") {
				t.Errorf("%s with key %q: %s", path, key, body)
			}
		}
	}
	for _, path := range []string{"rankings/top", "rankings/members/5", "rankings/members/5/around", "members/5/standings"} {
		for _, query := range []string{"", "&window=season", "&window=day", "&min_seq=%s:1", "&period=first"} {
			ask := func(board string) string {
				text, _ := told(e.get(noKey, "/v1/"+path+"?boards=open,"+board+strings.ReplaceAll(query, "%s", board)))
				return strings.ReplaceAll(text, board, "B")
			}
			if got, want := ask("early"), ask("none"); got != want || !strings.HasPrefix(got, "404") {
				t.Errorf("%s%s: %s, want %s", path, query, got, want)
			}
		}
	}
	ask := func(board string) string {
		text, _ := told(e.get(noKey, "/v1/rankings/top?labels=type:game&min_seq="+board+":1"))
		return strings.ReplaceAll(text, board, "B")
	}
	if got, want := ask("early"), ask("none"); got != want {
		t.Errorf("min_seq of a private board: %s, want %s", got, want)
	}
}

// TestPrivateSources: a public board derived from a private one names it, on every route, only to callers that may read it, and
// has another ETag for other callers (finding D14). These do not learn whether a source exists.
func TestPrivateSources(t *testing.T) {
	e, other := withKey(t, leaderboard.ScopeRead, "game1-*")
	e.board("open", leaderboard.Rules{}, classic()...)
	e.board("secret", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, classic()...)
	e.board("game1-secret", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, classic()...)
	e.put(adminKey, "/v1/boards/sum", `{"derive":{"from":[{"board":"open"},{"board":"secret"},{"board":"game1-secret"},{"board":"none"}]}}`).want(201)
	if _, err := e.fake.FollowSources(t.Context(), "sum", true); err != nil {
		t.Fatal(err)
	}
	e.board("secret", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, leaderboard.Submission{Member: "new", Score: 1})
	tags := map[string]bool{}
	for key, want := range map[string][]string{
		noKey: {"open"}, other: {"open", "game1-secret"}, readKey: {"open", "secret", "game1-secret", "none"}, adminKey: {"open", "secret", "game1-secret", "none"},
	} {
		type named struct{ Board string }
		var board struct{ Derive struct{ From []named } }
		var list struct {
			Boards []struct {
				Name   string
				Derive struct{ From []named }
			}
		}
		var sources struct {
			Sources []named
			Lag     int64
		}
		r := e.get(key, "/v1/boards/sum").want(200)
		r.decode(&board)
		e.get(key, "/v1/boards").want(200).decode(&list)
		e.get(key, "/v1/boards/sum/sources").want(200).decode(&sources)
		listed := list.Boards[len(list.Boards)-1]
		for what, got := range map[string][]named{"the board": board.Derive.From, "the list": listed.Derive.From, "the sources": sources.Sources} {
			names := []string{}
			for _, n := range got {
				names = append(names, n.Board)
			}
			if !slices.Equal(names, want) || listed.Name != "sum" {
				t.Errorf("with key %q %s names %v, want %v", key, what, names, want)
			}
		}
		tags[r.header.Get("ETag")] = true
		tag := ask{method: "GET", path: "/v1/boards/sum", key: key, header: http.Header{"If-None-Match": {r.header.Get("ETag")}}}
		e.do(tag).want(304)
	}
	if len(tags) != 3 {
		t.Errorf("the answers have the tags %v", tags)
	}
	own := e.get(adminKey, "/v1/boards/sum").want(200)
	e.do(ask{method: "PUT", path: "/v1/boards/sum", key: adminKey, body: string(own.body), header: http.Header{"If-Match": {own.header.Get("ETag")}}}).want(200)
}

// TestPrivateBoardAsksNobody: the database is asked for the rules of a private board only for callers that may read it, so that
// neither the time nor an outage tells others that there is one.
func TestPrivateBoardAsksNobody(t *testing.T) {
	e := newEnv(t)
	e.board("p", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	asked := func(key string, status int) int {
		before := e.fake.calls("Board")
		e.get(key, "/v1/boards/p").want(status)
		return e.fake.calls("Board") - before
	}
	if denied, allowed := asked(noKey, 404), asked(readKey, 200); denied != 1 || allowed != 2 {
		t.Errorf("asked %d and %d times, want once, of what is known, and once more", denied, allowed)
	}
}
