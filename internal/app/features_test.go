package app

import (
	"net/http"
	"slices"
	"testing"

	"leaderboard/features"
	"leaderboard/internal/app/installed"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestWithoutAFeature: a server without any one of the features serves boards, and answers callers that it cannot know as strangers. One
// sweep, one erasure and the end of the server go as they do with all.
func TestWithoutAFeature(t *testing.T) {
	t.Parallel()
	for _, f := range installed.Features() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			a := startReady(t, testenv.MySQL(t), testenv.Redis(t), func(c *Config) {
				if slices.Contains([]string{"keys", "players", "signin"}, f.Name) { // a session is a key, sealed by the secret that signs tokens: without one of the three nobody signs in
					in := signInOf(c)
					in.Issuer, in.Client = "http://127.0.0.1:1", "leaderboard"
				}
				c.Features = slices.DeleteFunc(c.Features, func(one features.Feature) bool { return one.Name == f.Name })
			})
			a.Ask(201, "PUT", "/v1/boards/b", `{"title":"B"}`)
			seq := a.Ask(200, "POST", "/v1/boards/b/scores?standings=true", `{"entries":[{"member":"ada","score":7},{"member":"bob","score":5}]}`).Text("seq")
			query := "?min_seq=" + seq
			if f.Name != "people" { // who show profiles
				query += "&profiles=true"
			}
			if top := a.Ask(200, "GET", "/v1/boards/b/top"+query, ""); top.List("entries", "member") != "ada bob" {
				t.Errorf("the top: %v", top)
			}
			a.Ask(200, "GET", "/v1/status", "")
			stranger, _ := leaderboard.NewKeySecret(leaderboard.NewKeyID())
			for _, as := range []http.Header{{"Authorization": {"Bearer " + stranger}}, {"Authorization": {"Bearer a.player.token"}}} {
				a.Ask(401, "GET", "/v1/boards/b/top", "", as)
			}
			a.Ask(404, "GET", "/v1/sign-in", "")
			if err := a.store.Housekeeping.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			a.Ask(204, "DELETE", "/v1/members/ada", "")
			if top := a.Ask(200, "GET", "/v1/boards/b/top?min_seq=3", ""); top.List("entries", "member") != "bob" {
				t.Errorf("without ada: %v", top)
			}
		})
	}
}
