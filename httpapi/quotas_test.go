package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// charges are Quotas that note the charges of callers. Beyond the quotas a caller is refused.
type charges struct {
	most leaderboard.Charge

	mu       sync.Mutex
	who      []string
	charged  leaderboard.Charge
	attempts int
}

// Charge implements Quotas.
func (q *charges) Charge(by Bearer, from netip.Addr, c leaderboard.Charge) (out leaderboard.Allowance) {
	q.mu.Lock()
	defer q.mu.Unlock()
	who := from.String()
	switch {
	case by.Key != nil:
		who = by.Key.ID
	case by.Player != nil:
		who = by.Player.Member
	}
	q.who = append(q.who, who)
	for kind, n := range c {
		if q.most[kind] == 0 {
			continue
		}
		if q.charged[kind]+n > q.most[kind] {
			out.Refused, out.Kind, out.Wait = true, leaderboard.QuotaKind(kind), 7*time.Second
		}
		out.Limits[kind] = leaderboard.QuotaLimit{Most: int64(q.most[kind]), Left: int64(max(0, q.most[kind]-q.charged[kind]-n))}
	}
	if !out.Refused {
		for kind, n := range c {
			q.charged[kind] += n
		}
	}
	return out
}

// Attempt implements Quotas.
func (q *charges) Attempt(netip.Addr) leaderboard.Allowance {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.attempts++
	left := 3 - q.attempts
	a := leaderboard.Allowance{Refused: left < 0, Wait: 20 * time.Second}
	a.Limits[leaderboard.QuotaKindRequests] = leaderboard.QuotaLimit{Most: 3, Left: int64(max(0, left))}
	return a
}

// Attempts implements Quotas.
func (q *charges) Attempts(netip.Addr) leaderboard.Allowance {
	q.mu.Lock()
	defer q.mu.Unlock()
	return leaderboard.Allowance{Refused: q.attempts >= 3, Wait: 20 * time.Second}
}

func withCharges(q *charges, proxies ...string) func(*Config) {
	return func(cfg *Config) {
		cfg.Quotas = q
		for _, p := range proxies {
			cfg.Proxies = append(cfg.Proxies, netip.MustParsePrefix(p))
		}
	}
}

// TestQuotaExceeded: a 429 is a problem that says which quota, and when to come back; nothing was done (promise E4).
func TestQuotaExceeded(t *testing.T) {
	t.Parallel()
	q := &charges{most: leaderboard.Charge{leaderboard.QuotaKindRequests: 100, leaderboard.QuotaKindRows: 5}}
	e := newEnv(t, withCharges(q))
	e.Board("b", leaderboard.Rules{})
	body := func(n int) string {
		return `{"entries":[` + strings.TrimSuffix(strings.Repeat(`{"member":"m","score":1,"fields":{"a":1,"b":[2,3]}},`, n), ",") + `]}`
	}
	if got := e.Post(apitest.WriteKey, "/v1/boards/b/scores", body(3)); got.Header.Get("RateLimit-Policy") != `"requests";q=100;w=5, "rows";q=5;w=5;qu="rows"` || got.Header.Get("RateLimit") != `"requests";r=99, "rows";r=2` {
		t.Errorf("%s / %s", got.Header.Get("RateLimit-Policy"), got.Header.Get("RateLimit"))
	}
	before := e.fake.Writes()
	got := e.Post(apitest.WriteKey, "/v1/boards/b/scores", body(4))
	if p := got.WantProblem(http.StatusTooManyRequests, wire.CodeQuota); !slices.Equal(p.Quotas, []string{"rows"}) {
		t.Errorf("%v", p.Quotas)
	}
	if got.Header.Get("RateLimit") != `"requests";r=98, "rows";r=0;t=7` {
		t.Errorf("RateLimit: %s", got.Header.Get("RateLimit"))
	}
	if after, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || after < 7 || after > 11 {
		t.Errorf("Retry-After: %s", got.Header.Get("Retry-After"))
	}
	if e.fake.Writes() != before {
		t.Error("it was submitted")
	}
}

