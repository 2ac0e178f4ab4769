package events

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// TestSignature: the example of the specification of Standard Webhooks.
func TestSignature(t *testing.T) {
	t.Parallel()
	const secret = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	got := signature([]Secret{secret, newSecret()}, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if first, second, ok := strings.Cut(got, " "); first != want || !ok || !strings.HasPrefix(second, "v1,") {
		t.Errorf("signed %s, want %s and a second one", got, want)
	}
}

// TestPost: the meaning of an answer, and the parts that are not read or followed (promise G11).
func TestPost(t *testing.T) {
	t.Parallel()
	followed := false
	stop := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/followed", func(http.ResponseWriter, *http.Request) { followed = true })
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/followed", http.StatusFound) })
	mux.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/hangs", func(http.ResponseWriter, *http.Request) { <-stop })
	mux.HandleFunc("/head", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) })
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "100000")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	mux.HandleFunc("/gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	mux.HandleFunc("/accepted", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	server := httptest.NewServer(mux)
	t.Cleanup(func() { close(stop); server.Close() })
	cfg := Config{AllowPrivate: true, Timeout: 2 * time.Second}.withDefaults()
	p := newPoster(&cfg)
	t.Cleanup(p.close)
	for path, want := range map[string]outcome{
		"/accepted": {status: 202},
		"/long":     {status: 200},
		"/redirect": {status: 302, err: "the answer was 302: redirects are not followed"},
		"/busy":     {status: 503, err: "the answer was 503", retryAfter: maxRetryAfter},
		"/gone":     {status: 410, err: "the answer was 410, which turns the endpoint off", gone: true},
		"/hangs":    {err: "no answer within 2s"},
	} {
		to := &Recipient{Endpoint: Endpoint{URL: server.URL + path, AllowPrivate: true}}
		if got := p.post(t.Context(), to, &leaderboard.Event{Data: "{}"}); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	to := &Recipient{Endpoint: Endpoint{URL: server.URL + "/head?token=secret", AllowPrivate: true}}
	if got := p.post(t.Context(), to, &leaderboard.Event{Data: "{}"}); got.err == "" || strings.Contains(got.err, "secret") {
		t.Errorf("a head of 1 MiB: %+v", got)
	}
	if to.AllowPrivate = false; p.post(t.Context(), to, &leaderboard.Event{Data: "{}"}).err != errPrivate.Error() {
		t.Errorf("a private address: %+v", p.post(t.Context(), to, &leaderboard.Event{Data: "{}"}))
	}
	closed := cfg
	closed.AllowPrivate = false
	other := newPoster(&closed)
	t.Cleanup(other.close)
	if to.AllowPrivate = true; other.post(t.Context(), to, &leaderboard.Event{Data: "{}"}).err != errPrivate.Error() {
		t.Error("an endpoint may have a private address though the settings do not allow it")
	}
	if followed {
		t.Error("a redirect was followed")
	}
}

// names is a resolver that resolves every name to these addresses.
type names []netip.Addr

func (n names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return n, nil }

// TestReboundNames: a name that stands for a private address when an event is due is not dialled, whatever it stood for when it was typed
// (promise G11).
func TestReboundNames(t *testing.T) {
	t.Parallel()
	for _, private := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00::1", "64:ff9b::a00:1"} {
		cfg := Config{Timeout: 2 * time.Second, Resolver: names{netip.MustParseAddr(private)}}.withDefaults()
		p := newPoster(&cfg)
		to := &Recipient{Endpoint: Endpoint{URL: "https://hooks.example/"}}
		if got := p.post(t.Context(), to, &leaderboard.Event{Data: "{}"}); got.err != errPrivate.Error() {
			t.Errorf("a name for %s: %+v", private, got)
		}
		p.close()
	}
}

// TestRetries: attempts come further apart, with jitter, and as many as fit into three days.
func TestRetries(t *testing.T) {
	t.Parallel()
	total, n := time.Duration(0), 0
	for ; total < leaderboard.EventTTL; n++ {
		wait := retryAfter(Config{}.withDefaults().Retry, n)
		if n == 0 && (wait < 4*time.Second || wait > 6*time.Second) || wait > lastRetry*6/5 {
			t.Errorf("attempt %d after %s", n+2, wait)
		}
		total += wait
	}
	if n < 20 || n > 35 {
		t.Errorf("%d attempts in three days", n)
	}
}
