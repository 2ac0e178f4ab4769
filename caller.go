package leaderboard

import "context"

// Caller is who asked for a change, as records of it show. It travels with the context, since everything between the
// request and the transaction that records it would only pass it on.
type Caller struct {
	Key       string // Key.ID; "" for the service itself
	RequestID string // of the request; "" when there was none
}

// CallerKey is the key of a *Caller in a context, for contexts that carry one without context.WithValue.
type CallerKey struct{}

// WithCaller returns a context in which CallerOf finds c.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, CallerKey{}, &c)
}

// CallerOf returns who asked for what is done with a context, the zero Caller when it does not say.
func CallerOf(ctx context.Context) Caller {
	if c, ok := ctx.Value(CallerKey{}).(*Caller); ok {
		return *c
	}
	return Caller{}
}

// IdempotencyKeyOf returns an idempotency key as it is stored, with whose it is: the same one given with another API key
// is another one. An API key keeps its ID when its secret is replaced.
func IdempotencyKeyOf(ctx context.Context, key string) string {
	if owner := CallerOf(ctx).Key; key != "" && owner != "" {
		return owner + " " + key
	}
	return key
}
