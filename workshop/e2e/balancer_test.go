package e2e

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// balancerCheck is how often a balancer asks each server whether it is ready.
const balancerCheck = 50 * time.Millisecond

// loadBalancer sends each request to the next server whose /readyz last answered 200. It never repeats a request that failed.
type loadBalancer struct {
	*api
	backends []*backend
	next     atomic.Int64
}

// backend is a place behind a balancer, for one server after the other.
type backend struct {
	at    atomic.Pointer[url.URL]
	ready atomic.Bool
}

// newLoadBalancer starts a balancer in front of servers, which are ready.
func newLoadBalancer(t *testing.T, servers ...*server) *loadBalancer {
	t.Helper()
	b := &loadBalancer{}
	for _, s := range servers {
		place := &backend{}
		b.backends = append(b.backends, place)
		b.put(t, len(b.backends)-1, s)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 1024}
	proxy := httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(b.pick()) },
		ErrorLog:  log.New(io.Discard, "", 0), // a failure is a 502, which the tests look at
	}
	front := httptest.NewServer(&proxy)
	ctx, cancel := context.WithCancel(context.Background())
	var checks sync.WaitGroup
	for _, place := range b.backends {
		checks.Go(func() { place.check(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		checks.Wait()
		front.Close()
		transport.CloseIdleConnections()
	})
	b.api = newAPI(t, front.URL)
	return b
}

// put puts a server in a place. It gets requests as soon as it says that it is ready.
func (b *loadBalancer) put(t *testing.T, place int, s *server) {
	t.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	b.backends[place].at.Store(at)
}

// pick returns the next server that is ready, or any server if no server is ready.
func (b *loadBalancer) pick() *url.URL {
	n := int(b.next.Add(1))
	for i := range b.backends {
		if place := b.backends[(n+i)%len(b.backends)]; place.ready.Load() {
			return place.at.Load()
		}
	}
	return b.backends[n%len(b.backends)].at.Load()
}

// check asks the server of a place again and again whether it is ready. A missing answer is not a refusal: on a busy
// machine all servers would count as not ready, and requests would go to the server that has ended.
func (p *backend) check(ctx context.Context) {
	tick := time.NewTicker(balancerCheck)
	defer tick.Stop()
	for ctx.Err() == nil {
		at := p.at.Load()
		if err := readyAt(ctx, at); !errors.Is(err, context.DeadlineExceeded) {
			p.ready.Store(err == nil && p.at.Load() == at)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func readyAt(ctx context.Context, at *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JoinPath("readyz").String(), nil)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}
