package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// browser is the browser of a person: it keeps cookies. To it all servers of a test are one host.
type browser struct {
	t      *testing.T
	client *http.Client
	header http.Header // of each request
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar}, http.Header{}}
}

// stops makes the browser show where it would be sent.
func (b *browser) stops() *browser {
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

// do sends a request and returns its answer and body.
func (b *browser) do(method, address, body string) (*http.Response, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for name, values := range b.header {
		req.Header[name] = values
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp, string(text)
}

// want sends a request whose answer must have a status, and some words.
func (b *browser) want(status int, method, address, body string, words ...string) string {
	b.t.Helper()
	resp, text := b.do(method, address, body)
	if resp.StatusCode != status {
		b.t.Fatalf("%s %s: %d %s, want %d", method, address, resp.StatusCode, text, status)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			b.t.Errorf("%s %s: no %q in %s", method, address, word, text)
		}
	}
	return text
}

// signIn signs a person in, as far as the console.
func (b *browser) signIn(site string) {
	b.t.Helper()
	resp, text := b.do(http.MethodGet, site+"/v1/sign-in", "")
	if resp.StatusCode != http.StatusOK || resp.Request.URL.Path != "/console" {
		b.t.Fatalf("the sign-in ended at %s: %d %s", resp.Request.URL, resp.StatusCode, text)
	}
}

// callback goes to the provider and returns the address to which it sends back. The browser must stop.
func (b *browser) callback(site string) *url.URL {
	b.t.Helper()
	resp, text := b.do(http.MethodGet, site+"/v1/sign-in", "")
	if resp.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("%d %s", resp.StatusCode, text)
	}
	resp, text = b.do(http.MethodGet, resp.Header.Get("Location"), "")
	back, err := resp.Location()
	if err != nil {
		b.t.Fatalf("%s: %d %s", err, resp.StatusCode, text)
	}
	return back
}

