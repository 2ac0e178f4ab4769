package players

import (
	"context"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/internal/oidc"
	"leaderboard/leaderboard"
)

// playAudience is the claim aud of the token of a play: no such token is valid for a player, and the reverse.
const playAudience = "leaderboard play"

// MintPlay makes the token of a play that was begun. Errors: ErrUnavailable.
func (p *Players) MintPlay(ctx context.Context, play leaderboard.Play, now time.Time) (string, error) {
	key, err := p.signingKey(ctx, now)
	if err != nil {
		return "", err
	}
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
		"iss": ownIssuer, "aud": playAudience, "sub": play.Member, "board": play.Board, "jti": play.ID.String(), "iat": int64(play.StartedTime) / 1e6,
	})
	t.Header["kid"] = key.ID
	token, err := t.SignedString(key.private)
	if err != nil {
		return "", fmt.Errorf("sign a play: %w", err)
	}
	return token, nil
}

// FindPlay returns the play of a token, without its StartedTime: whether it is the member's play still, and how long it took, the
// database decides. admit is called before the signature is verified. Errors: *leaderboard.TokenError, ErrUnavailable,
// ErrOverloaded.
func (p *Players) FindPlay(ctx context.Context, token string, now time.Time, admit func() error) (play leaderboard.Play, err error) {
	if len(token) > maxTokenBytes {
		return play, refused("The play is longer than %d bytes.", maxTokenBytes)
	}
	parsed, body, err := oidc.Parse(p.parser, token)
	if err != nil {
		return play, err
	}
	kid, _ := parsed.Header["kid"].(string)
	r, err := p.table.Get(ctx, now, func(r *registry) bool { return r != nil && r.signing[kid] != nil })
	if err != nil {
		return play, err
	}
	key := r.signing[kid]
	if key == nil {
		return play, refused("The key that signed the play is not known.")
	}
	id, ok := leaderboard.ParsePlayID(textOf(body["jti"]))
	if parsed.Method != jwt.SigningMethodEdDSA || textOf(body["iss"]) != ownIssuer || textOf(body["aud"]) != playAudience || !ok {
		return play, refused("That is no play.")
	}
	if err := admit(); err != nil {
		return play, err
	}
	if err := p.signature(ctx, token, parsed, key.public); err != nil {
		return play, err
	}
	if key.isOver(now) {
		return play, over("The key that signed the play is no longer valid.")
	}
	return leaderboard.Play{ID: id, Board: textOf(body["board"]), Member: textOf(body["sub"])}, nil
}

// textOf returns a claim that is a text, "" for others.
func textOf(claim any) string {
	text, _ := claim.(string)
	return text
}
