package players

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"reflect"
	"slices"
	"time"

	"leaderboard/api"
	"leaderboard/cache"
	"leaderboard/internal/oidc"
	"leaderboard/leaderboard"
)

// Source is the tables.
type Source interface {
	// Issuers returns up to limit issuers with a name after the given one, in the order of their names.
	Issuers(ctx context.Context, after string, limit int) ([]Issuer, error)
	// SigningKeys returns the keys that sign, and the keys whose tokens are still valid, the newest last.
	SigningKeys(ctx context.Context) ([]SigningKey, error)
	// RenewSigning makes a key that signs, unless a young enough key exists.
	RenewSigning(ctx context.Context) error
	// Bars returns up to limit bars of members after the given one, in the order of their bytes.
	Bars(ctx context.Context, after string, limit int) ([]MemberBar, error)
}

// registry is the tables at one revision. Nothing writes to it.
type registry struct {
	byIssuer map[string]*issuer     // by the claim iss
	signing  map[string]*signingKey // by kid, with recently ended ones
	signs    *signingKey            // the newest key that signs, or nil
	bars     map[string]leaderboard.Micros
}

// issuer is an issuer with its keys. It stays the same while its rules are.
type issuer struct {
	Issuer
	maxAge time.Duration
	keys   keySource
}

// signingKey is a key of this service. It stays the same while it is there.
type signingKey struct {
	SigningKey
	private ed25519.PrivateKey
	public  ed25519.PublicKey
	gone    bool // the tables no longer have it
}

// isOver reports whether what the key has signed is not taken at a time.
func (k *signingKey) isOver(now time.Time) bool {
	return k.gone || k.EndsAt != 0 && leaderboard.MicrosOf(now) >= k.EndsAt
}

// readAll reads the tables. Unchanged parts keep their values, so that remembered results stay valid.
func (p *Players) readAll(ctx context.Context) (*registry, error) {
	before := p.table.Value()
	if before == nil {
		before = &registry{}
	}
	r := &registry{byIssuer: map[string]*issuer{}, signing: map[string]*signingKey{}, bars: map[string]leaderboard.Micros{}}
	err := cache.ReadPages(ctx, cache.PageRows, p.source.Issuers, func(i *Issuer) string {
		r.byIssuer[i.Issuer] = p.compile(i, before.byIssuer[i.Issuer])
		return i.Name
	})
	if err != nil {
		return nil, err
	}
	keys, err := p.source.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		r.addSigning(k, before.signing[k.ID])
	}
	r.keepGone(before)
	err = cache.ReadPages(ctx, cache.PageRows, p.source.Bars, func(b *MemberBar) string {
		r.bars[b.Member] = b.NotBefore
		return b.Member
	})
	return r, err
}

func (r *registry) addSigning(k SigningKey, old *signingKey) {
	if old == nil || !bytes.Equal(old.Seed, k.Seed) {
		if len(k.Seed) != ed25519.SeedSize {
			return
		}
		private := ed25519.NewKeyFromSeed(k.Seed)
		old = &signingKey{private: private, public: private.Public().(ed25519.PublicKey)}
	}
	key := &signingKey{k, old.private, old.public, false}
	if reflect.DeepEqual(old.SigningKey, k) && !old.gone {
		key = old
	}
	if r.signing[k.ID] = key; k.EndsAt == 0 {
		r.signs = key
	}
}

// mostGone is the number of remembered keys that the tables no longer have.
const mostGone = 16

// keepGone keeps the newest keys that have gone since the last state: their signatures were valid once, and are no guesses.
func (r *registry) keepGone(before *registry) {
	var gone []*signingKey
	for id, k := range before.signing {
		if r.signing[id] != nil {
			continue
		}
		if !k.gone {
			k = &signingKey{k.SigningKey, k.private, k.public, true}
		}
		gone = append(gone, k)
	}
	slices.SortFunc(gone, func(a, b *signingKey) int { return cmp.Compare(b.CreatedTime, a.CreatedTime) })
	for _, k := range gone[:min(len(gone), mostGone)] {
		r.signing[k.ID] = k
	}
}

// compile returns an issuer ready for use, the previous value when its rules are the same.
func (p *Players) compile(i *Issuer, old *issuer) *issuer {
	if old != nil && reflect.DeepEqual(old.Issuer, *i) {
		return old
	}
	out := &issuer{Issuer: *i, maxAge: i.Age()}
	if i.JWKSURL == "" {
		set, err := oidc.ParseKeys(i.JWKS)
		if err != nil { // it was checked when it came, maybe by an older version
			p.opts.Log.Error("the keys of an issuer cannot be read", "issuer", i.Name, "error", err)
		}
		out.keys = fixedKeys{set}
		return out
	}
	out.keys = oidc.NewPublished(i.Name, i.JWKSURL, p.fetcher, p.opts.Keys)
	return out
}

// keySource has the keys of an issuer.
type keySource interface {
	// Current returns the keys that are valid at a time, or nil. It may fetch them, also if a kid is not among the known
	// ones: at most once a minute.
	Current(ctx context.Context, now time.Time, kid string) *oidc.KeySet
}

// fixedKeys are the keys in the issuer's rules.
type fixedKeys struct{ set *oidc.KeySet }

func (f fixedKeys) Current(context.Context, time.Time, string) *oidc.KeySet { return f.set }

// PassedOver returns up to maxPassedOver keys of an issuer's set that are not used. Of a set at an address it returns what
// this process found when it last asked, nil before.
func (p *Players) PassedOver(i *Issuer) []api.UnusableKey {
	var set *oidc.KeySet
	if i.JWKSURL == "" {
		set, _ = oidc.ParseKeys(i.JWKS)
	} else if r := p.table.Value(); r != nil && r.byIssuer[i.Issuer] != nil {
		if f, ok := r.byIssuer[i.Issuer].keys.(*oidc.Published); ok && f.URL() == i.JWKSURL {
			set = f.Known()
		}
	}
	if set == nil {
		return nil
	}
	return set.Passed[:min(len(set.Passed), maxPassedOver)]
}

// CheckIssuer returns the faults in rules of an issuer that have passed their Check: unreadable keys, or a forbidden
// address.
func (p *Players) CheckIssuer(rules IssuerRules) []leaderboard.FieldError {
	if rules.JWKSURL != "" {
		if wrong := p.fetcher.Check(rules.JWKSURL); wrong != "" {
			return []leaderboard.FieldError{{Pointer: "/jwks_url", Detail: wrong}}
		}
		return nil
	}
	set, err := oidc.ParseKeys(rules.JWKS)
	switch {
	case err != nil:
		return []leaderboard.FieldError{{Pointer: "/jwks", Detail: fmt.Sprint(err)}}
	case set.Secret != "": // it would be stored, shown and recorded
		return []leaderboard.FieldError{{Pointer: "/jwks", Detail: set.Secret}}
	}
	return nil
}