// cookie returns the value of a cookie.
func (b *browser) cookie(site, name string) string {
	at, err := url.Parse(site)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// plant gives the browser a cookie.
func (b *browser) plant(site, name, value string) {
	at, err := url.Parse(site)
	if err != nil {
		b.t.Fatal(err)
	}
	b.client.Jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// who returns the key that the browser has at a server, nil for none.
func (b *browser) who(site string) (key map[string]any) {
	b.t.Helper()
	var said struct {
		Key    map[string]any `json:"key"`
		SignIn bool           `json:"sign_in"`
	}
	var text string
	apptest.Eventually(b.t, func() string { // on a busy machine the database may not answer at once
		resp, is := b.do(http.MethodGet, site+"/v1/session", "")
		if text = is; resp.StatusCode != http.StatusOK {
			return resp.Status + " " + is
		}
		return ""
	})
	if err := json.Unmarshal([]byte(text), &said); err != nil || !said.SignIn {
		b.t.Fatalf("%+v, %v", said, err)
	}
	return said.Key
}

// until polls until a server has forgotten, or learnt, who the browser is.
func (b *browser) until(site string, known bool) {
	b.t.Helper()
	apptest.Eventually(b.t, func() string {
		if key := b.who(site); (key != nil) != known {
			return fmt.Sprint("the session is ", key)
		}
		return ""
	})
}

// signsIn are the settings of a server whose admins are the group ops, whose writers the group editors and whose readers Bob.
func signsIn(p *apptest.Provider) func(*Config) {
	return func(cfg *Config) {
		in := signInOf(cfg)
		in.Issuer, in.Client, in.Secret = p.URL, p.Client, p.Secret
		in.Admins, in.Writers, in.Readers = []string{"ops"}, []string{"editors"}, []string{"Bob"}
	}
}

func person(name string, groups ...any) map[string]any {
	return map[string]any{"sub": "subject of " + name, "email": name, "email_verified": true, "groups": groups}
}

// auditOf returns "action actor" of the newest records of a board, or of all.
func auditOf(a *testApp, query string) (out []string) {
	_, text := a.as(a.T.Context(), apptest.AdminKey, http.MethodGet, "/v1/audit?"+query, "")
	var found struct {
		Entries []struct{ Action, Actor string } `json:"entries"`
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		a.T.Fatalf("%s: %s", err, text)
	}
	for _, e := range found.Entries {
		out = append(out, e.Action+" "+e.Actor)
	}
	return out
}

// TestSignIn: a person signs in by the provider, is known to every server with the rights of the role, appears by name in the
// audit of every change that the person made, and is unknown to all servers soon after signing out.
func TestSignIn(t *testing.T) {
	onDatabases(t, func(t *testing.T, dsn string) {
		p := apptest.NewProvider(t)
		p.SetPerson(person("ada@example.com", "staff", "ops"))
		first, second := startReady(t, dsn, "", signsIn(p)), startReady(t, dsn, "", signsIn(p))
		b := newBrowser(t)
		if key := b.who(first.URL); key != nil {
			t.Fatalf("nobody signed in: %v", key)
		}
		b.want(http.StatusUnauthorized, http.MethodPut, first.URL+"/v1/boards/b", `{}`)
		b.signIn(first.URL)
		for _, s := range []*testApp{first, second} {
			b.until(s.URL, true)
			key := b.who(s.URL)
			if key["person"] != "ada@example.com" || key["scope"] != "admin" || key["role"] != "ops" || key["boards"] != nil || key["secret"] != nil {
				t.Errorf("%v", key)
			}
		}
		b.want(http.StatusCreated, http.MethodPut, first.URL+"/v1/boards/b", `{"visibility":"private"}`)
		b.want(http.StatusOK, http.MethodPost, second.URL+"/v1/boards/b/scores", `{"entries":[{"member":"m","score":1}]}`)
		b.want(http.StatusOK, http.MethodGet, second.URL+"/v1/boards/b/top", "")
		b.want(http.StatusOK, http.MethodPut, first.URL+"/v1/boards/b/members/m/hidden", `{"reason":"cheats"}`, `"actor":"person:ada@example.com"`)
		if got := auditOf(first, "board=b"); !slices.Equal(got, []string{"member.hide person:ada@example.com", "board.create person:ada@example.com"}) {
			t.Errorf("of the board: %q", got)
		}
		if got := auditOf(first, "actor=person:ada@example.com&action=session.begin"); len(got) != 1 {
			t.Errorf("of the sign-in: %q", got)
		}
		b.want(http.StatusNoContent, http.MethodDelete, second.URL+"/v1/session", "")
		if b.cookie(first.URL, "leaderboard-session") != "" {
			t.Error("the cookie is still there")
		}
		if got := auditOf(first, "actor=person:ada@example.com&action=key.revoke"); len(got) != 1 {
			t.Errorf("of the sign-out: %q", got)
		}
	})
}

// TestSignInCookies: scripts and pages of other sites do not get at the cookies, and over https no other host can plant one.
func TestSignInCookies(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t)
	p.SetPerson(person("ada@example.com", "ops"))
	a := startReady(t, testenv.MySQL(t), "", signsIn(p))
	https := startReady(t, a.cfg.MySQLDSN, "", signsIn(p), func(cfg *Config) {
		in := signInOf(cfg)
		in.PublicURL = strings.Replace(in.PublicURL, "http", "https", 1)
	})
	b := newBrowser(t).stops()
	back := b.callback(a.URL)
	resp, text := b.do(http.MethodGet, back.String(), "")
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/console" || len(resp.Cookies()) != 2 {
		t.Fatalf("%d %s %s", resp.StatusCode, resp.Header, text)
	}
	for _, c := range resp.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.Path != "/" || c.Domain != "" {
			t.Errorf("%s", c.Raw)
		}
	}
	resp, _ = newBrowser(t).stops().do(http.MethodGet, https.URL+"/v1/sign-in", "")
	if to, err := resp.Location(); err != nil || to.Query().Get("redirect_uri") != signInOf(&https.cfg).PublicURL+"/v1/sign-in/callback" {
		t.Errorf("%v, %v", to, err)
	}
	if c := resp.Cookies(); len(c) != 1 || c[0].Name != "__Host-leaderboard-sign-in" || !c[0].Secure || c[0].MaxAge != 600 {
		t.Errorf("%v", c)
	}
}

