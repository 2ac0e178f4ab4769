package players

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Signing keeps the keys that sign tokens of this service.
type Signing interface {
	// RotateSigning makes another key for new tokens; tokens of earlier keys stay valid for the time of the overlap.
	// ErrKeyOverlap.
	RotateSigning(ctx context.Context, overlap time.Duration) error
}

// Bars keeps the members whose tokens are refused. Each change records the caller.
type Bars interface {
	// BarMember ends all tokens of a member that were issued before a time, 0: now; *leaderboard.RuleError.
	BarMember(ctx context.Context, member string, before leaderboard.Micros) (MemberBar, error)
	// UnbarMember removes the bar; ErrBarNotFound.
	UnbarMember(ctx context.Context, member string) error
	// Bar finds the bar of a member; ErrBarNotFound.
	Bar(ctx context.Context, member string) (MemberBar, error)
}

// Registry makes tokens of this service, and has the keys that verify tokens. All methods may be called concurrently.
type Registry interface {
	// Mint makes a token of a grant that has passed Check; ErrUnavailable.
	Mint(ctx context.Context, g TokenGrant, now time.Time) (token string, expires leaderboard.Micros, err error)
	// PublicKeys returns the keys that verify tokens of this service, in the order of their ids; ErrUnavailable.
	PublicKeys(ctx context.Context, now time.Time) ([]PublicKey, error)
	// CheckIssuer finds what IssuerRules.Check leaves to others.
	CheckIssuer(rules IssuerRules) []leaderboard.FieldError
	// PassedOver returns up to maxPassedOver keys of an issuer that are not used, as far as this process knows them.
	PassedOver(i *Issuer) []api.UnusableKey
}

// tokenHandlers make tokens of this service, and end the tokens of members.
type tokenHandlers struct {
	signing Signing
	bars    Bars
	players Registry
}

// tokenBody is the body of POST /v1/tokens.
type tokenBody struct {
	Member *string                 `json:"member"`
	Boards wire.Nullable[[]string] `json:"boards"`
	TTL    string                  `json:"ttl"`
}

// create answers POST /v1/tokens: 201 with a token of a member.
func (h *tokenHandlers) create(c *httpapi.Call) error {
	var body tokenBody
	if err := c.Decode(&body, false, &wire.Emptiness{Nullable: []string{"boards"}, NonEmpty: []string{"ttl"}}); err != nil {
		return err
	}
	g, err := body.grant(c.Key)
	if err != nil {
		return err
	}
	token, expires, err := h.players.Mint(c.Ctx, g, time.Now())
	if err != nil {
		return err
	}
	shown := api.Token{Token: token, Member: g.Member, ExpiresAt: expires.Time()}
	if len(g.Boards) > 0 {
		shown.Boards = g.Boards
	}
	c.NoStore()
	return c.SendJSON(http.StatusCreated, shown)
}

// grant returns the token that a key requests.
func (b *tokenBody) grant(key *leaderboard.Key) (g TokenGrant, err error) {
	var bad wire.BadFields
	if g = (TokenGrant{TTL: defaultTokenTTL, Key: key.ID}); b.Member == nil {
		bad.Add("/member", "is required")
	} else {
		g.Member = *b.Member
	}
	if b.Boards.Given != nil {
		if g.Boards = *b.Boards.Given; len(g.Boards) == 0 {
			bad.Add("/boards", "want at least one name or prefix, or null for all boards")
		}
	}
	if b.TTL != "" {
		if g.TTL, err = time.ParseDuration(b.TTL); err != nil {
			bad.Add("/ttl", "want a duration such as 1h")
		}
	}
	if err := bad.Err(); err != nil {
		return g, err
	}
	if err := g.Check(); err != nil {
		return g, err
	}
	if key.Limited() && len(g.Boards) == 0 {
		return g, guard.ErrNotCovered(key, wire.InputError{Pointer: "/boards", Detail: guard.NotCovered})
	}
	for i, pattern := range g.Boards {
		if !key.CoversAll([]string{pattern}) {
			return g, guard.ErrNotCovered(key, wire.InputError{Pointer: "/boards/" + strconv.Itoa(i), Detail: guard.NotCovered})
		}
	}
	return g, nil
}

// rotate answers POST /v1/tokens/rotate: another key signs tokens from now on.
func (h *tokenHandlers) rotate(c *httpapi.Call) error {
	var body struct {
		Overlap string `json:"overlap"`
	}
	if err := c.Decode(&body, true, &wire.Emptiness{NonEmpty: []string{"overlap"}}); err != nil {
		return err
	}
	overlap := api.SigningOverlap
	if body.Overlap != "" {
		var err error
		if overlap, err = time.ParseDuration(body.Overlap); err != nil || overlap < 0 || overlap > api.SigningOverlap {
			return wire.Malformed(wire.InputError{Pointer: "/overlap", Detail: "want a duration from 0s to " + api.SigningOverlap.String() + ", such as 1h"})
		}
	}
	if err := h.signing.RotateSigning(c.Ctx, overlap); err != nil {
		return wire.WriteError(err)
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}

// keys answers GET /.well-known/jwks.json.
func (h *tokenHandlers) keys(c *httpapi.Call) error {
	keys, err := h.players.PublicKeys(c.Ctx, time.Now())
	if err != nil {
		return err
	}
	out := api.TokenKeys{Keys: []api.TokenKey{}}
	for _, k := range keys {
		out.Keys = append(out.Keys, api.TokenKey{KTY: "OKP", CRV: "Ed25519", ALG: "EdDSA", USE: "sig", KID: k.ID, X: k.X})
	}
	c.W.Header().Set("Cache-Control", "public, max-age=60")
	return c.SendJSON(http.StatusOK, out)
}

// bar answers PUT /v1/members/{member}/bar: the tokens of the member end, or the ones from before a time.
func (h *tokenHandlers) bar(c *httpapi.Call) error {
	member := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var body struct {
		NotBefore leaderboard.Micros `json:"not_before"`
	}
	if err := c.Decode(&body, true, &wire.Emptiness{}); err != nil {
		return err
	}
	bar, err := h.bars.BarMember(c.Ctx, member, body.NotBefore)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.SendJSON(http.StatusOK, api.Bar{Member: bar.Member, NotBefore: bar.NotBefore.Time()})
}

// getBar answers GET /v1/members/{member}/bar.
func (h *tokenHandlers) getBar(c *httpapi.Call) error {
	member := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	bar, err := h.bars.Bar(c.Ctx, member)
	if err != nil {
		return err
	}
	return c.SendJSON(http.StatusOK, api.Bar{Member: bar.Member, NotBefore: bar.NotBefore.Time()})
}

// unbar answers DELETE /v1/members/{member}/bar.
func (h *tokenHandlers) unbar(c *httpapi.Call) error {
	member := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	if err := h.bars.UnbarMember(c.Ctx, member); err != nil {
		return wire.WriteError(err)
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}
