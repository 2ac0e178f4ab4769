package leaderboard

import (
	"crypto/rand"
	"encoding/base64"
	"time"
)

// MaxSession is how long a session may last. After that the provider is asked again who the person is, and whether still one
// with a role.
const MaxSession = 12 * time.Hour

// SignInTime is how long a person may take at the provider.
const SignInTime = 10 * time.Minute

// MaxRole is the greatest length of what a provider says of a person, in bytes.
const MaxRole = 255

// SignIn is a sign-in that is under way: a person was sent to the provider and has not come back. All three are random. The
// person's browser holds them, so that any server can go on, and a sign-in that is given up leaves nothing behind.
type SignIn struct {
	State    string // comes back in the address: an answer to another browser's sign-in has another one
	Nonce    string // comes back in the ID token: a token of another sign-in has another one
	Verifier string // proves to the provider who asked (PKCE, RFC 7636): a code alone is of no use
}

// NewSignIn begins a sign-in.
func NewSignIn() SignIn { return SignIn{signInText(), signInText(), signInText()} }

// signInText returns 256 random bits.
func signInText() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// ProviderPlaces is where an OpenID provider has what a sign-in needs.
type ProviderPlaces struct {
	Authorize    string // where people are sent
	Token        string // where a code becomes an ID token
	SecretInBody bool   // the client's secret goes into the body, not into a header
}

// IsPersonName reports whether a text may be the name of a person who signs in.
func IsPersonName(s string) bool { return isKeyName(s) }

// SignInError is why a person is not signed in.
type SignInError struct {
	Cause  *Error // ErrSignInRefused, ErrNoRole or ErrProviderAway
	Detail string // for that person: a sentence
}

func (e *SignInError) Error() string { return e.Cause.Error() + ": " + e.Detail }

// Unwrap returns the meaning.
func (e *SignInError) Unwrap() error { return e.Cause }
