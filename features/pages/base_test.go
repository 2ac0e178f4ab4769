package pages

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestBase: below a path every address in a page is below it, and the answers that come with the page keep the addresses of the API, by
// which its script finds them.
func TestBase(t *testing.T) {
	logo, err := newLogo(encoded(t, 20, 10, asPNG))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(&Options{Base: "/games", Face: Face{Accent: rgb{1, 2, 3}, Logo: logo}})
	if err != nil {
		t.Fatal(err)
	}
	addresses := regexp.MustCompile(`(?:href|src|action|content)="((?:http://example\.com)?/[^"]*)"`)
	for _, path := range []string{"/", "/?labels=type:moba&lang=de", "/boards/demo", "/boards/demo?member=ada&lang=de&offset=25", "/boards/demo?member=Ada", "/boards/demo?embed=1", "/boards/none", "/console"} {
		w := httptest.NewRecorder()
		s.Handler(http.HandlerFunc(fakeAPI)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		found := addresses.FindAllStringSubmatch(w.Body.String(), -1)
		if len(found) < 3 {
			t.Errorf("%s has %d addresses", path, len(found))
		}
		for _, m := range found {
			if !strings.HasPrefix(strings.TrimPrefix(m[1], "http://example.com"), "/games/") {
				t.Errorf("%s leads to %s", path, m[1])
			}
		}
		if strings.Contains(w.Body.String(), `"/games/v1/`) {
			t.Errorf("%s: the answers have other addresses than the API", path)
		}
	}
}