// TestKeptKey: a browser keeps a key that somebody typed, as long as the key is good and the person is not signed out, without an
// identity provider and with any characters in the key. Pages of other sites do not act with it.
func TestKeptKey(t *testing.T) {
	t.Parallel()
	const odd = `a"b;c\d%2B+e`
	a := startReady(t, testenv.MySQL(t), "", func(cfg *Config) {
		cfg.Keys = append(cfg.Keys, httpapi.SettingsKey{Scope: leaderboard.ScopeWrite, Secret: odd})
	})
	_, text := a.as(t.Context(), apptest.AdminKey, http.MethodPost, "/v1/keys", `{"name":"desk","scope":"admin"}`)
	var made struct{ ID, Secret string }
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.Secret == "" {
		t.Fatalf("%s: %v", text, err)
	}
	session := a.URL + "/v1/session"
	keep := func(b *browser, key string) {
		t.Helper()
		b.header.Set("Authorization", "Bearer "+key)
		b.want(http.StatusNoContent, http.MethodPost, session, "")
		b.header.Del("Authorization")
	}

	b := newBrowser(t)
	b.want(http.StatusUnauthorized, http.MethodPost, session, "")
	b.header.Set("Authorization", "Bearer "+made.Secret+"x")
	b.want(http.StatusUnauthorized, http.MethodPost, session, "")
	b.header.Set("Authorization", "Bearer "+made.Secret)
	b.header.Set("Sec-Fetch-Site", "cross-site")
	b.want(http.StatusForbidden, http.MethodPost, session, "", "another site")
	b.header.Del("Authorization")
	b.header.Del("Sec-Fetch-Site")
	b.want(http.StatusOK, http.MethodGet, session, "", `"key":null`)

	b.header.Set("Authorization", "Bearer "+made.Secret)
	for _, body := range []string{`{"ttl":"13h"}`, `{"ttl":"0s"}`, `{"ttl":"day"}`, `{"key":"k"}`} {
		b.want(http.StatusBadRequest, http.MethodPost, session, body)
	}
	resp, _ := b.do(http.MethodPost, session, `{"ttl":"90s"}`)
	if c := resp.Cookies(); len(c) != 1 || c[0].MaxAge != 90 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteLaxMode {
		t.Errorf("%v", c)
	}
	keep(b, made.Secret)
	b.want(http.StatusUnauthorized, http.MethodPost, session, "", "must be in the header") // it is not kept for longer without a request
	b.want(http.StatusOK, http.MethodGet, session, "", made.ID, `"sign_in":false`)
	b.want(http.StatusCreated, http.MethodPut, a.URL+"/v1/boards/b", `{}`)
	if got := auditOf(a, "board=b"); !slices.Equal(got, []string{"board.create " + made.ID}) {
		t.Errorf("%q", got)
	}
	b.header.Set("Sec-Fetch-Site", "cross-site")
	b.want(http.StatusForbidden, http.MethodPut, a.URL+"/v1/boards/c", `{}`, "another site")
	b.header.Del("Sec-Fetch-Site")

	b.want(http.StatusNoContent, http.MethodDelete, session, "")
	b.want(http.StatusOK, http.MethodGet, session, "", `"key":null`)
	keep(b, made.Secret) // the key stays good
	a.as(t.Context(), apptest.AdminKey, http.MethodDelete, "/v1/keys/"+made.ID, "")
	apptest.Eventually(t, func() string {
		if _, text := b.do(http.MethodGet, session, ""); !strings.Contains(text, `"key":null`) {
			return "a revoked key is kept: " + text
		}
		return ""
	})
	b.want(http.StatusUnauthorized, http.MethodPut, a.URL+"/v1/boards/c", `{}`)

	keep(b, odd)
	b.want(http.StatusOK, http.MethodGet, session, "", `"id":"env:write"`)
}

