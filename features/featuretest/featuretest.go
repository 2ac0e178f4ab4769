// Package featuretest makes the surroundings of features' tests: a store with the parts of features, and an API with the
// engine's routes and a feature's own, over the fake of apitest. It is not a feature.
package featuretest

import (
	"context"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// New returns an API with the engine's routes and a feature's, over a fake of both. change changes the configuration of the
// API.
func New(t testing.TB, routes func(*apitest.Fake) []httpapi.Route, change ...func(*httpapi.Config)) *apitest.Env {
	f := apitest.NewFake()
	cfg := Config(f)
	cfg.Routes = routes(f)
	for _, c := range change {
		c(&cfg)
	}
	return &apitest.Env{T: t, Handler: httpapi.New(cfg), Fake: f}
}

// Store returns a migrated store on a database, with the parts of features, and the engine that they are opened on.
func Store(t testing.TB, dsn string, list []features.Feature, change func(*store.Config)) (*store.Store, *features.Engine) {
	t.Helper()
	s := dbtest.Open(t, dsn, func(c *store.Config) {
		c.Parts = features.Parts(list)
		if change != nil {
			change(c)
		}
	})
	return s, features.On(s, list)
}

// Config returns the configuration of the engine's routes.
func Config(f *apitest.Fake) httpapi.Config {
	return httpapi.Config{
		Catalog: f, Rankings: f, Feed: f, Writer: f, Boards: f, Periods: f, Refresher: f, Runs: f, Derived: f, Status: f, Hidden: f, Friends: f,
		Keyring: f.Keyring, Players: f.Players, SettingsKeys: apitest.SettingsKeys(), Build: httpapi.Build{Version: "v1", Commit: "abc"},
		Health: func(context.Context) httpapi.Health { return httpapi.Health{Ready: true} },
		Limits: httpapi.Limits{StandingWait: time.Minute}, // few tests are about a late one
	}
}

// Examples runs the lines for a shell that the contract has for routes, each on a separate server. before makes the subject of an
// example, and returns the example for it.
func Examples(t *testing.T, routes []httpapi.Route, server func(testing.TB) *apitest.Env, before map[string]func(e *apitest.Env, line string) string) {
	examples := apitest.Examples()
	for _, rt := range routes {
		operation := apitest.OperationOf(rt.Method, rt.Path)
		t.Run(operation, func(t *testing.T) {
			e, line := server(t), examples[operation]
			if make := before[operation]; make != nil {
				line = make(e, line)
			}
			e.RunExample(line)
		})
	}
}

// SettingsOf returns the settings of the feature that has a T. It panics if no feature has it.
func SettingsOf[T any](list []features.Feature) *T {
	for _, f := range list {
		if s, ok := f.Settings.(*T); ok {
			return s
		}
	}
	panic("no feature has such settings")
}