// TestChargedFor: the charge of each route.
func TestChargedFor(t *testing.T) {
	t.Parallel()
	members := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"m%d"`, i)
		}
		return strings.Join(list, ",")
	}
	for _, c := range []struct {
		method, path, body    string
		requests, rows, heavy int
	}{
		{"GET", "/v1/boards/b/top", "", 1, 0, 0},
		{"GET", "/v1/boards/b/distribution", "", 1, 0, 1},
		{"POST", "/v1/boards/b/ranks", `{"members":[` + members(99) + `]}`, 1, 0, 0},
		{"POST", "/v1/boards/b/ranks", `{"members":[` + members(1000) + `]}`, 1, 0, 10},
		{"GET", "/v1/rankings/top?boards=b", "", 1, 0, 2},
		{"GET", "/v1/rankings/top?boards=b,c,d,e&offset=990&limit=10", "", 1, 0, 2},
		{"GET", "/v1/rankings/top?boards=b,c,d,e&offset=991&limit=10", "", 1, 0, 4},
		{"GET", "/v1/rankings/top?boards=b&offset=20000", "", 1, 0, 2},
		{"GET", "/v1/rankings/top?boards=b,c,d,e&cursor=x", "", 1, 0, 4},
		{"GET", "/v1/rankings/members/m?boards=b,c,d", "", 1, 0, 3},
		{"GET", "/v1/rankings/members/m/around?boards=b,c,d,e", "", 1, 0, 4},
		{"GET", "/v1/boards/b/verify", "", 1, 0, 10},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"a","score":1}]}`, 1, 1, 0},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"a","score":1},{"member":"b","score":1},{"member":"c","score":1}]}`, 1, 3, 0},
		{"POST", "/v1/scores", `{"entries":[{"board":"b","member":"a","score":1},{"board":"b","member":"b","score":1}]}`, 1, 2, 0},
		{"GET", "/boards/b/picture.png", "", 1, 0, 5}, // the page asks for the board, too
		{"GET", "/livez", "", 0, 0, 0},
		{"GET", "/nowhere", "", 0, 0, 0},
	} {
		q := &charges{}
		e := newEnv(t, withCharges(q))
		for _, name := range []string{"b", "c", "d", "e"} {
			e.Board(name, leaderboard.Rules{})
		}
		e.Do(apitest.Ask{Method: c.method, Path: c.path, Body: c.body, Key: apitest.AdminKey})
		want := leaderboard.Charge{c.requests, c.rows, c.heavy}
		if q.charged != want {
			t.Errorf("%s %s %s: charged %v, want %v", c.method, c.path, wire.Clip(c.body), q.charged, want)
		}
	}
}

// TestDeniedIsCharged: a request that its key may not make counts for the key as one.
func TestDeniedIsCharged(t *testing.T) {
	t.Parallel()
	q := &charges{most: leaderboard.Charge{leaderboard.QuotaKindRequests: 4, leaderboard.QuotaKindRows: 100, leaderboard.QuotaKindHeavy: 100}}
	e := newEnv(t, withCharges(q))
	e.Board("b", leaderboard.Rules{})
	some := e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*"} })
	e.Get(apitest.ReadKey, "/v1/boards/b/verify").WantProblem(http.StatusForbidden, wire.CodeForbidden)
	e.Get(apitest.NoKey, "/v1/boards/b/verify").WantProblem(http.StatusUnauthorized, wire.CodeUnauthorized)
	e.Delete(some, "/v1/members/m").WantProblem(http.StatusForbidden, wire.CodeForbidden)
	if got := e.Do(apitest.Ask{Method: http.MethodDelete, Path: "/v1/boards/b", Key: some}); got.Status != http.StatusForbidden || got.Header.Get("RateLimit") == "" {
		t.Errorf("%d, %v", got.Status, got.Header)
	}
	if want := (leaderboard.Charge{leaderboard.QuotaKindRequests: 4}); q.charged != want {
		t.Errorf("charged %v, want %v", q.charged, want)
	}
	e.Do(apitest.Ask{Method: http.MethodDelete, Path: "/v1/boards/b", Key: some}).WantProblem(http.StatusTooManyRequests, wire.CodeQuota)
}

// TestChargedWhom: a caller with a key is charged by the key, any other caller by the address: of the connection, or as trusted
// proxies name it. This machine and a proxy itself are not charged, unless the proxy names no address.
func TestChargedWhom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key, remote string
		forwarded   []string
		want        string // "": no caller
	}{
		"a key":                          {apitest.ReadKey, "192.0.2.1:5", nil, "env:read"},
		"a key on this machine":          {apitest.ReadKey, "127.0.0.1:5", nil, "env:read"},
		"IPv4":                           {apitest.NoKey, "192.0.2.1:5", nil, "192.0.2.1"},
		"IPv4 in IPv6":                   {apitest.NoKey, "[::ffff:192.0.2.1]:5", nil, "192.0.2.1"},
		"IPv6":                           {apitest.NoKey, "[2001:db8:1:2:3:4:5:6]:5", nil, "2001:db8:1:2::"},
		"this machine":                   {apitest.NoKey, "127.0.0.1:5", nil, ""},
		"this machine by IPv6":           {apitest.NoKey, "[::1]:5", nil, ""},
		"no address":                     {apitest.NoKey, "@", nil, ""},
		"whoever says so":                {apitest.NoKey, "192.0.2.1:5", []string{"198.51.100.7"}, "192.0.2.1"},
		"through a proxy":                {apitest.NoKey, "10.0.0.1:5", []string{"198.51.100.7"}, "198.51.100.7"},
		"through a proxy, with a port":   {apitest.NoKey, "10.0.0.1:5", []string{"198.51.100.7:1234"}, "198.51.100.7"},
		"IPv6 with a port":               {apitest.NoKey, "10.0.0.1:5", []string{"[2001:db8:1:2:3::1]:1234"}, "2001:db8:1:2::"},
		"IPv6 in brackets":               {apitest.NoKey, "10.0.0.1:5", []string{"[2001:db8:1:2:3::1]"}, "2001:db8:1:2::"},
		"through two":                    {apitest.NoKey, "10.0.0.1:5", []string{"198.51.100.7, 10.0.0.2"}, "198.51.100.7"},
		"through two that add fields":    {apitest.NoKey, "10.0.0.1:5", []string{"203.0.113.9, 198.51.100.7", "10.0.0.2"}, "198.51.100.7"},
		"through a proxy, and lies":      {apitest.NoKey, "10.0.0.1:5", []string{"203.0.113.1, 127.0.0.1, 2001:db8:1:2:3::1"}, "2001:db8:1:2::"},
		"a proxy for itself":             {apitest.NoKey, "10.0.0.1:5", nil, ""},
		"a proxy that does not say who":  {apitest.NoKey, "10.0.0.1:5", []string{""}, ""},
		"a proxy that does not know":     {apitest.NoKey, "10.0.0.1:5", []string{"203.0.113.1, unknown"}, "10.0.0.1"},
		"no address from one of two":     {apitest.NoKey, "10.0.0.1:5", []string{"203.0.113.1, bogus, 10.0.0.2"}, "10.0.0.1"},
		"nothing after a comma":          {apitest.NoKey, "10.0.0.1:5", []string{"203.0.113.1,"}, "10.0.0.1"},
		"no address in a second field":   {apitest.NoKey, "10.0.0.1:5", []string{"203.0.113.1", "bogus"}, "10.0.0.1"},
		"a proxy on this machine":        {apitest.NoKey, "127.0.0.1:5", []string{"203.0.113.1, unknown"}, "127.0.0.1"},
		"this machine through a proxy":   {apitest.NoKey, "10.0.0.1:5", []string{"127.0.0.1"}, ""},
		"a proxy that says it is itself": {apitest.NoKey, "10.0.0.1:5", []string{"10.0.0.1"}, ""},
	} {
		q := &charges{}
		e := newEnv(t, withCharges(q, "10.0.0.0/8", "127.0.0.1/32"))
		e.Board("b", leaderboard.Rules{})
		r := apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/b/top", Key: c.key}.Request()
		r.RemoteAddr, r.Header["X-Forwarded-For"] = c.remote, c.forwarded
		e.api.ServeHTTP(httptest.NewRecorder(), r)
		if got := strings.Join(q.who, " "); got != c.want {
			t.Errorf("%s: %q was charged, want %q", name, got, c.want)
		}
	}
}

// TestQuotaOfAnAddress: answers without a key do not mention quotas until the quota is used up.
func TestQuotaOfAnAddress(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withCharges(&charges{most: leaderboard.Charge{leaderboard.QuotaKindRequests: 1}}))
	e.Board("b", leaderboard.Rules{})
	if got := e.Get(apitest.NoKey, "/v1/boards/b/top").Want(http.StatusOK); got.Header.Get("RateLimit") != "" || got.Header.Get("RateLimit-Policy") != "" {
		t.Errorf("%v", got.Header)
	}
	got := e.Get(apitest.NoKey, "/v1/boards/b/top")
	got.WantProblem(http.StatusTooManyRequests, wire.CodeQuota)
	if got.Header.Get("RateLimit") != `"requests";r=0;t=7` {
		t.Errorf("%v", got.Header)
	}
}

// TestFailedAttempts: after a number of invalid keys an address must wait, and a good key is still served.
func TestFailedAttempts(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withCharges(&charges{}))
	e.Board("b", leaderboard.Rules{})
	for range 3 {
		madeUp, _ := leaderboard.NewKeySecret(leaderboard.NewKeyID())
		e.Get(madeUp, "/v1/boards/b/top").WantProblem(http.StatusUnauthorized, wire.CodeUnauthorized)
	}
	for range 10 {
		e.Get(apitest.NoKey, "/v1/runs").WantProblem(http.StatusUnauthorized, wire.CodeUnauthorized) // no key is no attempt
		e.Get(apitest.ReadKey, "/v1/boards/b/top").Want(http.StatusOK)
	}
	got := e.Get("guess", "/v1/boards/b/top")
	if p := got.WantProblem(http.StatusTooManyRequests, wire.CodeAttempts); !slices.Equal(p.Quotas, []string{"attempts"}) {
		t.Errorf("%v", p.Quotas)
	}
	if got.Header.Get("RateLimit-Policy") != `"attempts";q=3;w=30` || got.Header.Get("RateLimit") != `"attempts";r=0;t=20` {
		t.Errorf("%v", got.Header)
	}
	if after, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || after < 20 {
		t.Errorf("Retry-After: %s", got.Header.Get("Retry-After"))
	}
	e.Get(apitest.ReadKey, "/v1/boards/b/top").Want(http.StatusOK)
}

// TestWrongCookies: an invalid cookie is an attempt, like an invalid key, the first time that an address sends its value: a
// browser continues to send an expired cookie. A good cookie is served (promise G9).
func TestWrongCookies(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withCharges(&charges{}))
	e.Board("b", leaderboard.Rules{})
	with := func(value string) apitest.Reply {
		return e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/b/top", Header: http.Header{"Cookie": {sessionCookie + "=" + value}}})
	}
	for range 2 { // a person whose role gives less than it did has guessed nothing
		with(e.Key(leaderboard.ScopeRead, func(k *leaderboard.Key) { k.Person, k.Role = "ada", roleWithout })).Want(http.StatusOK)
	}
	for i := range 3 {
		with(fmt.Sprint("guess", i)).Want(http.StatusOK)
		with("guess0").Want(http.StatusOK)
	}
	for i := range 10 {
		got := with(fmt.Sprint("other", i))
		got.WantProblem(http.StatusTooManyRequests, wire.CodeAttempts)
		if got.Header.Get("Retry-After") == "" {
			t.Errorf("%v", got.Header)
		}
		with("guess2").Want(http.StatusOK)
	}
	with(apitest.ReadKey).Want(http.StatusOK)
	e.Get(apitest.NoKey, "/v1/boards/b/top").Want(http.StatusOK)
}

// TestQuotaAnswersTakeAShare: requests that a quota refuses wait for the answer like other refused requests, and no other request
// waits (promise E4).
func TestQuotaAnswersTakeAShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &charges{}
		e := newEnv(t, withCharges(q))
		e.Board("b", leaderboard.Rules{})
		took := func() time.Duration {
			start := time.Now()
			e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"a","score":1}]}`)
			return time.Since(start)
		}
		e.api.shared.guard.RefuseFrom(time.Now().Add(300 * time.Millisecond))
		if d := took(); d != 0 {
			t.Errorf("an answer took %s", d)
		}
		q.most[leaderboard.QuotaKindRequests] = 1
		if d := took(); d != 300*time.Millisecond {
			t.Errorf("a refused one took %s", d)
		}
	})
}

