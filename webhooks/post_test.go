package webhooks

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"leaderboard"
)

// TestSignature: the example of the specification of Standard Webhooks.
func TestSignature(t *testing.T) {
	t.Parallel()
	const secret = leaderboard.EndpointSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	got := signature([]leaderboard.EndpointSecret{secret, leaderboard.NewEndpointSecret()}, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if first, second, ok := strings.Cut(got, " "); first != want || !ok || !strings.HasPrefix(second, "v1,") {
		t.Errorf("signed %s, want %s and a second one", got, want)
	}
}

func TestIsPublic(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "2606:4700::1111": true, "172.32.0.1": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false,
		"224.0.0.1": false, "255.255.255.255": false, "198.18.0.1": false, "192.0.0.8": false, "240.0.0.1": false, "203.0.113.7": false,
		"::1": false, "::": false, "fe80::1": false, "fc00::1": false, "fd12::1": false, "ff02::1": false, "::ffff:127.0.0.1": false, "::127.0.0.1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:0:1::": false, "2001:db8::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address).Unmap()); got != want {
			t.Errorf("%s is public: %t", address, got)
		}
	}
}

// changing is a resolver whose answer is another one each time.
type changing struct {
	answers [][]netip.Addr
	asked   int
}

func (c *changing) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	c.asked++
	return c.answers[(c.asked-1)%len(c.answers)], nil
}

// TestDialsWhatItChecked: a name is resolved once, what is private is not dialled, and what is dialled is an address that was checked.
func TestDialsWhatItChecked(t *testing.T) {
	t.Parallel()
	public, private := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("::ffff:10.0.0.1")
	var dialled []string
	dial := func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		here, there := net.Pipe()
		_ = there.Close()
		return here, nil
	}
	for name, c := range map[string]struct {
		answers [][]netip.Addr
		private bool
		want    string
	}{
		"public":              {[][]netip.Addr{{public}, {private}}, false, "93.184.216.34:443"},
		"private":             {[][]netip.Addr{{private}, {public}}, false, ""},
		"private and public":  {[][]netip.Addr{{private, public}}, false, "93.184.216.34:443"},
		"private, allowed":    {[][]netip.Addr{{private}}, true, "10.0.0.1:443"},
		"nothing is resolved": {[][]netip.Addr{{}}, true, ""},
	} {
		dialled = nil
		resolver := &changing{answers: c.answers}
		d := &dialer{resolver: resolver, private: c.private, dial: dial}
		conn, err := d.dialContext(t.Context(), "tcp", "game.example:443")
		if conn != nil {
			_ = conn.Close()
		}
		if got := strings.Join(dialled, " "); got != c.want || (err == nil) != (c.want != "") || resolver.asked != 1 {
			t.Errorf("%s: dialled %q after %d questions, %v; want %q", name, got, resolver.asked, err, c.want)
		}
	}
}

// TestPost: what an answer means, and what is not read or followed.
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
		"/gone":     {status: 410, err: "the answer was 410: the endpoint is turned off", gone: true},
		"/hangs":    {err: "no answer within 2s"},
	} {
		to := &leaderboard.Recipient{Endpoint: leaderboard.Endpoint{URL: server.URL + path, AllowPrivate: true}}
		if got := p.post(t.Context(), to, &leaderboard.Event{Data: "{}"}); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	to := &leaderboard.Recipient{Endpoint: leaderboard.Endpoint{URL: server.URL + "/head?token=secret", AllowPrivate: true}}
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

// TestRetries: attempts come further apart, with jitter, and as many as fit into three days.
func TestRetries(t *testing.T) {
	t.Parallel()
	total, n := time.Duration(0), 0
	for ; total < leaderboard.EventTTL; n++ {
		wait := retryAfter(n)
		if n == 0 && (wait < 4*time.Second || wait > 6*time.Second) || wait > lastRetry*6/5 {
			t.Errorf("attempt %d after %s", n+2, wait)
		}
		total += wait
	}
	if n < 20 || n > 35 {
		t.Errorf("%d attempts in three days", n)
	}
}
