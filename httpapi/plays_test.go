package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// withPlays is withPlayer with boards on which players submit with plays.
func withPlays(t *testing.T) *env {
	e := withPlayer(t)
	play := &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay, MaxTime: "10m"}
	e.Board("play", leaderboard.Rules{Players: play})
	e.Board("game1-play", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Players: play})
	return e
}

// TestBeginPlay: a player begins a play where the board wants one, and submits with it once; keys begin none.
func TestBeginPlay(t *testing.T) {
	e := withPlays(t)
	var play playJSON
	r := e.Post(token5, "/v1/boards/play/plays", "").Want(201)
	r.Decode(&play)
	if play.Board != "play" || play.Member != "5" || play.SubmitAfter != play.StartedTime || play.SubmitBefore != play.StartedTime+600_000_000 || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v, %v", play, r.Header)
	}
	writes := e.fake.Writes()
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
	if e.fake.Writes() != writes {
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

// TestPlaysOfOthers: the play of another player, of another board, and what is no play, are refused as a whole, with their place;
// a board without the rule takes none, keys send none, and with plays there is no atomic.
func TestPlaysOfOthers(t *testing.T) {
	e := withPlays(t)
	id := leaderboard.NewPlayID().String()
	own, writes := `{"entries":[{"member":"5","score":1,"play":"play 5 `+id+`"},{"member":"5","score":1,"play":%q}]%s}`, e.fake.Writes()
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
	if e.fake.Writes() != writes {
		t.Error("something was written")
	}
	e.Post(apitest.WriteKey, "/v1/boards/play/scores", `{"entries":[{"member":"5","score":9}]}`).Want(200)
}

// TestPlayGuesses: a play that is not of this service is an attempt of the address, as a wrong token is; another player's is none,
// nor one that was good once. Without attempts left none is verified (promise G9).
func TestPlayGuesses(t *testing.T) {
	t.Parallel()
	q := &charges{}
	e := newEnv(t, withCharges(q))
	e.Board("b", leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
	e.fake.Players.Tokens["t.o.k"] = &leaderboard.Player{Member: "ada", All: true}
	with := func(play string) apitest.Reply {
		return e.Post("t.o.k", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":1,"play":"`+play+`"}]}`)
	}
	other := "b bob " + leaderboard.NewPlayID().String()
	e.fake.Players.Refused["old"] = &leaderboard.TokenError{Detail: "The key that signed the play is not valid any more.", Signed: true}
	for i := range 3 {
		with(other).WantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay)
		if with("old").WantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay); q.attempts != i {
			t.Errorf("%d attempts after another player's play and one that was good once", q.attempts)
		}
		if with("guess").WantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay); q.attempts != i+1 {
			t.Errorf("%d attempts", q.attempts)
		}
	}
	if got := with("guess"); got.WantProblem(http.StatusTooManyRequests, wire.CodeAttempts).Detail == "" || got.Header.Get("Retry-After") == "" {
		t.Errorf("%v", got.Header)
	}
	with(other).WantProblem(http.StatusTooManyRequests, wire.CodeAttempts)
}
