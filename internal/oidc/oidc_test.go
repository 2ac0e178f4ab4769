package oidc

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// names is a resolver that resolves every name to these addresses.
type names []netip.Addr

func (n names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return n, nil }

// TestFetch: the rules for fetching keys: https, an address of the internet, no redirect, 64 KiB (promise G11).
func TestFetch(t *testing.T) {
	t.Parallel()
	strict, free := NewFetcher(false), NewFetcher(true)
	for address, want := range map[string][2]bool{
		"https://a.example/": {true, true}, "http://a.example/": {false, false}, "http://localhost:1/": {false, true}, "http://127.0.0.1/": {false, true},
		"https://127.0.0.1/": {false, true}, "https://[::1]/": {false, true}, "http://10.0.0.1/": {false, false}, "https://169.254.169.254/": {false, true},
	} {
		if got := [2]bool{strict.Check(address) == "", free.Check(address) == ""}; got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/there":
			_, _ = w.Write([]byte("x"))
		case "/elsewhere":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/much":
			_, _ = w.Write(make([]byte, MaxJWKS+1))
		case "/enough":
			_, _ = w.Write(make([]byte, MaxJWKS))
		}
	}))
	defer server.Close()
	for path, want := range map[string]bool{"/there": true, "/elsewhere": false, "/much": false, "/enough": true} {
		if _, err := free.Fetch(t.Context(), server.URL+path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	port := server.URL[strings.LastIndexByte(server.URL, ':'):]
	for _, private := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00::1"} { // the name is harmless, its address is not
		rebound := newFetcherBy(names{netip.MustParseAddr(private)}, false)
		if _, err := rebound.Fetch(t.Context(), "https://keys.example"+port+"/there"); !errors.Is(err, errPrivate) {
			t.Errorf("a name for %s: %v", private, err)
		}
	}
}

// TestKeySets: the keys of a set that are used, and the texts that are not key sets.
func TestKeySets(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	good := keyOf("k", public)
	for set, want := range map[string]int{
		`{"keys":[` + good + `]}`: 1,
		`{"keys":[` + good + `,{"kty":"oct","kid":"o"},{"kty":"RSA","kid":"r","n":"AQAB","e":"AQAB"},5]}`:                      1,
		`{"keys":[` + strings.Replace(good, `{`, `{"use":"enc",`, 1) + `]}`:                                                    -1,
		`{"keys":[` + strings.Replace(good, `{`, `{"alg":"RS256",`, 1) + `]}`:                                                  -1,
		`{"keys":[` + strings.Replace(good, `{`, `{"x5u":"https://127.0.0.1:1/",`, 1) + `]}`:                                   1,
		`{"keys":[` + strings.Replace(good, `{`, `{"d":"`+base64.RawURLEncoding.EncodeToString(private.Seed())+`",`, 1) + `]}`: -1,
		`{"keys":[` + good + `,` + strings.Replace(strings.Replace(good, `{`, `{"d":"AA",`, 1), `"k"`, `"k2"`, 1) + `]}`:       1,
		`{"keys":[{"kty":"oct","kid":"o","k":"AQAB"}]}`:                                                                        -1,
		`{"keys":[{"kty":"oct","kid":"o","k":"AQAB"},` + good + `]}`:                                                           1,
		`{"keys":[` + rsaKey(2048, "AQAB") + `]}`:                                                                              1,
		`{"keys":[` + rsaKey(4096, "Aw") + `]}`:                                                                                1,
		`{"keys":[` + rsaKey(2047, "AQAB") + `]}`:                                                                              -1,
		`{"keys":[` + rsaKey(4097, "AQAB") + `]}`:                                                                              -1,
		`{"keys":[` + rsaKey(16384, "AQAB") + `]}`:                                                                             -1,
		`{"keys":[` + rsaKey(2048, "AQAA") + `]}`:                                                                              -1, // even
		`{"keys":[` + rsaKey(2048, "AQ") + `]}`:                                                                                -1, // one: every signature is right
		`{"keys":[]}`:                                                                                                          -1, `{}`: -1, `[]`: -1, `x`: -1, `{"keys":"k"}`: -1,
	} {
		got, err := ParseKeys([]byte(set))
		n := -1
		if err == nil {
			n = len(got.keys)
		}
		if n != want {
			t.Errorf("%s: %d keys and %v, want %d keys", set, n, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "json") {
			t.Errorf("%s: admins read %q, which is about Go", set, err)
		}
	}
}

// rsaKey is a key of RSA whose modulus has a number of bits, and may be any odd number.
func rsaKey(bits int, exponent string) string {
	n := new(big.Int).SetBit(big.NewInt(1), bits-1, 1)
	return fmt.Sprintf(`{"kty":"RSA","kid":"r","n":%q,"e":%q}`, base64.RawURLEncoding.EncodeToString(n.Bytes()), exponent)
}

// keyOf is a key of Ed25519, for a set.
func keyOf(kid string, public ed25519.PublicKey) string {
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}`, kid, base64.RawURLEncoding.EncodeToString(public))
}

// TestSlowIssuer: while keys that are no longer sure are asked for, tokens of theirs do not wait (promise G7).
func TestSlowIssuer(t *testing.T) {
	t.Parallel()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"keys":[` + keyOf("k", public) + `]}`))
	}))
	defer server.Close()
	p, now := NewPublished("game", server.URL, NewFetcher(true), Options{}), time.Now()
	set := p.Current(t.Context(), now, "k")
	if set == nil {
		t.Fatal("no keys")
	}
	p.mu.Lock() // as while a question is under way
	found := make(chan *KeySet, 1)
	go func() { found <- p.Current(t.Context(), now.Add(11*time.Minute), "k") }()
	select {
	case got := <-found:
		if p.mu.Unlock(); got != set {
			t.Error(got)
		}
	case <-time.After(10 * time.Second):
		p.mu.Unlock()
		t.Errorf("the token waited for the question, and then there was %v", <-found)
	}
}
