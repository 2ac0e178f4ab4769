package app

import (
	"context"
	"time"

	"leaderboard/cache/players"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// renew has a mirror of this process read its table again after a change of it. Elsewhere, and here when that fails, the change
// is known within a second.
func renew(ctx context.Context, mirror interface{ Renew(context.Context) error }, changed *error) {
	if *changed == nil {
		_ = mirror.Renew(ctx)
	}
}

// tokens is the issuers, signing keys and bars. A change through this process holds here when it returns.
type tokens struct {
	*store.Tokens
	players *players.Players
}

// PutIssuer creates an issuer or replaces its rules.
func (t tokens) PutIssuer(ctx context.Context, name string, rules leaderboard.IssuerRules) (_ leaderboard.Issuer, _ bool, err error) {
	defer renew(ctx, t.players, &err)
	return t.Tokens.PutIssuer(ctx, name, rules)
}

// DeleteIssuer ends an issuer.
func (t tokens) DeleteIssuer(ctx context.Context, name string) (err error) {
	defer renew(ctx, t.players, &err)
	return t.Tokens.DeleteIssuer(ctx, name)
}

// RotateSigning makes another key for new tokens.
func (t tokens) RotateSigning(ctx context.Context, overlap time.Duration) (err error) {
	defer renew(ctx, t.players, &err)
	return t.Tokens.RotateSigning(ctx, overlap)
}

// BarMember ends the tokens of a member.
func (t tokens) BarMember(ctx context.Context, member string, before leaderboard.Micros) (_ leaderboard.MemberBar, err error) {
	defer renew(ctx, t.players, &err)
	return t.Tokens.BarMember(ctx, member, before)
}

// UnbarMember takes that back.
func (t tokens) UnbarMember(ctx context.Context, member string) (err error) {
	defer renew(ctx, t.players, &err)
	return t.Tokens.UnbarMember(ctx, member)
}