// TestSignInRefused: whatever is not the answer of the provider to this browser's sign-in signs nobody in.
func TestSignInRefused(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t)
	a := startReady(t, testenv.MySQL(t), "", signsIn(p))
	claim := func(name string, value any) func(map[string]any) {
		return func(claims map[string]any) { claims[name] = value }
	}
	for _, tc := range []struct {
		name   string
		change func(claims map[string]any)                      // of the ID token
		do     func(b *browser, back *url.URL) (back2 *url.URL) // before the browser comes back
		status int
		words  string
	}{
		{name: "another state", status: 400, words: "no such sign-in", do: func(_ *browser, back *url.URL) *url.URL {
			return with(back, "state", "another")
		}},
		{name: "another browser", status: 400, words: "no such sign-in", do: func(b *browser, back *url.URL) *url.URL {
			b.plant(a.URL, "leaderboard-sign-in", "")
			return back
		}},
		{name: "another's code", status: 400, words: "does not take the code", do: func(_ *browser, back *url.URL) *url.URL {
			other := newBrowser(t).stops().callback(a.URL)
			return with(back, "code", other.Query().Get("code"))
		}},
		{name: "no code", status: 400, words: "access_denied", do: func(_ *browser, back *url.URL) *url.URL {
			return with(with(back, "code", ""), "error", "access_denied")
		}},
		{name: "another nonce", change: claim("nonce", "another"), status: 400, words: "another sign-in"},
		{name: "no nonce", change: claim("nonce", nil), status: 400, words: "another sign-in"},
		{name: "another audience", change: claim("aud", "shop"), status: 400, words: "another client"},
		{name: "several audiences", change: claim("aud", []string{p.Client, "shop"}), status: 400, words: "another client"},
		{name: "another party", change: claim("azp", "shop"), status: 400, words: "another client"},
		{name: "another issuer", change: claim("iss", "https://elsewhere.example"), status: 400, words: "another issuer"},
		{name: "an old token", change: claim("exp", time.Now().Add(-time.Hour).Unix()), status: 400, words: "is over"},
		{name: "no role", change: claim("groups", []string{"staff"}), status: 403, words: "You are ada@example.com"},
		{name: "no groups", change: claim("groups", nil), status: 403, words: "no role here"},
		{name: "no name", change: func(c map[string]any) { c["email"], c["sub"] = nil, strings.Repeat("a", 101) }, status: 400, words: "no name"},
		{name: "no subject", change: claim("sub", nil), status: 400, words: "no subject"},
	} {
		p.SetPerson(person("ada@example.com", "ops"))
		b := newBrowser(t).stops()
		back := b.callback(a.URL)
		if tc.do != nil {
			back = tc.do(b, back)
		}
		p.SetChange(tc.change)
		resp, text := b.do(http.MethodGet, back.String(), "")
		p.SetChange(nil)
		if resp.StatusCode != tc.status || !strings.Contains(text, tc.words) || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", tc.name, resp.StatusCode, text)
		}
		if b.who(a.URL) != nil {
			t.Errorf("%s: somebody is signed in", tc.name)
		}
	}
}

func with(u *url.URL, name, value string) *url.URL {
	out, query := *u, u.Query()
	query.Set(name, value)
	out.RawQuery = query.Encode()
	return &out
}

// TestSignInIsUsedOnce: neither the address nor the code of a sign-in serves twice, and a browser is sent to the console with the
// error.
func TestSignInIsUsedOnce(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t)
	p.SetPerson(person("ada@example.com", "ops"))
	a := startReady(t, testenv.MySQL(t), "", signsIn(p))
	b := newBrowser(t).stops()
	back := b.callback(a.URL)
	underWay := b.cookie(a.URL, "leaderboard-sign-in")
	b.want(http.StatusSeeOther, http.MethodGet, back.String(), "")
	b.want(http.StatusBadRequest, http.MethodGet, back.String(), "", "no such sign-in")
	b.plant(a.URL, "leaderboard-sign-in", underWay)
	b.want(http.StatusBadRequest, http.MethodGet, back.String(), "", "does not take the code")
	b.header.Set("Accept", "text/html,*/*;q=0.8")
	if resp, text := b.do(http.MethodGet, back.String(), ""); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/console?sign-in=sign-in-refused" {
		t.Errorf("%d %s %s", resp.StatusCode, resp.Header, text)
	}
}

