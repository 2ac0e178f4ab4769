package leaderboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql/driver"
	"encoding/base32"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scope says what a key may do; each scope includes the scopes before it.
type Scope string

// The scopes of a key.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// ParseScope reads the name of a scope.
func ParseScope(s string) (Scope, error) {
	scope := Scope(s)
	if scope.level() == 0 {
		return "", fmt.Errorf("want a scope, one of %s, not %q", joined(scopes()), s)
	}
	return scope, nil
}

func scopes() []Scope { return []Scope{ScopeRead, ScopeWrite, ScopeAdmin} }

// level orders the scopes; 0 is no scope.
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

// Includes reports whether scope s includes another scope; every scope includes "".
func (s Scope) Includes(need Scope) bool { return s.level() >= need.level() }

// Bounds of a key.
const (
	MaxKeyName      = 100 // bytes
	MaxKeyBoards    = 100 // names and patterns
	MaxKeyRequests  = 1_000_000
	MaxKeyRows      = 10_000_000
	MaxKeyOverlap   = 30 * 24 * 60 * 60 * 1_000_000 // of a rotation, in microseconds
	keyIDBytes      = 7
	keySecretBytes  = 20 // 160 bits
	keyPrefix       = "lbk_"
	keyIDLength     = 1 + (keyIDBytes*8+4)/5
	keySecretLength = keySecretBytes * 8 / 5
	keyLength       = len(keyPrefix) + keyIDLength + 1 + keySecretLength
)

// Key is an API key without its secret.
type Key struct {
	// ID is stable: audit records and idempotency keys refer to it. All keys of the settings with one scope share
	// SettingsKeyID.
	ID    string
	Name  string // 1 to MaxKeyName bytes, for people
	Scope Scope
	// Boards are the boards of the key: names, and prefixes such as "game1-*". If empty, the key is for all boards,
	// including future boards.
	Boards    []string
	ExpiresAt Micros // 0: never
	Quota     Quota

	CreatedTime Micros
	UpdatedTime Micros // of the last change but for uses
	LastUsed    Micros // to the minute, 0: never
	RevokedAt   Micros // 0: it was not
	// PreviousUntil is the end of the overlap: until then the secret before the last rotation is valid too; 0: no
	// overlap.
	PreviousUntil Micros

	// Person is who signed in, when the key is a session: its secret is in a cookie of a browser, and it can only be
	// revoked. "" for all other keys.
	Person string
	Role   string // the provider's role of the person, which gives the scope; "" without a Person
}

// Quota bounds the requests of a key. 0 means the server's settings.
type Quota struct {
	RequestsPerSecond int64 // up to MaxKeyRequests
	RowsPerSecond     int64 // entries submitted, up to MaxKeyRows
}

// HashedKey is a key with the hashes of its secrets.
type HashedKey struct {
	Key
	Hash     KeyHash
	Previous KeyHash // of the secret before the last rotation, until Key.PreviousUntil
}

// KeyHash is the SHA-256 of a key's whole text, which has 160 random bits, so it cannot be found by guessing. Only Is
// compares two of them: no other code gets at the bytes, and == does not compile.
type KeyHash struct {
	_   [0]func()
	sum [sha256.Size]byte
}

// Is reports whether two hashes are equal, in constant time.
func (h *KeyHash) Is(other *KeyHash) bool {
	return subtle.ConstantTimeCompare(h.sum[:], other.sum[:]) == 1
}

// Value implements driver.Valuer.
func (h KeyHash) Value() (driver.Value, error) { return h.sum[:], nil }

// Scan implements sql.Scanner; NULL is the hash of no key.
func (h *KeyHash) Scan(stored any) error {
	*h = KeyHash{}
	b, ok := stored.([]byte)
	if stored != nil && !ok || copy(h.sum[:], b) != len(b) {
		return fmt.Errorf("want %d bytes for the hash of a key, not %T", len(h.sum), stored)
	}
	return nil
}

// SettingsKeyID returns the ID that all keys of the settings with a scope share, so that a secret can be replaced.
func SettingsKeyID(s Scope) string { return "env:" + string(s) }

// Actor returns the audit's name for the holder of the key: its ID, or the person who signed in.
func (k *Key) Actor() string {
	if k.Person != "" {
		return "person:" + k.Person
	}
	return k.ID
}

// ErrSession returns why a session cannot be changed, nil for other keys: who signs in again gets what the settings say then.
func (k *Key) ErrSession() error {
	if k.Person == "" {
		return nil
	}
	return &RuleError{Code: CodeInvalidKey, Detail: "the key is the session of a person who signed in: it can only be revoked"}
}

// IsSettingsKeyID reports whether an ID was made by SettingsKeyID.
func IsSettingsKeyID(id string) bool { return strings.HasPrefix(id, "env:") }

// Limited reports whether the key is for some boards only.
func (k *Key) Limited() bool { return len(k.Boards) > 0 }

// Covers reports whether the key is for a board.
func (k *Key) Covers(board string) bool {
	return !k.Limited() || covers(k.Boards, board)
}

// CoversAll reports whether a list of patterns is empty, which stands for all boards.
func (k *Key) CoversAll(patterns []string) bool {
	if !k.Limited() {
		return true
	}
	for _, p := range patterns {
		prefix, open := strings.CutSuffix(p, "*")
		if !open && !k.Covers(p) || open && !slices.ContainsFunc(k.Boards, func(own string) bool {
			wider, ok := strings.CutSuffix(own, "*")
			return ok && strings.HasPrefix(prefix, wider)
		}) {
			return false
		}
	}
	return len(patterns) > 0
}

