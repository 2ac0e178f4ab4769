package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// withPlays is withPlayer with boards on which players submit with plays.
func withPlays(t *testing.T) *env {
	e := withPlayer(t)
	play := &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay, MaxTime: "10m"}
	e.board("play", leaderboard.Rules{Players: play})
	e.board("game1-play", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Players: play})
	return e
}

// TestBeginPlay: a player begins a play where the board wants one, and submits with it once; keys begin none.
func TestBeginPlay(t *testing.T) {
	e := withPlays(t)
	var play playJSON
	r := e.post(token5, "/v1/boards/play/plays", "").want(201)
	r.decode(&play)
	if play.Board != "play" || play.Member != "5" || play.SubmitAfter != play.StartedTime || play.SubmitBefore != play.StartedTime+600_000_000 || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v, %v", play, r.header)
	}
	writes := e.fake.writes()
	for _, c := range []struct {
		key, board, code string
		status           int
	}{
		{noKey, "play", wire.CodeUnauthorized, 401},
		{readKey, "play", wire.CodeForbidden, 403},
		{adminKey, "play", wire.CodeForbidden, 403},
		{token5, "open", wire.CodeForbidden, 403},
		{token5, "none", leaderboard.ErrBoardNotFound.Code, 404},
		{token5, "private", leaderboard.ErrBoardNotFound.Code, 404},
		{token5, "submit", leaderboard.CodeInvalidPlay, 422},
		{token5Some, "play", wire.CodeForbidden, 403},
	} {
		e.post(c.key, "/v1/boards/"+c.board+"/plays", "").wantProblem(c.status, c.code)
	}
	if e.fake.writes() != writes {
		t.Error("something was written")
	}
	e.post(token5Some, "/v1/boards/game1-play/plays", "").want(201)
	submit := func() string {
		return string(e.post(token5, "/v1/boards/play/scores", fmt.Sprintf(`{"entries":[{"member":"5","score":9,"play":%q}]}`, play.Play)).want(200).body)
	}
	if first, second := submit(), submit(); !strings.Contains(first, `"status":"applied"`) || !strings.Contains(second, "/problems/play-gone") {
		t.Errorf("%s, then %s", first, second)
	}
	if got := e.post(token5, "/v1/boards/play/scores", `{"entries":[{"member":"5","score":9}]}`).want(200); !strings.Contains(string(got.body), "/problems/play-needed") {
		t.Errorf("without a play: %s", got.body)
	}
}

// TestPlaysOfOthers: the play of another player, of another board, and what is no play, are refused as a whole, with their place;
// a board without the rule takes none, keys send none, and with plays there is no atomic.
func TestPlaysOfOthers(t *testing.T) {
	e := withPlays(t)
	id := leaderboard.NewPlayID().String()
	own, writes := `{"entries":[{"member":"5","score":1,"play":"play 5 `+id+`"},{"member":"5","score":1,"play":%q}]%s}`, e.fake.writes()
	for _, play := range []string{"play 4 " + id, "open 5 " + id, "x", ""} {
		p := e.post(token5, "/v1/boards/play/scores", fmt.Sprintf(own, play, "")).wantProblem(422, leaderboard.CodeInvalidPlay)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/entries/1/play" {
			t.Errorf("%q: %+v", play, p.Errors)
		}
	}
	e.post(token5, "/v1/boards/play/scores", fmt.Sprintf(own, "play 5 "+id, `,"atomic":true`)).wantProblem(403, wire.CodeForbidden)
	e.post(token5, "/v1/boards/submit/scores", `{"entries":[{"member":"5","score":1,"play":"submit 5 `+id+`"}]}`).wantProblem(422, leaderboard.CodeInvalidPlay)
	p := e.do(ask{method: http.MethodPost, path: "/v1/boards/play/scores", key: writeKey, body: fmt.Sprintf(own, "x", "")}).wantProblem(400, wire.CodeMalformed)
	if len(p.Errors) != 2 || p.Errors[0].Pointer != "/entries/0/play" {
		t.Errorf("%+v", p.Errors)
	}
	if e.fake.writes() != writes {
		t.Error("something was written")
	}
	e.post(writeKey, "/v1/boards/play/scores", `{"entries":[{"member":"5","score":9}]}`).want(200)
}

// TestPlayGuesses: a play that is not of this service is an attempt of the address, as a wrong token is; another player's is none,
// nor one that was good once. Without attempts left none is verified (promise G9).
func TestPlayGuesses(t *testing.T) {
	t.Parallel()
	q := &charges{}
	e := newEnv(t, withCharges(q))
	e.board("b", leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
	e.fake.players.tokens["t.o.k"] = &leaderboard.Player{Member: "ada", All: true}
	with := func(play string) reply {
		return e.post("t.o.k", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":1,"play":"`+play+`"}]}`)
	}
	other := "b bob " + leaderboard.NewPlayID().String()
	e.fake.players.refused["old"] = &leaderboard.TokenError{Detail: "The key that signed the play is not valid any more.", Signed: true}
	for i := range 3 {
		with(other).wantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay)
		if with("old").wantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay); q.attempts != i {
			t.Errorf("%d attempts after another player's play and one that was good once", q.attempts)
		}
		if with("guess").wantProblem(http.StatusUnprocessableEntity, leaderboard.CodeInvalidPlay); q.attempts != i+1 {
			t.Errorf("%d attempts", q.attempts)
		}
	}
	if got := with("guess"); got.wantProblem(http.StatusTooManyRequests, wire.CodeAttempts).Detail == "" || got.header.Get("Retry-After") == "" {
		t.Errorf("%v", got.header)
	}
	with(other).wantProblem(http.StatusTooManyRequests, wire.CodeAttempts)
}
