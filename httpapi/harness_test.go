package httpapi

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
)

// env is an API over a fake.
type env struct {
	*apitest.Env
	api  *API
	fake *fake
}

func newEnv(t testing.TB, change ...func(*Config)) *env {
	f := newFake()
	cfg := Config{
		Pages:   fakePages,
		Catalog: f, Rankings: f, Feed: f, Writer: f, Boards: f, Periods: f, Refresher: f, Runs: f, Derived: f, Exports: f,
		Hidden: f, Profiles: f, Members: f, MemberFinder: f, MemberData: f, Erasures: f, Friends: f, Sessions: fakeSessions{f.Keyring},
		Status: f, Keyring: f.Keyring, Players: f.Players, SignIn: fakePeople{}, Site: "http://localhost", Build: Build{"v1", "abc"},
		Health:       func(context.Context) Health { return f.health },
		Metrics:      http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }),
		SettingsKeys: apitest.SettingsKeys(),
	}
	cfg.Limits.StandingWait = time.Minute // few tests are about a late one
	for _, c := range change {
		c(&cfg)
	}
	api := New(cfg)
	return &env{Env: &apitest.Env{T: t, Handler: api, Fake: f.Fake}, api: api, fake: f}
}

// befriend gives a member friends, past the API.
func (e *env) befriend(member string, friends ...string) {
	e.T.Helper()
	if _, err := e.fake.PutFriends(context.Background(), member, friends); err != nil {
		e.T.Fatal(err)
	}
}
