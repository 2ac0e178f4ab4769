// Package apitest is for tests of routes, of httpapi and of features: an API that is checked against openapi.yaml with every
// request and answer, the types of requests and replies, and the fake behind the API. It knows no package of routes.
//
//	table.go                           tables in memory
//	keyring.go, players.go             keys, and players by their tokens
//	fake.go, catalog.go                the fake behind the API
//	reply.go                           requests, replies, and the parts of replies that tests look at
//	document.go, schemas.go, types.go  checks of both by openapi.yaml, and the Go types of answers
//	env.go, example.go, empty.go       the API, lines for a shell that use it, and bodies with empty values
package apitest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// The keys of the tests.
const (
	NoKey    = ""
	ReadKey  = "read-secret"
	WriteKey = "write-secret"
	AdminKey = "admin-secret"
)

// SettingsKeys returns the keys of the tests, as the settings of a server have them.
func SettingsKeys() []guard.SettingsKey {
	return []guard.SettingsKey{
		{Scope: leaderboard.ScopeRead, Secret: ReadKey}, {Scope: leaderboard.ScopeWrite, Secret: WriteKey}, {Scope: leaderboard.ScopeAdmin, Secret: AdminKey},
	}
}

// Env is an API over a fake. Every request and response that goes through it is held against openapi.yaml.
type Env struct {
	T       testing.TB
	Handler http.Handler
	Fake    *Fake
}

// Get asks with GET.
func (e *Env) Get(key, path string) Reply {
	return e.Do(Ask{Method: http.MethodGet, Path: path, Key: key})
}

// Post asks with POST.
func (e *Env) Post(key, path, body string) Reply {
	return e.Do(Ask{Method: http.MethodPost, Path: path, Key: key, Body: body})
}

// Put asks with PUT.
func (e *Env) Put(key, path, body string) Reply {
	return e.Do(Ask{Method: http.MethodPut, Path: path, Key: key, Body: body})
}

// Delete asks with DELETE.
func (e *Env) Delete(key, path string) Reply {
	return e.Do(Ask{Method: http.MethodDelete, Path: path, Key: key})
}

// Do serves the request in this goroutine and checks both sides of it.
func (e *Env) Do(a Ask) Reply {
	e.T.Helper()
	w := httptest.NewRecorder()
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	e.Handler.ServeHTTP(leaver{w, leave}, a.Request().WithContext(ctx))
	out := Reply{T: e.T, Status: w.Code, Header: w.Result().Header, Body: w.Body.Bytes()}
	if out.Header.Get("Content-Encoding") == "gzip" && a.Method != http.MethodHead {
		out.Zipped, out.Body = out.Body, Unzip(e.T, out.Body)
	}
	if id := out.Header[wire.HeaderRequestID]; len(id) != 1 || !wire.ValidRequestID(id[0]) {
		e.T.Fatalf("%s %s: the answer %d has the request id %q", a.Method, a.Path, out.Status, id)
	}
	if !a.Undocumented {
		Check(e.T, a, out)
	}
	return out
}

// leaver is a client that leaves a stream when it has been sent something.
type leaver struct {
	*httptest.ResponseRecorder
	leave func()
}

// Flush implements http.Flusher.
func (l leaver) Flush() {
	l.ResponseRecorder.Flush()
	if l.Header().Get("Content-Type") == "text/event-stream" {
		l.leave()
	}
}

// Board makes a board with the given rules and entries, past the API.
func (e *Env) Board(name string, rules leaderboard.Rules, entries ...leaderboard.Submission) {
	e.T.Helper()
	ctx := context.Background()
	if _, _, err := e.Fake.PutBoard(ctx, name, rules.WithDefaults()); err != nil {
		e.T.Fatal(err)
	}
	if len(entries) > 0 {
		if _, err := e.Fake.Submit(ctx, leaderboard.SubmitRequest{Board: name, Entries: entries}); err != nil {
			e.T.Fatal(err)
		}
	}
}

// Key makes an API key past the API and returns its text.
func (e *Env) Key(scope leaderboard.Scope, change func(*leaderboard.Key)) string {
	k := leaderboard.Key{ID: leaderboard.NewKeyID(), Name: "test", Scope: scope}
	if change != nil {
		change(&k)
	}
	k.CreatedTime, k.UpdatedTime = 1_700_000_000_000_000, 1_700_000_000_000_000
	text, hash := leaderboard.NewKeySecret(k.ID)
	e.Fake.Keyring.Put(k.ID, leaderboard.HashedKey{Key: k, Hash: hash})
	return text
}

// Classic returns the table of the classic exercise: scores with their times in seconds.
func Classic() []leaderboard.Submission {
	var out []leaderboard.Submission
	for _, e := range []struct {
		id         string
		score, sec int64
	}{
		{"1", 90, 1534429870},
		{"2", 80, 1534429871},
		{"3", 82, 1534412273},
		{"4", 96, 1534429243},
		{"5", 100, 1534429133},
		{"6", 5, 1534429273},
		{"7", 8, 1534429823},
		{"8", 80, 1534429801},
	} {
		created := leaderboard.Micros(e.sec * 1_000_000)
		out = append(out, leaderboard.Submission{Member: e.id, Score: e.score, CreatedTime: &created})
	}
	return out
}