// TestProviderAway: without the provider nobody can sign in; people who are signed in stay signed in, and keys continue to work.
// People sign in again when the provider is back.
func TestProviderAway(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t)
	p.SetPerson(person("ada@example.com", "ops"))
	p.SetAway(true)
	a := startReady(t, testenv.MySQL(t), "", signsIn(p))
	b := newBrowser(t).stops()
	b.want(http.StatusServiceUnavailable, http.MethodGet, a.URL+"/v1/sign-in", "", "/problems/provider-away")
	p.SetAway(false)
	apptest.Eventually(t, func() string { // the provider is not asked all the time
		resp, text := b.do(http.MethodGet, a.URL+"/v1/sign-in", "")
		if resp.StatusCode != http.StatusSeeOther {
			return text
		}
		return ""
	})
	back := b.callback(a.URL)
	p.SetAway(true)
	b.want(http.StatusServiceUnavailable, http.MethodGet, back.String(), "", "/problems/provider-away")
	p.SetAway(false)
	b.want(http.StatusSeeOther, http.MethodGet, b.callback(a.URL).String(), "")
	p.SetAway(true)
	b.want(http.StatusCreated, http.MethodPut, a.URL+"/v1/boards/b", `{}`)
	a.Ask(201, "PUT", "/v1/boards/c", `{}`)
}

