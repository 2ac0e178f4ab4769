package webtest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/devserver"
)

// One server and one browser are enough for all tests. Each is started when it is first needed.
var (
	serverStarted atomic.Bool
	server        = sync.OnceValues(func() (*site, error) {
		serverStarted.Store(true)
		return startSite()
	})
	browser = sync.OnceValues(startBrowser)
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	code := m.Run()
	if b, err := browser(); err == nil {
		b.stop()
	}
	if !serverStarted.Load() {
		return code
	}
	if d, err := server(); err == nil {
		if err := d.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "webtest:", err)
			return 1
		}
	}
	return code
}

// chromium is the browser that is running.
type chromium struct {
	ctx  context.Context // of the browser; tabs are made from it
	stop func()
}

func startBrowser() (*chromium, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	found, err := devserver.FindBrowser(ctx, "", func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) })
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(found.Path), chromedp.Env(found.Env...), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("lang", "en-US"),
		// A test uses pages of this machine only; requests of the browser to its maker are not part of it.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // root has no sandbox
	}
	all, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	root, stopRoot := chromedp.NewContext(all)
	stop := func() { stopRoot(); stopAll() }
	if err := chromedp.Do(root); err != nil {
		stop()
		return nil, fmt.Errorf("start %s: %w", found.Path, err)
	}
	return &chromium{ctx: root, stop: stop}, nil
}

// site is the server, with the provider for signing in to it.
type site struct {
	*apptest.Dev
	front    *httptest.Server // a proxy, whose address is known before the server has an address: people sign in there
	provider *apptest.Provider
}

func startSite() (*site, error) {
	provider, err := apptest.StartProvider()
	if err != nil {
		return nil, err
	}
	s := &site{provider: provider}
	s.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, err := url.Parse(s.URL)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		httputil.NewSingleHostReverseProxy(to).ServeHTTP(w, r)
	}))
	s.Dev, err = apptest.StartDev("../..", "--members", "1000", "--allow-private-addresses", "--public-url", s.front.URL,
		"--oidc-issuer", provider.URL, "--oidc-client-id", provider.Client, "--oidc-client-secret", provider.Secret, "--oidc-admins", "ops")
	if err != nil {
		s.front.Close()
		provider.Close()
		return nil, err
	}
	return s, nil
}

func (s *site) stop() error {
	s.front.Close()
	s.provider.Close()
	return s.Stop()
}

// running returns the server, which has the demo.
func running(t *testing.T) *site {
	t.Helper()
	d, err := server()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// admin returns a client of the server that may do everything.
func admin(t *testing.T) *client.Client {
	t.Helper()
	d := running(t)
	c, err := client.New(d.URL, client.WithKey(d.Key))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
