package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"leaderboard/internal/dialer"
	"leaderboard/leaderboard"
)

// MaxJWKS is how many bytes a set of keys may have.
const MaxJWKS = 64 << 10

// FetchFor bounds a question for keys, from the name's look-up to the last byte.
const FetchFor = 3 * time.Second

// Fetcher fetches the keys of issuers. An admin, or someone with an admin's key, must not be able to use it to reach the
// network of the server: so it uses https, dials an address that it has checked, follows no redirect, uses no proxy, and
// reads 64 KiB.
type Fetcher struct {
	client  *http.Client
	private bool
}

// NewFetcher returns a Fetcher. private: it may dial addresses of private networks and of this machine, the latter by http too.
func NewFetcher(private bool) *Fetcher { return newFetcherBy(net.DefaultResolver, private) }

// newFetcherBy returns a Fetcher that finds addresses by a resolver.
func newFetcherBy(resolver dialer.Resolver, private bool) *Fetcher {
	f, d := &Fetcher{private: private}, &dialer.Dialer{Resolver: resolver, Private: private, Refusal: errPrivate, Dial: (&net.Dialer{}).DialContext}
	f.client = &http.Client{
		Timeout:       FetchFor,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: FetchFor, MaxResponseHeaderBytes: 16 << 10, ForceAttemptHTTP2: true},
	}
	return f
}

// Check returns the fault in an address, "" if it may be fetched as far as its text shows.
func (f *Fetcher) Check(address string) string {
	u, err := url.Parse(address)
	return dialer.Check(address, dialer.Rules{Private: f.private, Plain: err == nil && f.private && leaderboard.IsThisMachine(u.Hostname())})
}

var errPrivate = errors.New("the issuer has no public address")

// Fetch returns the content at an address.
func (f *Fetcher) Fetch(ctx context.Context, address string) ([]byte, error) {
	if wrong := f.Check(address); wrong != "" {
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
	body, err := io.ReadAll(io.LimitReader(answer.Body, MaxJWKS+1))
	if err == nil && len(body) > MaxJWKS {
		err = fmt.Errorf("the answer is longer than %d bytes", MaxJWKS)
	}
	return body, err
}