// TestElements: the elements of a list are counted as decoding would.
func TestElements(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`{}`: 0, `{"entries":[]}`: 0, `{"entries": [ ] }`: 0, `{"entries":[1]}`: 1, `{"entries":[{}]}`: 1, `{"entries":["a","b"]}`: 2,
		`{"entries":[{"member":"a,b]}\"","fields":{"x":1,"y":2}},{"member":"\\","score":[1,2,3]}]}`: 2,
		`{"a":[{},{}],"b":["x"]}`:            3,
		`{"entries":[{"member":"}","x":1`:    0,
		`{"entries":[{"member":"a"},"\`:      1,
		`]]]]`:                               0,
		"{\"entries\":[\n{},\n\t{},\n{}\n]}": 3,
	} {
		if got := wire.OutlineOf([]byte(body)).Elements; got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}

// FuzzElements: for a body that the API would decode, the count is the length of the list.
func FuzzElements(f *testing.F) {
	f.Add(`{"entries":[{"member":"a","score":1},{"member":"b"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		got := wire.OutlineOf([]byte(body)).Elements
		var of struct{ Entries []map[string]any }
		var names map[string]json.RawMessage
		if json.Unmarshal([]byte(body), &of) != nil || json.Unmarshal([]byte(body), &names) != nil || len(names) != 1 || of.Entries == nil || strings.Count(body, `"`) < 2 {
			return
		}
		if strings.Count(strings.ToLower(body), "entries") == 1 && got != len(of.Entries) {
			t.Errorf("%d, want %d", got, len(of.Entries))
		}
	})
}