// TestRolesOfPeople: the rights of a person follow from one claim, and the boards from another.
func TestRolesOfPeople(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t)
	a := startReady(t, testenv.MySQL(t), "", signsIn(p), func(cfg *Config) { signInOf(cfg).Boards = "games" })
	mails := startReady(t, a.cfg.MySQLDSN, "", signsIn(p), func(cfg *Config) {
		in := signInOf(cfg)
		in.Claim, in.Admins = "email", []string{"Ada@Example.com"}
	})
	a.Ask(201, "PUT", "/v1/boards/chess", `{"visibility":"private"}`)
	a.Ask(201, "PUT", "/v1/boards/go", `{"visibility":"private"}`)
	claims := person("eve@example.com", "editors")
	claims["games"] = []string{"che*"}
	p.SetPerson(claims)
	b := newBrowser(t)
	b.signIn(a.URL)
	b.want(http.StatusOK, http.MethodPost, a.URL+"/v1/boards/chess/scores", `{"entries":[{"member":"m","score":1}]}`)
	b.want(http.StatusForbidden, http.MethodPost, a.URL+"/v1/boards/go/scores", `{"entries":[{"member":"m","score":1}]}`, "it is for che*")
	b.want(http.StatusForbidden, http.MethodPut, a.URL+"/v1/boards/chess", `{}`, "scope admin")
	for name, games := range map[string]any{"none": nil, "no names": []string{"a b"}, "an object": map[string]any{}} {
		claims["games"] = games
		resp, text := newBrowser(t).do(http.MethodGet, a.URL+"/v1/sign-in", "")
		if resp.StatusCode != http.StatusForbidden || !strings.Contains(text, "no-role") {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
	p.SetPerson(map[string]any{"sub": "7", "email": "ada@example.com", "email_verified": false, "groups": []string{"ops"}})
	newBrowser(t).want(http.StatusForbidden, http.MethodGet, mails.URL+"/v1/sign-in", "", "You are 7")
	p.SetPerson(map[string]any{"sub": "7", "email": "ada@example.com", "email_verified": true})
	b = newBrowser(t)
	b.signIn(mails.URL)
	if key := b.who(mails.URL); key["scope"] != "admin" || key["person"] != "ada@example.com" {
		t.Errorf("%v", key)
	}
}

// TestSessionEnds: a session ends when its time is over, when an admin ends it, and with its role in the settings; it is no key
// for anything else. An open stream of the session ends too.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t)
	p.SetPerson(person("ada@example.com", "ops"))
	dsn := testenv.MySQL(t)
	a := startReady(t, dsn, "", signsIn(p))
	a.Ask(201, "PUT", "/v1/boards/b", `{"visibility":"private"}`)
	b := newBrowser(t)
	b.signIn(a.URL)
	id, _ := b.who(a.URL)["id"].(string)
	a.Ask(422, "PATCH", "/v1/keys/"+id, `{"name":"eve@example.com"}`)
	a.Ask(422, "POST", "/v1/keys/"+id+"/rotate", `{}`)
	other := startReady(t, dsn, "", signsIn(p), func(cfg *Config) {
		in := signInOf(cfg)
		in.Admins, in.Writers = []string{"bosses"}, []string{"ops"}
	})
	if key := b.who(other.URL); key != nil {
		t.Errorf("ops are admins no more: %v", key)
	}
	without := startReady(t, dsn, "")
	b.want(http.StatusUnauthorized, http.MethodGet, without.URL+"/v1/key", "")
	b.want(http.StatusNotFound, http.MethodGet, without.URL+"/v1/sign-in", "", "nobody signs in")

	bounded, cancel := context.WithTimeout(t.Context(), apptest.MaxWait)
	defer cancel()
	req, err := http.NewRequestWithContext(bounded, http.MethodGet, a.URL+"/v1/boards/b/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := b.client.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	defer resp.Body.Close()
	a.Ask(204, "DELETE", "/v1/keys/"+id, "")
	b.until(a.URL, false)
	b.want(http.StatusUnauthorized, http.MethodPut, a.URL+"/v1/boards/b", `{}`)
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("the stream: %v", err)
	}

	b.signIn(a.URL)
	b.until(a.URL, true)
	db, err := sql.Open("mysql", dsn)
	if err == nil {
		_, err = db.ExecContext(t.Context(), "UPDATE api_keys SET expires_at = created_at + INTERVAL 1 MICROSECOND WHERE revoked_at IS NULL") // which no change does
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	a.Ask(201, "POST", "/v1/keys", `{"name":"n","scope":"read"}`) // so that servers look
	b.until(a.URL, false)
	b.want(http.StatusUnauthorized, http.MethodPut, a.URL+"/v1/boards/b", `{}`)
}

// TestSessionIsForThisSite: requests of other sites' pages with the cookie change nothing, the secret of a session is no bearer
// key, and rubbish in the cookie is nobody.
func TestSessionIsForThisSite(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t)
	p.SetPerson(person("ada@example.com", "ops"))
	a := startReady(t, testenv.MySQL(t), "", signsIn(p))
	b := newBrowser(t)
	b.signIn(a.URL)
	for _, from := range []struct {
		header, value string
		status        int
	}{
		{"Sec-Fetch-Site", "cross-site", 403},
		{"Sec-Fetch-Site", "same-site", 403},
		{"Sec-Fetch-Site", "same-origin", 201},
		{"Origin", "https://evil.example", 403},
		{"Origin", "null", 403},
		{"Origin", a.URL, 200},
	} {
		b.header = http.Header{from.header: {from.value}}
		b.want(from.status, http.MethodPut, a.URL+"/v1/boards/b", `{}`)
	}
	b.header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	b.want(http.StatusOK, http.MethodGet, a.URL+"/v1/boards/b/top", "") // which that page cannot read
	secret := b.cookie(a.URL, "leaderboard-session")
	if status := a.with(t.Context(), secret, "/v1/key"); status != http.StatusUnauthorized {
		t.Errorf("the secret of a session as a bearer key: %d", status)
	}
	for _, key := range []string{secret + "x", "rubbish", "%zz"} { // keys are there too: TestKeptKey
		b.plant(a.URL, "leaderboard-session", key)
		if who := b.who(a.URL); who != nil {
			t.Errorf("%s in the cookie: %v", key, who)
		}
	}
}
