package players

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"leaderboard"
)

// fetchFor bounds a question for keys, from the name's look-up to the last byte.
const fetchFor = 3 * time.Second

// fetcher asks for the keys of issuers. What an admin, or someone with an admin's key, has it ask is not to be a way into the
// network of the server: so it asks by https, dials an address that it has looked at, follows no redirect, goes through no
// proxy, and reads 64 KiB.
type fetcher struct {
	client  *http.Client
	private bool
}

// newFetcher returns a fetcher. private: it may dial addresses of private networks and of this machine, the latter by http too.
func newFetcher(private bool) *fetcher {
	f := &fetcher{private: private}
	f.client = &http.Client{
		Timeout:       fetchFor,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: f.dial, DisableKeepAlives: true, TLSHandshakeTimeout: fetchFor, MaxResponseHeaderBytes: 16 << 10, ForceAttemptHTTP2: true},
	}
	return f
}

// check returns what is wrong with an address, "" when it may be asked as far as its text tells.
func (f *fetcher) check(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "want a URL"
	}
	ip, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Scheme == "http" && !(f.private && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())):
		return "want https"
	case err == nil && !f.mayDial(ip):
		return "want an address that is not private"
	}
	return ""
}

// mayDial reports whether an address is one of the internet.
func (f *fetcher) mayDial(ip netip.Addr) bool {
	if f.private {
		return true
	}
	return public(ip.Unmap())
}

// public reports whether an address is one of the internet: not of this machine, of a private network, or of a protocol's own.
func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, reserved := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "fec0::/10",
	} {
		if netip.MustParsePrefix(reserved).Contains(ip) {
			return false
		}
	}
	return true
}

var errPrivate = errors.New("the address is a private one")

// dial looks a name up and dials what it found: the name cannot stand for something else a moment later.
func (f *fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	failed := fmt.Errorf("%w: %s", errPrivate, host)
	for _, ip := range found {
		if !f.mayDial(ip) {
			continue
		}
		var conn net.Conn
		if conn, failed = (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(ip.String(), port)); failed == nil {
			return conn, nil
		}
	}
	return nil, failed
}

// fetch returns what is at an address.
func (f *fetcher) fetch(ctx context.Context, address string) ([]byte, error) {
	if wrong := f.check(address); wrong != "" {
		return nil, errors.New(wrong)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer has the status %d", answer.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, leaderboard.MaxJWKS+1))
	if err == nil && len(body) > leaderboard.MaxJWKS {
		err = fmt.Errorf("the answer is longer than %d bytes", leaderboard.MaxJWKS)
	}
	return body, err
}
