package client_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// playersPart makes an issuer and tokens, submits with one, and ends them.
func playersPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	made, err := c.PutIssuer(ctx, "game", client.IssuerRules{Issuer: "https://login.example", Audience: "game", JWKSURL: "https://login.example/keys", Prefix: "g:"})
	must(t, err)
	got, err := c.GetIssuer(ctx, "game")
	must(t, err)
	if got.Name != "game" || got.MemberClaim != "sub" || got.UpdatedTime != made.UpdatedTime || len(got.Algorithms) != 3 {
		t.Errorf("%+v", got)
	}
	if list := all(t, c.Issuers(ctx)); len(list) != 1 || list[0].Name != "game" {
		t.Errorf("%+v", list)
	}
	must(t, c.DeleteIssuer(ctx, "game"))
	if _, err := c.GetIssuer(ctx, "game"); !errors.Is(err, leaderboard.ErrIssuerNotFound) {
		t.Error(err)
	}

	rules := leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Players: &leaderboard.Players{Read: true, Submit: leaderboard.PlayersSubmitOwn}}
	_, _, err = c.PutBoard(ctx, "players", rules)
	must(t, err)
	token, err := c.CreateToken(ctx, client.TokenRequest{Member: "ada", Boards: []string{"players"}, TTL: time.Minute})
	must(t, err)
	if token.Member != "ada" || !slices.Equal(token.Boards, []string{"players"}) || time.Until(token.ExpiresAt) > 2*time.Minute {
		t.Errorf("%+v", token)
	}
	ada := admin(t, client.WithKey(token.Token))
	_, err = ada.Submit(ctx, "players", []leaderboard.Submission{{Member: "ada", Score: 5}})
	must(t, err)
	if own, err := ada.Member(ctx, "players", "ada", client.ReadQuery{}); err != nil || own.Score != 5 {
		t.Errorf("%+v, %v", own, err)
	}
	rules.Players.Submit = leaderboard.PlayersSubmitPlay
	_, _, err = c.PutBoard(ctx, "plays", rules)
	must(t, err)
	playing := admin(t, client.WithKey(token.Token))
	if _, err := playing.BeginPlay(ctx, "plays"); err == nil {
		t.Error("a play on a board that the token is not for")
	}
	token, err = c.CreateToken(ctx, client.TokenRequest{Member: "ada", TTL: time.Minute})
	must(t, err)
	playing = admin(t, client.WithKey(token.Token))
	play, err := playing.BeginPlay(ctx, "plays")
	must(t, err)
	if play.Board != "plays" || play.Member != "ada" || play.SubmitAfter != play.StartedTime || play.SubmitBefore.Sub(play.StartedTime) != time.Hour {
		t.Errorf("%+v", play)
	}
	for _, want := range []leaderboard.Status{leaderboard.StatusApplied, leaderboard.StatusRejected} {
		if r, err := playing.Submit(ctx, "plays", []leaderboard.Submission{{Member: "ada", Score: 5}}, client.SubmitOptions{Play: play.Play}); err != nil || r.Results[0].Status != want {
			t.Errorf("%+v, %v, want it %s", r, err, want)
		}
	}
	bar, err := c.BarMember(ctx, "ada")
	must(t, err)
	if again, err := c.GetBar(ctx, "ada"); err != nil || again != bar || bar.Member != "ada" {
		t.Errorf("%+v, %+v, %v", bar, again, err)
	}
	if _, err := ada.Member(ctx, "players", "ada", client.ReadQuery{}); err == nil {
		t.Error("the token is good after the bar")
	}
	must(t, c.UnbarMember(ctx, "ada"))
	if err := c.UnbarMember(ctx, "ada"); !errors.Is(err, leaderboard.ErrBarNotFound) {
		t.Error(err)
	}
	must(t, c.RotateTokens(ctx, time.Hour))
	if keys, err := c.TokenKeys(ctx); err != nil || len(keys) != 2 || keys[0].CRV != "Ed25519" {
		t.Errorf("%+v, %v", keys, err)
	}
	return []string{"putIssuer", "getIssuer", "listIssuers", "deleteIssuer", "createToken", "beginPlay", "rotateTokens", "barMember", "getBar", "unbarMember", "getTokenKeys"}
}
