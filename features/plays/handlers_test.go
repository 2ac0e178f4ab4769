package plays

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

const (
	token5     = "t.5.all"
	token5Some = "t.5.some"
)

// newServer returns an API with the routes of the feature.
func newServer(t testing.TB, change ...func(*httpapi.Config)) *apitest.Env {
	var h *Handlers
	plays := func(c *httpapi.Config) { c.Plays = h }
	return featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		h = NewHandlers(httpapi.Resolver{Catalog: f}, f, f.Players)
		return h.Routes()
	}, append(change, plays)...)
}

// withPlays is newServer with a player, and boards: where players submit with plays, without plays, and not at all.
func withPlays(t testing.TB) *apitest.Env {
	e := newServer(t)
	e.Fake.Players.Tokens[token5] = &leaderboard.Player{Member: "5", All: true, Via: "issuer:game", Owner: "p5"}
	e.Fake.Players.Tokens[token5Some] = &leaderboard.Player{Member: "5", Boards: []string{"game1-*"}, Via: "issuer:game", Owner: "p5"}
	private, play := leaderboard.VisibilityPrivate, &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay, MaxTime: "10m"}
	e.Board("open", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("private", leaderboard.Rules{Visibility: private}, apitest.Classic()...)
	e.Board("submit", leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitOwn}}, apitest.Classic()...)
	e.Board("play", leaderboard.Rules{Players: play})
	e.Board("game1-play", leaderboard.Rules{Visibility: private, Players: play})
	return e
}

// TestExamples runs the lines for a shell of /docs.
func TestExamples(t *testing.T) {
	featuretest.Examples(t, (&Handlers{}).Routes(), withPlays, map[string]func(*apitest.Env, string) string{
		"beginPlay": func(_ *apitest.Env, line string) string {
			return strings.NewReplacer("/demo/", "/play/", "$KEY", token5).Replace(line)
		},
	})
}

// TestBeginPlay: a player begins a play where the board wants one, and submits with it once; keys begin none.
func TestBeginPlay(t *testing.T) {
	e := withPlays(t)
	var play api.Play
	r := e.Post(token5, "/v1/boards/play/plays", "").Want(201)
	r.Decode(&play)
	if play.Board != "play" || play.Member != "5" || !play.SubmitAfter.Equal(play.StartedTime) || play.SubmitBefore.Sub(play.StartedTime) != 10*time.Minute || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v, %v", play, r.Header)
	}
	writes := e.Fake.Writes()
	for _, c := range []struct {
		key, board, code string
		status           int
	}{
		{apitest.NoKey, "play", wire.CodeUnauthorized, 401},
		{apitest.ReadKey, "play", wire.CodeForbidden, 403},
		{apitest.AdminKey, "play", wire.CodeForbidden, 403},
		{token5, "open", wire.CodeForbidden, 403},
		{token5, "none", leaderboard.ErrBoardNotFound.Code, 404},
		{token5, "private", leaderboard.ErrBoardNotFound.Code, 404},
		{token5, "submit", leaderboard.CodeInvalidPlay, 422},
		{token5Some, "play", wire.CodeForbidden, 403},
	} {
		e.Post(c.key, "/v1/boards/"+c.board+"/plays", "").WantProblem(c.status, c.code)
	}
	if e.Fake.Writes() != writes {
		t.Error("something was written")
	}
	e.Post(token5Some, "/v1/boards/game1-play/plays", "").Want(201)
	submit := func() string {
		return string(e.Post(token5, "/v1/boards/play/scores", fmt.Sprintf(`{"entries":[{"member":"5","score":9,"play":%q}]}`, play.Play)).Want(200).Body)
	}
	if first, second := submit(), submit(); !strings.Contains(first, `"status":"applied"`) || !strings.Contains(second, "/problems/play-gone") {
		t.Errorf("%s, then %s", first, second)
	}
	if got := e.Post(token5, "/v1/boards/play/scores", `{"entries":[{"member":"5","score":9}]}`).Want(200); !strings.Contains(string(got.Body), "/problems/play-needed") {
		t.Errorf("without a play: %s", got.Body)
	}
}

