package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/features/quotas"
	"leaderboard/httpapi"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestQuotaOverTwoServers: a key gets its quota through two servers together, with Redis, and without it by the setting of
// how many servers there are (promise E4).
func TestQuotaOverTwoServers(t *testing.T) {
	t.Parallel()
	const rate = 10
	for name, redis := range map[string]string{"with Redis": testenv.Redis(t), "without": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := testenv.MySQL(t)
			limited := func(c *Config) {
				featuretest.SettingsOf[quotas.Settings](c.Features).Keys = quotas.Rates{Requests: rate}
				if redis == "" {
					c.Servers = 2
				}
			}
			servers := []*testApp{startReady(t, dsn, redis, limited), startReady(t, dsn, redis, limited)}
			begin, through, refused := time.Now(), 0, 0
			for refused < 4 && time.Since(begin) < apptest.MaxWait {
				for _, s := range servers {
					w := httptest.NewRecorder()
					r := httptest.NewRequest(http.MethodGet, "/v1/runs", nil)
					r.Header.Set("Authorization", "Bearer "+apptest.AdminKey)
					s.api.ServeHTTP(w, r)
					switch w.Code {
					case http.StatusOK:
						through++
					case http.StatusTooManyRequests:
						refused++
						if after, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || after < 1 {
							t.Errorf("Retry-After: %q", w.Header().Get("Retry-After"))
						}
					default:
						t.Fatalf("%d %s", w.Code, w.Body)
					}
				}
			}
			allowed := rate * (leaderboard.QuotaWindow + time.Since(begin)).Seconds()
			if float64(through) > 1.05*allowed+1 || float64(through) < rate*leaderboard.QuotaWindow.Seconds()/2 || refused == 0 {
				t.Errorf("%d were let through and %d refused, want %.0f let through", through, refused, allowed)
			}
		})
	}
}

// TestLargeRequestsOverTwoServers: of two requests for all the rows that a key may write at once, one to each of two servers, the
// second is refused (promise E4).
func TestLargeRequestsOverTwoServers(t *testing.T) {
	t.Parallel()
	dsn, redis := testenv.MySQL(t), testenv.Redis(t)
	limited := func(c *Config) {
		featuretest.SettingsOf[quotas.Settings](c.Features).Keys = quotas.Rates{Rows: 10}
	}
	servers := []*testApp{startReady(t, dsn, redis, limited), startReady(t, dsn, redis, limited)}
	var entries []string
	for i := range 50 {
		entries = append(entries, fmt.Sprintf(`{"member":"m%d","score":1}`, i))
	}
	body := `{"entries":[` + strings.Join(entries, ",") + `]}`
	ask := func(s *testApp) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/v1/boards/b/scores", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+apptest.AdminKey)
		r.Header.Set("Content-Type", "application/json")
		s.api.ServeHTTP(w, r)
		return w.Code
	}
	if _, _, err := servers[0].store.Boards.PutBoard(t.Context(), "b", leaderboard.Rules{}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(apptest.MaxWait); time.Now().Before(end); {
		begin := time.Now()
		if ask(servers[0]) != http.StatusOK {
			continue // the cost of the round before comes back
		}
		code := ask(servers[1])
		if time.Since(begin) >= leaderboard.QuotaWindow {
			continue // it is back already: the machine is busy
		}
		if code != http.StatusTooManyRequests {
			t.Errorf("the second is answered with %d", code)
		}
		return
	}
	t.Error("no round was quick enough")
}

// TestWhoseQuota: the quota of a key replaces the quota of the settings. Addresses have a quota if the proxies are known.
func TestWhoseQuota(t *testing.T) {
	t.Parallel()
	from, requests := netip.MustParseAddr("192.0.2.1"), leaderboard.Charge{1, 1, 1}
	for _, given := range []bool{false, true} {
		cfg := Defaults()
		cfg.MySQLDSN = "root@tcp(127.0.0.1:1)/none"
		cfg.TrustedProxies.Given = given
		a, err := New(t.Context(), cfg, NewLogger(new(apptest.Buffer), &cfg))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = a.Stop(t.Context()) }()
		quotas := features.Offered[httpapi.Quotas](a.engine)
		if most := quotas.Charge(httpapi.Bearer{}, from, requests).Limits[leaderboard.QuotaKindRequests].Most; (most == 5000) != given || !given && most != 0 {
			t.Errorf("proxies known: %t, an address may make %d requests at once", given, most)
		}
		own := leaderboard.Key{ID: "own", Quota: leaderboard.Quota{RequestsPerSecond: 7}}
		for key, want := range map[*leaderboard.Key][2]int64{{ID: "other"}: {100_000, 2_500_000}, &own: {35, 2_500_000}} {
			limits := quotas.Charge(httpapi.Bearer{Key: key}, from, requests).Limits
			if got := [2]int64{limits[leaderboard.QuotaKindRequests].Most, limits[leaderboard.QuotaKindRows].Most}; got != want {
				t.Errorf("key %s: %v, want %v", key.ID, got, want)
			}
		}
	}
}
