package players

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/leaderboard"
)

// Mint makes a token of this service. It is dated by the database clock, as the bar that may end it is. The grant must have
// passed Check. Errors: ErrUnavailable.
func (p *Players) Mint(ctx context.Context, g TokenGrant, now time.Time) (token string, expires leaderboard.Micros, err error) {
	key, err := p.signingKey(ctx, now)
	if err != nil {
		return "", 0, err
	}
	if at, ok := p.opts.Clock(); ok {
		now = at.Time()
	}
	const second = 1e6
	issued := float64(leaderboard.MicrosOf(now)) / second // with its fraction: a bar in the same second ends it, or does not
	expires = leaderboard.MicrosOf(now.Add(g.TTL).Truncate(time.Second))
	body := jwt.MapClaims{
		"iss": ownIssuer, "aud": ownIssuer, "sub": g.Member, "iat": issued, "exp": int64(expires) / second, "key": g.Key,
	}
	if len(g.Boards) > 0 {
		body["boards"] = g.Boards
	}
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, body)
	t.Header["kid"] = key.ID
	if token, err = t.SignedString(key.private); err != nil {
		return "", 0, fmt.Errorf("sign a token: %w", err)
	}
	return token, expires, nil
}

// signingKey returns the key that signs, and makes one when it is missing or old. It asks the database whether the key is
// still current: a rotation on another server may have ended it at this moment, and its signatures would never be valid.
// While the database is away, nobody rotates.
func (p *Players) signingKey(ctx context.Context, now time.Time) (*signingKey, error) {
	unasked := p.table.Renew(ctx)
	r, err := p.table.Get(ctx, now, func(r *registry) bool { return r != nil })
	if err != nil {
		return nil, cmp.Or(unasked, err)
	}
	if r.signs != nil && leaderboard.MicrosOf(now)-r.signs.CreatedTime < leaderboard.Micros(signingKeyAge/time.Microsecond) {
		return r.signs, nil
	}
	err = p.source.RenewSigning(ctx)
	if err == nil {
		err = p.table.Renew(ctx)
	}
	if r = p.table.Value(); r.signs == nil {
		return nil, cmp.Or(err, fmt.Errorf("%w: no key signs tokens", leaderboard.ErrUnavailable))
	}
	return r.signs, nil
}

// PublicKeys returns the public keys that verify tokens of this service, in the order of their ids.
func (p *Players) PublicKeys(ctx context.Context, now time.Time) ([]PublicKey, error) {
	r, err := p.table.Get(ctx, now, func(r *registry) bool { return r != nil })
	if err != nil {
		return nil, err
	}
	var out []PublicKey
	for _, id := range slices.Sorted(maps.Keys(r.signing)) {
		if k := r.signing[id]; !k.isOver(now) {
			out = append(out, PublicKey{ID: id, X: base64.RawURLEncoding.EncodeToString(k.public)})
		}
	}
	return out, nil
}
