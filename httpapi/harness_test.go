package httpapi

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
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
		Catalog: f, Rankings: f, Feed: f, Writer: f, Boards: f, Periods: f, Refresher: f, Runs: f, Derived: f,
		Hidden: f, Erasures: f, Friends: f, Sessions: Sessions{People: fakePeople{}, Cookie: sessionCookie, Site: "http://localhost"},
		Status: f, Keyring: f.Keyring, Players: f.Players, Build: Build{"v1", "abc"},
		Health:       func(context.Context) Health { return f.health },
		Metrics:      http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }),
		SettingsKeys: apitest.SettingsKeys(), Shows: []Show{names{}},
	}
	cfg.Limits.StandingWait = time.Minute // few tests are about a late one
	for _, c := range change {
		c(&cfg)
	}
	api := New(cfg)
	return &env{Env: &apitest.Env{T: t, Handler: api, Fake: f.Fake}, api: api, fake: f}
}

// names shows the ids of members as their names.
type names struct{}

func (names) Param() string { return "profiles" }

func (names) On(*leaderboard.Rules) bool { return true }

func (names) Find(_ context.Context, a *Shown) (Extra, error) { return named(a.Entries), nil }

type named []leaderboard.Entry

func (list named) AddTo(etag wire.ETag) wire.ETag { return etag.Text("profiles") }

func (list named) AppendTo(b []byte, i int) []byte {
	b = wire.AppendString(append(b, `,"profile":{"display_name":`...), list[i].Member)
	return append(b, `,"avatar_url":"","attributes":{}}`...)
}

// befriend gives a member friends, past the API.
func (e *env) befriend(member string, friends ...string) {
	e.T.Helper()
	if _, err := e.fake.PutFriends(context.Background(), member, friends); err != nil {
		e.T.Fatal(err)
	}
}

// sessionCookie is the cookie that has the session of a browser.
const sessionCookie = "leaderboard-session"

// fakePeople are people who signed in, with a role in the settings; roleWithout no longer has the rights that it had.
type fakePeople struct{}

const roleWithout = "nothing any more"

func (fakePeople) Holds(k *leaderboard.Key) bool { return k.Person != "" && k.Role != roleWithout }

// routesOfEngine are the routes of the engine, as a server without features has them.
func routesOfEngine() []Route { return New(Config{Metrics: http.NotFoundHandler()}).Routes() }
