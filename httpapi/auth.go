package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
)

// Scope says what a key may do; each scope includes the ones before it.
type Scope string

// The scopes of a key.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// ParseScope reads the name of a scope.
func ParseScope(s string) (Scope, error) {
	switch scope := Scope(s); scope {
	case ScopeRead, ScopeWrite, ScopeAdmin:
		return scope, nil
	}
	return "", fmt.Errorf("want a scope, one of read, write, admin, not %q", s)
}

// level orders the scopes; 0 is nobody.
func (s Scope) level() int {
	switch s {
	case ScopeRead:
		return 1
	case ScopeWrite:
		return 2
	case ScopeAdmin:
		return 3
	}
	return 0
}

// Key is a bearer key and what it may do.
type Key struct {
	Scope  Scope
	Secret string
}

// String hides the secret.
func (k Key) String() string { return string(k.Scope) + ":…" }

// access is who may use a route. The zero value is the strictest: a route that says nothing is for admins.
type access int

const (
	accessAdmins  access = iota
	accessWriters        // keys with write or admin
	accessHolders        // any key
	accessReaders        // anyone for a public board, any key for a private one
	accessAnyone         // no key is looked at
)

// needs returns the least scope for a route, "" when it takes requests without a key.
func (a access) needs() Scope {
	switch a {
	case accessAnyone, accessReaders:
		return ""
	case accessHolders:
		return ScopeRead
	case accessWriters:
		return ScopeWrite
	default:
		return ScopeAdmin
	}
}

// keyring knows the keys by their hashes only.
type keyring []hashedKey

type hashedKey struct {
	hash  [sha256.Size]byte
	scope Scope
}

func newKeyring(keys []Key) keyring {
	ring := make(keyring, 0, len(keys))
	for _, k := range keys {
		if k.Secret != "" {
			ring = append(ring, hashedKey{sha256.Sum256([]byte(k.Secret)), k.Scope})
		}
	}
	return ring
}

// scope returns what the request's key may do, "" without a key. An unknown key is rejected everywhere, so that a
// mistyped one does not go unnoticed until the first private board.
func (ring keyring) scope(h http.Header) (Scope, error) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", nil
	}
	name, secret, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(name, "Bearer") || secret == "" {
		return "", reject(codeUnauthorized, "The Authorization header is not of the form: Bearer <key>.")
	}
	// The hashes are compared, all of them and in constant time, so that the time taken says nothing about the keys.
	hash := sha256.Sum256([]byte(strings.TrimSpace(secret)))
	var found Scope
	for i := range ring {
		if subtle.ConstantTimeCompare(hash[:], ring[i].hash[:]) == 1 && ring[i].scope.level() > found.level() {
			found = ring[i].scope
		}
	}
	if found == "" {
		return "", reject(codeUnauthorized, "The key is not known.")
	}
	return found, nil
}

// allow says whether a request with scope has may do what needs scope need.
func allow(has, need Scope) error {
	switch {
	case has.level() >= need.level():
		return nil
	case has == "":
		return reject(codeUnauthorized, fmt.Sprintf("This needs a key with scope %s.", need))
	default:
		return reject(codeForbidden, fmt.Sprintf("This needs a key with scope %s, the key given has scope %s.", need, has))
	}
}