// TestPlaysOfOthers: plays of another player or of another board, and invalid ones, are refused as a whole, with their
// place; a board without the rule takes no plays, keys send none, and submissions with plays cannot be atomic.
func TestPlaysOfOthers(t *testing.T) {
	e := withPlays(t)
	id := leaderboard.NewPlayID().String()
	own, writes := `{"entries":[{"member":"5","score":1,"play":"play 5 `+id+`"},{"member":"5","score":1,"play":%q}]%s}`, e.Fake.Writes()
	for _, play := range []string{"play 4 " + id, "open 5 " + id, "x", ""} {
		p := e.Post(token5, "/v1/boards/play/scores", fmt.Sprintf(own, play, "")).WantProblem(422, leaderboard.CodeInvalidPlay)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/entries/1/play" {
			t.Errorf("%q: %+v", play, p.Errors)
		}
	}
	e.Post(token5, "/v1/boards/play/scores", fmt.Sprintf(own, "play 5 "+id, `,"atomic":true`)).WantProblem(403, wire.CodeForbidden)
	e.Post(token5, "/v1/boards/submit/scores", `{"entries":[{"member":"5","score":1,"play":"submit 5 `+id+`"}]}`).WantProblem(422, leaderboard.CodeInvalidPlay)
	p := e.Do(apitest.Ask{Method: http.MethodPost, Path: "/v1/boards/play/scores", Key: apitest.WriteKey, Body: fmt.Sprintf(own, "x", "")}).WantProblem(400, wire.CodeMalformed)
	if len(p.Errors) != 2 || p.Errors[0].Pointer != "/entries/0/play" {
		t.Errorf("%+v", p.Errors)
	}
	if e.Fake.Writes() != writes {
		t.Error("something was written")
	}
	e.Post(apitest.WriteKey, "/v1/boards/play/scores", `{"entries":[{"member":"5","score":9}]}`).Want(200)
}

// attempts are quotas that bound nothing but attempts: three from all addresses.
type attempts struct{ made int }

func (*attempts) Charge(httpapi.Bearer, netip.Addr, leaderboard.Charge) (out leaderboard.Allowance) {
	return out
}

func (q *attempts) Attempt(netip.Addr) leaderboard.Allowance {
	q.made++
	return leaderboard.Allowance{Refused: q.made > 3, Wait: 20 * time.Second}
}

func (q *attempts) Attempts(netip.Addr) leaderboard.Allowance {
	return leaderboard.Allowance{Refused: q.made >= 3, Wait: 20 * time.Second}
}

// TestPlayGuesses: a play that this service did not make counts as an attempt of the address, like a wrong token; another
// player's play and a formerly valid play do not. Without attempts left no play is verified (promise G9).
func TestPlayGuesses(t *testing.T) {
	t.Parallel()
	q := &attempts{}
	e := newServer(t, func(c *httpapi.Config) { c.Quotas = q })
	e.Board("b", leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
	e.Fake.Players.Tokens["t.o.k"] = &leaderboard.Player{Member: "ada", All: true}
	with := func(play string) apitest.Reply {
		return e.Post("t.o.k", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":1,"play":"`+play+`"}]}`)
	}
	other := "b bob " + leaderboard.NewPlayID().String()
	e.Fake.Players.Refused["old"] = &leaderboard.TokenError{Detail: "The key that signed the play is no longer valid.", Signed: true}
	for i := range 3 {
		with(other).WantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay)
		if with("old").WantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay); q.made != i {
			t.Errorf("%d attempts after another player's play and one that was good once", q.made)
		}
		if with("guess").WantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay); q.made != i+1 {
			t.Errorf("%d attempts", q.made)
		}
	}
	if got := with("guess"); got.WantProblem(http.StatusTooManyRequests, wire.CodeAttempts).Detail == "" || got.Header.Get("Retry-After") == "" {
		t.Errorf("%v", got.Header)
	}
	with(other).WantProblem(http.StatusTooManyRequests, wire.CodeAttempts)
}

// TestPlaysOfGuessers: the plays of an address without attempts left are not verified, good ones neither; one play is verified once, in
// however many entries of a request it is.
func TestPlaysOfGuessers(t *testing.T) {
	t.Parallel()
	e := newServer(t, func(c *httpapi.Config) { c.Quotas = &attempts{} })
	e.Board("play", leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
	e.Fake.Players.Tokens["t.o.k"] = &leaderboard.Player{Member: "ada", All: true}
	good := "play ada " + leaderboard.NewPlayID().String()
	submit := func(want int, plays ...string) {
		t.Helper()
		entries := make([]string, len(plays))
		for i, play := range plays {
			entries[i] = fmt.Sprintf(`{"member":"ada","score":1,"play":%q}`, play)
		}
		a := apitest.Ask{Method: http.MethodPost, Path: "/v1/boards/play/scores", Key: "t.o.k", Body: `{"entries":[` + strings.Join(entries, ",") + `]}`}
		if r := e.Do(a); r.Status != want {
			t.Errorf("%.60s: %d, want %d: %.300s", plays[0], r.Status, want, r.Body)
		}
	}
	submit(200, slices.Repeat([]string{good}, 1000)...)
	if n := e.Fake.Players.Plays; n != 1 {
		t.Errorf("one play in 1,000 entries was looked at %d times", n)
	}
	for range 3 {
		submit(422, "guess")
	}
	submit(429, good)
}
