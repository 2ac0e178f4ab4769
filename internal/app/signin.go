package app

import (
	"context"
	"time"

	"leaderboard/features"
)

// identityProvider is the provider by which people sign in.
type identityProvider interface {
	// Check asks the provider for the addresses that a sign-in needs. The error says why they are not known.
	Check(ctx context.Context, now time.Time) error
	// Issuer returns the URL that names the provider, as the setting oidc-issuer has it.
	Issuer() string
	// Writers reports whether somebody who signs in may write.
	Writers() bool
}

// checkProvider asks the identity provider, if the server has one for sign-ins.
func (a *App) checkProvider(ctx context.Context) (look, error) {
	provider := features.Offered[identityProvider](a.engine)
	if provider == nil {
		return look{}, nil
	}
	if err := provider.Check(ctx, time.Now()); err != nil {
		return look{}, err
	}
	return look{found: provider.Issuer() + " says where people sign in"}, nil
}
