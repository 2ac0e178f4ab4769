package wire

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzQuery: a query that is let through has the meaning that net/url gives it.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "limit=1", "limit=1&offset=2", "limit=%31", "limit=1&limit=2", "limit=1;offset=2", "&&limit=1&", "limit", "=", "mode=a+b", "cursor=%ff"} {
		f.Add(s)
	}
	allowed := []string{"window", "period", "mode", "min_seq", "limit", "offset", "cursor"}
	f.Fuzz(func(t *testing.T, raw string) {
		var q Params
		if q.Parse(raw, allowed) != nil {
			return
		}
		want, err := url.ParseQuery(raw)
		if err != nil && !strings.Contains(raw, ";") {
			t.Fatalf("%q is let through: %s", raw, err)
		}
		for name, values := range want {
			if got, ok := q.Get(name); !ok || len(values) != 1 || got != values[0] {
				t.Fatalf("%q: %s is %q, want %q", raw, name, got, values)
			}
		}
	})
}
