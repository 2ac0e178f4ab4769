package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// addressCharges are charges for each address apart.
type addressCharges struct {
	charges
	mu   sync.Mutex
	each map[netip.Addr]*charges
}

func (q *addressCharges) of(from netip.Addr) *charges {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.each[from] == nil {
		q.each[from] = &charges{}
	}
	return q.each[from]
}

// Attempt implements Quotas.
func (q *addressCharges) Attempt(from netip.Addr) leaderboard.Allowance {
	return q.of(from).Attempt(from)
}

// Attempts implements Quotas.
func (q *addressCharges) Attempts(from netip.Addr) leaderboard.Allowance {
	return q.of(from).Attempts(from)
}

// TestEveryGuessIsCounted tries every way to guess a secret: an address has three attempts here, and then gets 429; each address
// has separate attempts. Secrets of webhooks are tried nowhere, since this service receives none (promise G9).
func TestEveryGuessIsCounted(t *testing.T) {
	t.Parallel()
	known := leaderboard.NewKeyID()
	for name, way := range map[string]struct {
		method, path, body string
		status             int // of a guess that is counted
		guess              func(i int) http.Header
	}{
		"a key":                  {"GET", "/v1/boards/b/top", "", 401, func(i int) http.Header { return bearer(fmt.Sprint("guess", i)) }},
		"a secret of a known id": {"GET", "/v1/boards/b/top", "", 401, func(int) http.Header { secret, _ := leaderboard.NewKeySecret(known); return bearer(secret) }},
		"a key in the cookie":    {"GET", "/v1/boards/b/top", "", 200, func(i int) http.Header { return cookie(sessionCookie, fmt.Sprint("guess", i)) }},
		"a player's token":       {"GET", "/v1/boards/b/top", "", 401, func(i int) http.Header { return bearer(fmt.Sprint("a.b.", i)) }},
	} {
		e := newEnv(t, func(cfg *Config) {
			cfg.Quotas = &addressCharges{each: map[netip.Addr]*charges{}}
		})
		e.Board("b", leaderboard.Rules{})
		e.Board("play", leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
		e.fake.Players.Tokens["t.o.k"] = &leaderboard.Player{Member: "ada", All: true}
		for address := range 20 {
			for i := range 5 {
				r := apitest.Ask{Method: way.method, Path: way.path, Body: way.body, Header: way.guess(i)}.Request()
				r.RemoteAddr = fmt.Sprintf("198.51.100.%d:7", address+1)
				w := httptest.NewRecorder()
				e.api.ServeHTTP(w, r)
				want := way.status
				if i >= 3 {
					want = http.StatusTooManyRequests
				}
				if w.Code != want || want == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
					t.Fatalf("%s, guess %d of address %d: %d, want %d: %s", name, i+1, address+1, w.Code, want, w.Body)
				}
			}
		}
	}
}

func bearer(text string) http.Header { return http.Header{"Authorization": {"Bearer " + text}} }

func cookie(name, value string) http.Header { return http.Header{"Cookie": {name + "=" + value}} }