// covers reports whether a list of names and prefixes includes a board.
func covers(patterns []string, board string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, ok := strings.CutSuffix(pattern, "*")
		return ok && strings.HasPrefix(board, prefix) || pattern == board
	})
}

// CheckPatterns returns the faults of a list of boards: of their names, and of prefixes such as "game1-*".
func CheckPatterns(patterns []string) (bad []FieldError) {
	if len(patterns) > MaxKeyBoards {
		bad = append(bad, FieldError{Pointer: "/boards", Detail: fmt.Sprintf("want at most %d", MaxKeyBoards)})
	}
	for i, pattern := range patterns[:min(len(patterns), MaxKeyBoards)] {
		if !isName(strings.TrimSuffix(pattern, "*")) {
			bad = append(bad, FieldError{Pointer: "/boards/" + strconv.Itoa(i), Detail: "want the name of a board, or how names begin followed by *, such as game1-*"})
		}
	}
	return bad
}

// Check returns a RuleError when a key is invalid.
func (k *Key) Check() error {
	var bad []FieldError
	fail := func(pointer, format string, args ...any) {
		bad = append(bad, FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	if !isKeyName(k.Name) {
		fail("/name", "want 1 to %d bytes of UTF-8 without control characters", MaxKeyName)
	}
	checkOneOf(fail, "/scope", k.Scope, scopes()...)
	bad = append(bad, CheckPatterns(k.Boards)...)
	if k.ExpiresAt < 0 || k.ExpiresAt > MaxTime {
		fail("/expires_at", "want a time up to %s", MaxTime)
	}
	if q := k.Quota.RequestsPerSecond; q < 0 || q > MaxKeyRequests {
		fail("/quota/requests_per_second", "want 1 to %d, or null for what the server's settings say", MaxKeyRequests)
	}
	if q := k.Quota.RowsPerSecond; q < 0 || q > MaxKeyRows {
		fail("/quota/rows_per_second", "want 1 to %d, or null for what the server's settings say", MaxKeyRows)
	}
	if bad == nil {
		return nil
	}
	return &RuleError{Code: CodeInvalidKey, Fields: bad}
}

// isKeyName reports whether a text may be the name of a key, and so of a person.
func isKeyName(s string) bool {
	return s != "" && len(s) <= MaxKeyName && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// CheckExpiry returns a RuleError when ExpiresAt is in the past and was changed; ended is the ExpiresAt before the
// change, 0 for never or for a new key. So no key is created expired, and an expired key may still be changed in other
// ways.
func (k *Key) CheckExpiry(was Micros) error {
	if k.ExpiresAt == 0 || k.ExpiresAt == was || k.ExpiresAt > k.UpdatedTime {
		return nil
	}
	detail := fmt.Sprintf("want a time to come, by the database's clock after %s; revoking ends a key now", k.UpdatedTime)
	return &RuleError{Code: CodeInvalidKey, Fields: []FieldError{{Pointer: "/expires_at", Detail: detail}}}
}

// KeyChange is a change of a key; nil fields stay.
type KeyChange struct {
	Name      *string
	Scope     *Scope
	Boards    *[]string // empty: all boards
	ExpiresAt *Micros   // 0: never

	RequestsPerSecond *int64 // of the quota, 0: the server's settings
	RowsPerSecond     *int64
}

// With returns the key with a change, or a RuleError when it is then invalid.
func (k Key) With(c KeyChange) (Key, error) {
	replace(&k.Name, c.Name)
	replace(&k.Scope, c.Scope)
	replace(&k.Boards, c.Boards)
	replace(&k.ExpiresAt, c.ExpiresAt)
	replace(&k.Quota.RequestsPerSecond, c.RequestsPerSecond)
	replace(&k.Quota.RowsPerSecond, c.RowsPerSecond)
	return k, k.Check()
}

func replace[T any](at, with *T) {
	if with != nil {
		*at = *with
	}
}

// keyText encodes ids and secrets: lower case without padding, 5 bits a letter.
func keyText(b []byte) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// NewKeyID returns an id that no other key has.
func NewKeyID() string {
	var b [keyIDBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "k" + keyText(b[:])
}

// NewKeySecret returns the text of a key with a new secret, lbk_<id>_<secret>, and its hash. Only the hash is stored.
func NewKeySecret(id string) (text string, hash KeyHash) {
	var b [keySecretBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	text = keyPrefix + id + "_" + keyText(b[:])
	return text, HashKey(text)
}

// HashKey returns the hash of a key's text.
func HashKey(text string) KeyHash {
	var room [128]byte
	return KeyHash{sum: sha256.Sum256(append(room[:0], text...))} // without an allocation
}

// KeyIDIn returns the id in the text of a key; ok reports whether the text has the form of a key.
func KeyIDIn(text string) (id string, ok bool) {
	if len(text) != keyLength || !strings.HasPrefix(text, keyPrefix) {
		return "", false
	}
	id, secret := text[len(keyPrefix):len(keyPrefix)+keyIDLength], text[len(keyPrefix)+keyIDLength+1:]
	return id, IsKeyID(id) && text[len(keyPrefix)+keyIDLength] == '_' && isKeyText(secret)
}

// IsKeyID reports whether a text has the form of NewKeyID.
func IsKeyID(s string) bool { return len(s) == keyIDLength && s[0] == 'k' && isKeyText(s) }

func isKeyText(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}
