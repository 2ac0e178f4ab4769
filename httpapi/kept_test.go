package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestKeptAnswers: a shared answer is encoded once for each mode and state in which it is shown; different answers are encoded
// separately, and all answers again after they were too many.
func TestKeptAnswers(t *testing.T) {
	api := benchAPI()
	kept := &api.handlers.reader.kept
	rules := leaderboard.Rules{}.WithDefaults()
	on := Target{Ref: leaderboard.PeriodRef{ID: 1, Board: "demo", Window: leaderboard.WindowAllTime, Name: "all_time", Rules: &rules}}
	encoded := 0
	send := func(shared *leaderboard.Page, mode leaderboard.Mode, st leaderboard.State, etag wire.ETag, size int) string {
		w := httptest.NewRecorder()
		c := Call{response: response{shared: &api.shared, W: w, R: httptest.NewRequest(http.MethodGet, "/", nil)}}
		c.follow(&api.unknown)
		on.Query.Mode = mode
		err := kept.respondShared(&c, shared, &on, &st, nil, etag, func(b []byte) []byte {
			encoded++
			return append(b, `"x":"`+strings.Repeat("x", size)+`"`...)
		})
		if err != nil || w.Code != http.StatusOK {
			t.Fatal(w.Code, err)
		}
		return w.Body.String()
	}
	page := func() *leaderboard.Page { return &leaderboard.Page{Encoded: new(leaderboard.Encoded)} }
	one, two := page(), page()
	st := leaderboard.State{Source: leaderboard.SourceLocal}
	older := st
	older.Stale = true
	for i, c := range []struct {
		shared *leaderboard.Page
		mode   leaderboard.Mode
		st     leaderboard.State
		etag   wire.ETag
		want   int // encodings so far
	}{
		{one, leaderboard.ModeStrict, st, 1, 1},
		{one, leaderboard.ModeStrict, st, 1, 1},
		{one, leaderboard.ModeTied, st, 1, 2},
		{two, leaderboard.ModeStrict, st, 1, 3},
		{one, leaderboard.ModeStrict, st, 1, 3},
		{one, leaderboard.ModeTied, st, 1, 3},
		{one, leaderboard.ModeStrict, older, 1, 4},
		{one, leaderboard.ModeStrict, older, 2, 5},
	} {
		body := send(c.shared, c.mode, c.st, c.etag, 10)
		if encoded != c.want || !strings.Contains(body, `"mode":"`+string(c.mode)+`"`) || strings.Contains(body, `"stale":true`) != c.st.Stale {
			t.Errorf("request %d: %d encodings, want %d: %s", i, encoded, c.want, body)
		}
	}
	send(page(), "", st, 1, maxKept/2)
	if encoded = 0; send(two, leaderboard.ModeStrict, st, 1, 10) == "" || encoded != 0 {
		t.Error("encoded again after one large answer")
	}
	for range maxKept / 2 / keptBesides {
		send(page(), "", st, 1, 0)
	}
	if encoded = 0; send(two, leaderboard.ModeStrict, st, 1, 10) == "" || encoded != 1 {
		t.Error("not encoded again after many small answers")
	}
}

// TestNotShared: a page that one request alone gets is not kept, and says the same.
func TestNotShared(t *testing.T) {
	api := benchAPI()
	send := func() string {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, benchPaths["top10"], nil))
		return w.Body.String()
	}
	shared := send()
	api.handlers.reader.kept.drop()
	api.handlers.reader.Rankings.(*fixed).pages[10].Encoded = nil
	if got := send(); got != shared || len(api.handlers.reader.kept.kept) != 0 {
		t.Errorf("%d are kept: %s, want %s", len(api.handlers.reader.kept.kept), got, shared)
	}
}
