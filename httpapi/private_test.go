package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
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

// shape returns an answer without its date and the id of its request.
func shape(r apitest.Reply) (string, http.Header) {
	h := r.Header.Clone()
	body := strings.ReplaceAll(string(r.Body), h.Get("X-Request-Id"), "")
	h.Del("Date")
	h.Del("X-Request-Id")
	h.Del("Content-Length") // the ids of requests are of different lengths
	return fmt.Sprint(r.Status, " ", body), h
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
	e.Board("open", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("p-plain", private, apitest.Classic()...)
	private.Windows = []leaderboard.Window{leaderboard.WindowSeason, leaderboard.WindowAllTime}
	private.Seasons = []leaderboard.SeasonRule{{Name: "first", StartsAt: leaderboard.MaxTime - 2, EndsAt: leaderboard.MaxTime - 1}}
	e.Board("p-early", private) // before its first season, which is its first window
	derived := leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "open"}}}}
	e.Board("p-derived", derived)
	bodies := map[string]string{
		"POST /v1/boards/{board}/ranks": `{"members":["5","nobody"]}`, "POST /v1/boards/{board}/scores": `{"entries":[{"member":"m","score":1}]}`,
	}
	compared := 0
	for _, rt := range routesOfEngine() {
		if !strings.Contains(rt.Path, "{board}") {
			continue
		}
		for _, query := range queriesOf(&rt) {
			for _, key := range []string{apitest.NoKey, other} {
				for _, match := range []string{"", "*"} {
					a := apitest.Ask{Method: rt.Method, Key: key, Body: bodies[rt.Method+" "+rt.Path], Undocumented: true, Header: http.Header{}}
					if match != "" {
						a.Header["If-None-Match"] = []string{match}
					}
					answer := func(board string) (string, http.Header) {
						a.Path = strings.NewReplacer("{board}", board, "{member}", "5", "{score}", "1").Replace(rt.Path) + query
						return shape(e.Do(a))
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
	e.fake.Unseen = true
	e.Get(apitest.NoKey, "/v1/boards/p-plain/top").WantProblem(503, "unavailable") // as for a name that cannot be looked up now
	e.Get(other, "/v1/boards/open/top").Want(200)
}

// TestPrivateBoardsInRankings: a private board is neither ranked nor reported as absent, also if the request names it.
func TestPrivateBoardsInRankings(t *testing.T) {
	e, other := withKey(t, leaderboard.ScopeRead, "game1-*")
	label := leaderboard.Labels{"type": "game"}
	e.Board("open", leaderboard.Rules{Labels: label}, apitest.Classic()...)
	early := leaderboard.Rules{
		Labels: label, Visibility: leaderboard.VisibilityPrivate, Windows: []leaderboard.Window{leaderboard.WindowSeason},
		Seasons: []leaderboard.SeasonRule{{Name: "first", StartsAt: leaderboard.MaxTime - 2, EndsAt: leaderboard.MaxTime - 1}},
	}
	e.Board("early", early)
	e.Board("game1-early", early)
	for key, absent := range map[string]string{apitest.NoKey: "", other: `"absent":["game1-early"]`, apitest.ReadKey: `"absent":["early","game1-early"]`} {
		for _, path := range []string{"/v1/rankings/top", "/v1/members/5/standings"} {
			body := string(e.Get(key, path+"?labels=type:game").Want(200).Body)
			if !strings.Contains(body, absent) || strings.Contains(body, "absent") != (absent != "") {
				t.Errorf("%s with key %q: %s", path, key, body)
			}
		}
	}
	for _, path := range []string{"rankings/top", "rankings/members/5", "rankings/members/5/around", "members/5/standings"} {
		for _, query := range []string{"", "&window=season", "&window=day", "&min_seq=%s:1", "&period=first"} {
			ask := func(board string) string {
				text, _ := shape(e.Get(apitest.NoKey, "/v1/"+path+"?boards=open,"+board+strings.ReplaceAll(query, "%s", board)))
				return strings.ReplaceAll(text, board, "B")
			}
			if got, want := ask("early"), ask("none"); got != want || !strings.HasPrefix(got, "404") {
				t.Errorf("%s%s: %s, want %s", path, query, got, want)
			}
		}
	}
	ask := func(board string) string {
		text, _ := shape(e.Get(apitest.NoKey, "/v1/rankings/top?labels=type:game&min_seq="+board+":1"))
		return strings.ReplaceAll(text, board, "B")
	}
	if got, want := ask("early"), ask("none"); got != want {
		t.Errorf("min_seq of a private board: %s, want %s", got, want)
	}
}

// TestPrivateBoardAsksNobody: the database is asked for the rules of a private board only for callers that may read it, so that
// neither the time nor an outage shows others that the board exists.
func TestPrivateBoardAsksNobody(t *testing.T) {
	e := newEnv(t)
	e.Board("p", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	asked := func(key string, status int) int {
		before := e.fake.Calls("Board")
		e.Get(key, "/v1/boards/p").Want(status)
		return e.fake.Calls("Board") - before
	}
	if denied, allowed := asked(apitest.NoKey, 404), asked(apitest.ReadKey, 200); denied != 1 || allowed != 2 {
		t.Errorf("asked %d and %d times, want once, of what is known, and once more", denied, allowed)
	}
}
