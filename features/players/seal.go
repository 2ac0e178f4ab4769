package players

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"leaderboard/leaderboard"
)

// Seal returns a text with a proof that a server of this database issued it, for Unseal on any of them. The text stays
// readable. Errors: ErrUnavailable.
func (p *Players) Seal(ctx context.Context, text string, now time.Time) (string, error) {
	key, err := p.signingKey(ctx, now)
	if err != nil {
		return "", err
	}
	text += "." + key.ID
	return text + "." + key.seal(text), nil
}

// Unseal returns the text that Seal sealed; ok is false for anything else, and when the key that sealed it has ended. It
// costs two hashes, and no question to the database. Errors: ErrUnavailable.
func (p *Players) Unseal(ctx context.Context, sealed string, now time.Time) (text string, ok bool, err error) {
	r, err := p.table.Get(ctx, now, func(r *registry) bool { return r != nil })
	if err != nil {
		return "", false, err
	}
	sealed, code, _ := cutLast(sealed)
	text, id, _ := cutLast(sealed)
	key := r.signing[id]
	if key == nil || key.EndsAt != 0 && leaderboard.MicrosOf(now) >= key.EndsAt || !hmac.Equal([]byte(code), []byte(key.seal(sealed))) {
		return "", false, nil
	}
	return text, true, nil
}

// cutLast cuts a text around its last dot.
func cutLast(text string) (before, after string, found bool) {
	at := strings.LastIndexByte(text, '.')
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}

// seal returns the code of a text by a key that is for this alone: who sees it learns nothing about the seed.
func (k *signingKey) seal(text string) string {
	own := hmac.New(sha256.New, k.Seed)
	own.Write([]byte("leaderboard seal"))
	mac := hmac.New(sha256.New, own.Sum(nil))
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
