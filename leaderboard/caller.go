package leaderboard

import "context"

// Caller identifies the caller of a change, for the records of changes. It travels with the context, since everything
// between the request and the transaction that records it would only pass it on.
type Caller struct {
	Key       string // Key.Actor, Player.Via for a player; "" for the service itself
	Session   string // Key.ID of a person who signed in, "" for all others
	Player    string // Player.Owner, "" for all others
	RequestID string // "" when there is no request
	Admin     bool   // the key has scope admin
}

// CallerKey is the key of a *Caller in a context, for contexts that carry a caller without context.WithValue.
type CallerKey struct{}

// WithCaller returns a context in which CallerOf finds c.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, CallerKey{}, &c)
}

// CallerOf returns the caller that a context carries, or the zero Caller.
func CallerOf(ctx context.Context) Caller {
	if c, ok := ctx.Value(CallerKey{}).(*Caller); ok {
		return *c
	}
	return Caller{}
}

// IdempotencyKeyOf returns the stored form of an idempotency key, with the API key's id, or the player's id: the same text
// under another API key, or of another player, is another idempotency key. An API key keeps its ID when its secret is
// replaced.
func IdempotencyKeyOf(ctx context.Context, key string) string {
	c := CallerOf(ctx)
	owner := c.Key
	switch {
	case c.Player != "":
		owner = c.Player
	case c.Session != "":
		owner = c.Session // a person's name leaves no room for the rest
	}
	if key != "" && owner != "" {
		return owner + " " + key
	}
	return key
}
