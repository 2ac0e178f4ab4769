package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTypeScriptClient: the generated files equal the committed ones, and the tests of clients/typescript succeed in
// Node.js; then a page with the built client does the same in the browser.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	d := running(t)
	check := exec.CommandContext(t.Context(), "../tools/client.sh", "--check")
	check.Env = append(os.Environ(), "LEADERBOARD_URL="+d.URL, "LEADERBOARD_KEY="+d.Key)
	if out, err := check.CombinedOutput(); err != nil {
		t.Fatalf("workshop/tools/client.sh --check: %v\n%s", err, out)
	}

	p := openURL(t, desktop(), clientPage(t, d.URL, d.Key)+"/")
	p.expect("404") // a member who is not there, a board that is gone
	p.awaitText("p", "all is well")
}

// clientPage serves testdata/client.html with the client, and the API's paths from the server: a page may only use its own
// address.
func clientPage(t *testing.T, server, key string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("testdata/client.html")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	mux.Handle("/client/", http.StripPrefix("/client/", http.FileServer(http.Dir("../../clients/typescript/dist"))))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(strings.ReplaceAll(string(page), "KEY", key)))
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}
