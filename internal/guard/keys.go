package guard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
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
	// change of a key counts within a second of its commit, and while the database is away keys stay valid for a while. The
	// key must not be written to. Errors: ErrKeyNotFound (also for another secret), ErrKeyRevoked, ErrKeyExpired,
	// ErrUnavailable.
	Find(ctx context.Context, id string, hash leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error)
}

// Tokens finds players by their tokens.
type Tokens interface {
	// Find returns the player of a token, from memory when its signature is known. It is called for every request with a
	// token. admit is called before a signature is verified, and an error of it is returned. The player must not be written
	// to. Errors: *leaderboard.TokenError, ErrUnavailable, ErrOverloaded.
	Find(ctx context.Context, token string, now time.Time, admit func() error) (*leaderboard.Player, error)
}

// Bearer is the credential of a request: an API key, a player's token, or neither.
type Bearer struct {
	Key    *leaderboard.Key
	Player *leaderboard.Player
	// WrongCookie: the cookie of a session opens nothing, so there is neither. AttemptCookie charges for it.
	WrongCookie bool
}

// ErrNotCovered returns the refusal of a key that is not for a board; at are the places in the request that name the board. It
// says which boards the key is for, and is the same whether the board exists or not.
func ErrNotCovered(key *leaderboard.Key, at ...wire.InputError) error {
	return wire.Reject(wire.CodeForbidden, "The key is not for this board, it is for "+boardsOf(key)+".", at...)
}

// NotCovered is the detail of a place that names such a board.
const NotCovered = "the key is not for this board"

// ErrSomeBoards returns the refusal of a key for some boards on a route that is about all boards.
func ErrSomeBoards(key *leaderboard.Key) error {
	return wire.Reject(wire.CodeForbidden, "This needs a key for all boards, the key given is for "+boardsOf(key)+".")
}

// boardsOf lists the boards that a key is for, the first few of many.
func boardsOf(key *leaderboard.Key) string {
	const most = 10
	if more := len(key.Boards) - most; more > 0 {
		return strings.Join(key.Boards[:most], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(key.Boards, ", ")
}

// keyring knows the keys of the settings by their hashes only, and finds the others in Keyring.
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

// TextOf returns the text of the request's key or token, or "".
func TextOf(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", nil
	}
	name, secret, ok := strings.Cut(values[0], " ")
	if len(values) > 1 || !ok || !strings.EqualFold(name, "Bearer") || strings.TrimSpace(secret) == "" {
		return "", wire.Reject(wire.CodeUnauthorized, "The Authorization header is not of the form: Bearer <key>.")
	}
	return strings.TrimSpace(secret), nil
}

// find returns the key with a text. An unknown key is rejected everywhere, so that a mistyped key does not go unnoticed
// until the first private board.
func (ring *keyring) find(r *http.Request, secret string, now time.Time) (*leaderboard.Key, error) {
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

// inSettings compares all hashes, in constant time, so that the time taken reveals nothing about the keys. Of two keys with
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

// Allow returns why a request with a scope ("": without a key) may not use a route with an access, nil when it may.
func Allow(a api.Access, has leaderboard.Scope) error {
	need := a.Needs()
	switch {
	case a == api.AccessPlayers && has != "":
		return wire.Reject(wire.CodeForbidden, "This needs a player's token, not a key.")
	case a == api.AccessPlayers:
		return wire.Reject(wire.CodeUnauthorized, "This needs a player's token.")
	case has.Includes(need):
		return nil
	case has == "":
		return wire.Reject(wire.CodeUnauthorized, fmt.Sprintf("This needs a key with scope %s.", need))
	default:
		return wire.Reject(wire.CodeForbidden, fmt.Sprintf("This needs a key with scope %s, the key given has scope %s.", need, has))
	}
}
