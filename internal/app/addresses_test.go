package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestAddressesOfAdmins: a private or malformed address is refused when an admin enters it, for endpoints and issuers alike; the
// error names the place and the reason. Addresses that the settings allow are accepted (promise G11).
func TestAddressesOfAdmins(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "")
	private := startReady(t, a.cfg.MySQLDSN, "", func(cfg *Config) { cfg.AllowPrivate = true })
	put := func(s *testApp, what, body string) (int, string) {
		return s.as(t.Context(), apptest.AdminKey, http.MethodPut, "/v1/"+what, body)
	}
	endpoint := func(s *testApp, address string, allow bool) (int, string) {
		return put(s, "endpoints/game", fmt.Sprintf(`{"url":%q,"allow_private":%t,"enabled":false}`, address, allow))
	}
	issuer := func(s *testApp, address string) (int, string) {
		return put(s, "issuers/game", fmt.Sprintf(`{"issuer":"i","audience":"a","jwks_url":%q}`, address))
	}
	for _, address := range []string{
		"https://10.0.0.1/x", "https://127.0.0.1/x", "https://169.254.169.254/latest", "https://[::1]/x", "https://[::ffff:10.0.0.1]/x", "https://localhost/x", "https://redis/x",
		"https://metadata.google.internal/x", "https://127.1/x", "https://2130706433/x", "https://0x7f000001/x", "https://game.example:0/x", "https://game.example:99999/x",
		"https://a..example/x", "https://-a.example/x", "https://u:p@game.example/x", "http://game.example/x", "ftp://game.example/x", "https:///x",
	} {
		if status, text := endpoint(a, address, false); status != http.StatusUnprocessableEntity || !strings.Contains(text, `"/url"`) || !strings.Contains(text, "invalid-endpoint") {
			t.Errorf("an endpoint at %s: %d %s", address, status, text)
		}
		if status, text := issuer(a, address); status != http.StatusUnprocessableEntity || !strings.Contains(text, `"/jwks_url"`) || !strings.Contains(text, "invalid-issuer") {
			t.Errorf("an issuer at %s: %d %s", address, status, text)
		}
	}
	for _, address := range []string{"http://127.0.0.1:8090/x", "http://localhost/x", "https://10.0.0.1/x", "https://redis/x"} {
		if status, text := endpoint(private, address, true); status >= 300 {
			t.Errorf("an endpoint at %s: %d %s", address, status, text)
		}
		if status, text := endpoint(private, address, false); status != http.StatusUnprocessableEntity {
			t.Errorf("an endpoint at %s without allow_private: %d %s", address, status, text)
		}
		if status, text := issuer(private, address); status >= 300 {
			t.Errorf("an issuer at %s: %d %s", address, status, text)
		}
	}
	if status, text := issuer(private, "http://10.0.0.1/x"); status != http.StatusUnprocessableEntity {
		t.Errorf("an issuer by http: %d %s", status, text)
	}
	if status, text := endpoint(a, "https://game.example/hooks", false); status >= 300 {
		t.Errorf("%d %s", status, text)
	}
	if status, text := issuer(a, "https://login.example/keys"); status >= 300 {
		t.Errorf("%d %s", status, text)
	}
}
