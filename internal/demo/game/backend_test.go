package game

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"leaderboard/client"
)

// TestDocsShowTheGame: docs/players.md shows the same backend and the same use of a token by the page.
func TestDocsShowTheGame(t *testing.T) {
	doc := read(t, "../../../docs/players.md")
	_, backend, _ := strings.Cut(read(t, "backend.go"), "var page embed.FS\n\n")
	if !strings.Contains(doc, "```go\n"+backend+"```\n") {
		t.Error("the backend in docs/players.md is not the one in backend.go")
	}
	_, play, _ := strings.Cut(read(t, "page.html"), "  async function play() {")
	play, _, _ = strings.Cut(play, "\n  }\n")
	if play = strings.ReplaceAll("  async function play() {"+play+"\n  }\n", "\n  ", "\n")[2:]; !strings.Contains(doc, "```js\n"+play+"```\n") {
		t.Errorf("what the page does is in docs/players.md otherwise than\n%s", play)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestToken: a visitor is the same player at each visit, with the name that was entered, another visitor is another one, and a page of another site gets no token
// of either.
func TestToken(t *testing.T) {
	var away bool
	names := map[string]string{}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if member, ok := strings.CutPrefix(r.URL.Path, "/v1/members/"); ok {
			var of client.ProfileFields
			if err := json.NewDecoder(r.Body).Decode(&of); err != nil || r.Method != http.MethodPut {
				t.Errorf("%s %s: %v", r.Method, r.URL, err)
			}
			if names[member] = of.DisplayName; of.DisplayName == "reset" {
				w.WriteHeader(http.StatusUnprocessableEntity)
				return
			}
			fmt.Fprintf(w, `{"member": %q, "display_name": %q}`, member, of.DisplayName)
			return
		}
		var body struct {
			Member string   `json:"member"`
			Boards []string `json:"boards"`
			TTL    string   `json:"ttl"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Boards) != 1 || body.Boards[0] != "arcade" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked for %+v, %v", body, err)
		}
		if away {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token": "of %s", "member": %[1]q}`, body.Member)
	}))
	t.Cleanup(service.Close)
	c, err := client.New(service.URL, client.WithKey("secret"))
	if err != nil {
		t.Fatal(err)
	}
	backend := Backend(c, "https://scores.example", "arcade")
	name := "Ada"
	ask := func(method, path string, header http.Header) *httptest.ResponseRecorder {
		r, w := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(url.Values{"name": {" " + name}}.Encode())), httptest.NewRecorder()
		r.Header = header
		header.Set("Content-Type", "application/x-www-form-urlencoded")
		backend.ServeHTTP(w, r)
		return w
	}
	first := ask(http.MethodPost, "/token", http.Header{})
	cookie, body := first.Header().Get("Set-Cookie"), first.Body.String()
	if first.Code != http.StatusOK || !strings.Contains(cookie, "HttpOnly; SameSite=Lax") || !strings.Contains(body, `"token":"of visitor-`) {
		t.Fatalf("%d %s %s", first.Code, cookie, body)
	}
	if len(names) != 1 || !slices.Contains(slices.Collect(maps.Values(names)), "Ada") {
		t.Errorf("the names are %v", names)
	}
	session, _, _ := strings.Cut(cookie, ";")
	again := ask(http.MethodPost, "/token", http.Header{"Cookie": {session}})
	if again.Body.String() != body || again.Header().Get("Set-Cookie") != "" {
		t.Errorf("the same visitor has %s after %s", again.Body, body)
	}
	if other := ask(http.MethodPost, "/token", http.Header{}); other.Body.String() == body {
		t.Error("two visitors are one player")
	}
	if strings.Contains(body, strings.TrimPrefix(session, "game=")) {
		t.Error("the member tells the cookie")
	}
	if w := ask(http.MethodPost, "/token", http.Header{"Cookie": {session}, "Sec-Fetch-Site": {"cross-site"}}); w.Code != http.StatusForbidden {
		t.Errorf("a page of another site has %d %s", w.Code, w.Body)
	}
	if w := ask(http.MethodGet, "/", http.Header{}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<title>Ten Seconds") {
		t.Errorf("the page: %d %s", w.Code, w.Body)
	}
	if name = "reset"; ask(http.MethodPost, "/token", http.Header{"Cookie": {session}}).Code != http.StatusUnprocessableEntity {
		t.Error("a name that the board does not take")
	}
	name = "Ada"
	if away = true; ask(http.MethodPost, "/token", http.Header{}).Code != http.StatusBadGateway {
		t.Error("a token without the service")
	}
}
