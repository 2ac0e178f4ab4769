package pages

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fakeAPI has one public board, named by a hostile mind.
func fakeAPI(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/v1/boards":
		_, _ = w.Write([]byte(`{"boards":[{"name":"demo"}]}`))
	case strings.HasPrefix(r.URL.Path, "/v1/boards/demo/"):
		_, _ = w.Write([]byte(`{"total":1,"entries":[{"member":"<script>m</script>","score":9223372036854775807,"strict_rank":1,"tied_rank":1}]}`))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func get(t *testing.T, path string, header http.Header) *http.Response {
	t.Helper()
	site, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	if header != nil {
		r.Header = header
	}
	w := httptest.NewRecorder()
	site.Handler(http.HandlerFunc(fakeAPI)).ServeHTTP(w, r)
	return w.Result()
}

// TestHostileNames: what members call themselves is text on every page.
func TestHostileNames(t *testing.T) {
	r := get(t, "/boards/demo", nil)
	body := new(strings.Builder)
	if err := r.Write(body); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body.String(), "&lt;script&gt;m") || !strings.Contains(body.String(), "9223372036854775807") {
		t.Errorf("got %s", body)
	}
}
