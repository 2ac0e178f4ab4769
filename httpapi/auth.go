package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"leaderboard"
	"leaderboard/httpapi/internal/wire"
)

// SettingsKey is a bearer key of the server's settings, for its first start and for emergencies.
type SettingsKey struct {
	Scope  leaderboard.Scope
	Secret string
}

// String hides the secret.
func (k SettingsKey) String() string { return string(k.Scope) + ":…" }

// Keyring finds the keys of the database.
type Keyring interface {
	// Find returns the key with an id and the hash of its secret, from memory. It is called for every request with a key. A
	// change of a key counts within a second of its commit, and while the database is away keys go on for a while. The key
	// must not be written to. Errors: ErrKeyNotFound (also for another secret), ErrKeyRevoked, ErrKeyExpired,
	// ErrUnavailable.
	Find(ctx context.Context, id string, hash leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error)
}

// access is who may use a route. A route has to say it: New panics for the zero value, which is the strictest besides.
type access int

const (
	accessUnsaid  access = iota
	accessAdmins         // keys with scope admin
	accessWriters        // keys with write or admin
	accessHolders        // any key
	accessReaders        // anyone for a public board, any key for a private one
	accessAnyone         // no key is looked at
)

// needs returns the least scope for a route, "" when it takes requests without a key.
func (a access) needs() leaderboard.Scope {
	switch a {
	case accessAnyone, accessReaders:
		return ""
	case accessHolders:
		return leaderboard.ScopeRead
	case accessWriters:
		return leaderboard.ScopeWrite
	default:
		return leaderboard.ScopeAdmin
	}
}

// errNotCovered is that a key is not for a board, which at places in the request name. It has what the key is for and
// nothing of the board, so it is the same whether there is one or not.
func errNotCovered(key *leaderboard.Key, at ...wire.InputError) error {
	return wire.Reject(wire.CodeForbidden, "The key is not for this board, it is for "+boardsOf(key)+".", at...)
}

// notCovered is what is wrong with a place that names such a board.
const notCovered = "the key is not for this board"

// errSomeBoards is that a key for some boards asks for what is about all of them.
func errSomeBoards(key *leaderboard.Key) error {
	return wire.Reject(wire.CodeForbidden, "This needs a key for all boards, the key given is for "+boardsOf(key)+".")
}

// boardsOf lists what a key is for, the first few of many.
func boardsOf(key *leaderboard.Key) string {
	const most = 10
	if more := len(key.Boards) - most; more > 0 {
		return strings.Join(key.Boards[:most], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(key.Boards, ", ")
}

// keyring knows the keys of the settings by their hashes only, and asks for the others.
type keyring struct {
	settings []leaderboard.HashedKey
	others   Keyring // nil: there are no others
}

func newKeyring(keys []SettingsKey, others Keyring) keyring {
	ring := keyring{others: others}
	for _, k := range keys {
		if _, err := leaderboard.ParseScope(string(k.Scope)); k.Secret == "" || err != nil {
			continue
		}
		key := leaderboard.Key{ID: leaderboard.SettingsKeyID(k.Scope), Name: "settings", Scope: k.Scope}
		ring.settings = append(ring.settings, leaderboard.HashedKey{Key: key, Hash: leaderboard.HashKey(k.Secret)})
	}
	return ring
}

// find returns the request's key, nil without one. An unknown key is rejected everywhere, so that a mistyped one does
// not go unnoticed until the first private board.
func (ring *keyring) find(r *http.Request, now time.Time) (*leaderboard.Key, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return nil, nil // no key is an answer
	}
	name, secret, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(name, "Bearer") || secret == "" {
		return nil, wire.Reject(wire.CodeUnauthorized, "The Authorization header is not of the form: Bearer <key>.")
	}
	secret = strings.TrimSpace(secret)
	hash := leaderboard.HashKey(secret)
	if found := ring.inSettings(&hash); found != nil {
		return found, nil
	}
	id, ok := leaderboard.KeyIDIn(secret)
	if !ok || ring.others == nil {
		return nil, errUnknownKey()
	}
	key, err := ring.others.Find(r.Context(), id, hash, now)
	switch {
	case err == nil:
		return key, nil
	case errors.Is(err, leaderboard.ErrKeyRevoked):
		return nil, wire.Reject(wire.CodeUnauthorized, "The key was revoked.")
	case errors.Is(err, leaderboard.ErrKeyExpired):
		return nil, wire.Reject(wire.CodeUnauthorized, "The time of the key is over.")
	case errors.Is(err, leaderboard.ErrKeyNotFound):
		return nil, errUnknownKey()
	}
	return nil, err
}

func errUnknownKey() error { return wire.Reject(wire.CodeUnauthorized, "The key is not known.") }

// inSettings compares all hashes, in constant time, so that the time taken says nothing about the keys. Of two keys with
// one secret the greater scope counts.
func (ring *keyring) inSettings(hash *leaderboard.KeyHash) *leaderboard.Key {
	var found *leaderboard.Key
	for i := range ring.settings {
		k := &ring.settings[i]
		if hash.Is(&k.Hash) && (found == nil || k.Scope.Includes(found.Scope)) {
			found = &k.Key
		}
	}
	return found
}

// allow says whether a request with scope has may do what needs scope need.
func allow(has, need leaderboard.Scope) error {
	switch {
	case has.Includes(need):
		return nil
	case has == "":
		return wire.Reject(wire.CodeUnauthorized, fmt.Sprintf("This needs a key with scope %s.", need))
	default:
		return wire.Reject(wire.CodeForbidden, fmt.Sprintf("This needs a key with scope %s, the key given has scope %s.", need, has))
	}
}
