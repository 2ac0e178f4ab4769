// Package featuretest makes the API of a feature's tests: the engine's routes and the feature's own, over the fake of apitest. It is
// no feature.
package featuretest

import (
	"context"
	"testing"
	"time"

	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
)

// New returns an API with the engine's routes and those of a feature, over a fake that both have. change changes what the API needs.
func New(t testing.TB, routes func(*apitest.Fake) []httpapi.Route, change ...func(*httpapi.Config)) *apitest.Env {
	f := apitest.NewFake()
	cfg := Config(f)
	cfg.Routes = routes(f)
	for _, c := range change {
		c(&cfg)
	}
	return &apitest.Env{T: t, Handler: httpapi.New(cfg), Fake: f}
}

// Config returns what the engine's routes need.
func Config(f *apitest.Fake) httpapi.Config {
	return httpapi.Config{
		Catalog: f, Rankings: f, Feed: f, Writer: f, Boards: f, Periods: f, Refresher: f, Runs: f, Derived: f, Status: f, Hidden: f, Profiles: f, Friends: f,
		Keyring: f.Keyring, Players: f.Players, SettingsKeys: apitest.SettingsKeys(), Build: httpapi.Build{Version: "v1", Commit: "abc"},
		Health: func(context.Context) httpapi.Health { return httpapi.Health{Ready: true} },
		Limits: httpapi.Limits{StandingWait: time.Minute}, // few tests are about a late one
	}
}