// TestQuotaFieldsAllocate: the fields cost two allocations, and none without a key.
func TestQuotaFieldsAllocate(t *testing.T) {
	q := &charges{most: leaderboard.Charge{1 << 40, 1 << 40, 1 << 40}}
	allocs := func(change func(*Config), key string) float64 {
		f := newFixed()
		cfg := Config{Catalog: f, Rankings: f, Writer: f, SettingsKeys: []SettingsKey{{Scope: leaderboard.ScopeRead, Secret: apitest.ReadKey}}}
		change(&cfg)
		api, r := New(cfg), apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/demo/top", Key: key}.Request()
		r.Body = http.NoBody
		return testing.AllocsPerRun(200, func() {
			q.who = q.who[:0]
			api.ServeHTTP(discard{http.Header{}}, r)
		})
	}
	without := allocs(func(*Config) {}, apitest.ReadKey)
	if with := allocs(withCharges(q), apitest.ReadKey); with-without > 2+3 { // with the ninth field the map of the header grows
		t.Errorf("%v allocations with a quota, %v without", with, without)
	}
	r := apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/demo/top"}.Request()
	without = allocs(func(*Config) {}, apitest.NoKey)
	if with := allocs(func(cfg *Config) {
		withCharges(q)(cfg)
		cfg.Proxies = []netip.Prefix{netip.MustParsePrefix(strings.Split(r.RemoteAddr, ":")[0] + "/32")}
	}, apitest.NoKey); with != without {
		t.Errorf("%v allocations with quotas, %v without", with, without)
	}
}
