package httpapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestReadyz(t *testing.T) {
	e := newEnv(t)
	away := errors.New("dial tcp 10.0.0.7: connection refused, secret")
	for _, c := range []struct {
		health   Health
		draining bool
		status   int
		body     string
	}{
		{Health{map[string]error{"mysql": nil, "redis": nil}, true}, false, 200, `"status":"ok"`},
		{Health{map[string]error{"mysql": nil, "redis": away}, true}, false, 200, `"status":"degraded"`},
		{Health{map[string]error{"mysql": away, "redis": nil}, true}, false, 200, `"status":"degraded"`},
		{Health{map[string]error{"mysql": away, "redis": nil}, false}, false, 503, `"mysql":"unreachable"`},
		{Health{map[string]error{"mysql": away, "redis": away}, false}, false, 503, `"status":"unavailable"`},
		{Health{map[string]error{"mysql": fmt.Errorf("x: %w", Reason("migrations are pending"))}, false}, false, 503, `"mysql":"migrations are pending"`},
		{Health{map[string]error{"mysql": nil, "redis": nil}, true}, true, 503, `"status":"draining"`},
		{Health{Ready: true}, false, 200, `"status":"ok"`},
	} {
		e.fake.health = c.health
		e.api.SetDraining(c.draining)
		r := e.get(noKey, "/readyz").want(c.status)
		if !strings.Contains(string(r.body), c.body) || strings.Contains(string(r.body), "secret") {
			t.Errorf("%v: %s", c.health, r.body)
		}
		e.get(noKey, "/livez").want(200)
	}
}

func TestMetricsElsewhere(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Metrics = nil })
	r := e.do(ask{method: "GET", path: "/metrics", undocumented: true})
	r.wantProblem(404, codeNotFound)
	if got := string(newEnv(t).get(noKey, "/metrics").want(200).body); got != "up 1\n" {
		t.Errorf("got %q", got)
	}
}

func TestHome(t *testing.T) {
	if got := newEnv(t).get(noKey, "/").want(302).header.Get("Location"); got != "/docs" {
		t.Errorf("leads to %s", got)
	}
}
