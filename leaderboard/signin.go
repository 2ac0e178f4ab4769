package leaderboard

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
