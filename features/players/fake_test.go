package players

import (
	"context"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// fakeIssuers is the issuers, signing keys and bars of admins, and a Registry.
type fakeIssuers struct {
	issuers *apitest.Table[Issuer]
	bars    *apitest.Table[MemberBar]
	overlap []time.Duration // of rotations
	granted []TokenGrant
}

func (f *fakeIssuers) PutIssuer(_ context.Context, name string, rules IssuerRules) (Issuer, bool, error) {
	i := Issuer{Name: name, IssuerRules: rules, CreatedTime: 1_700_000_000_000_000, UpdatedTime: 1_700_000_000_000_000}
	for _, other := range f.issuers.List("", 1000) {
		if other.Name != name {
			if err := i.Meets(&other); err != nil {
				return i, false, err
			}
		}
	}
	return i, f.issuers.Put(name, i), nil
}

func (f *fakeIssuers) DeleteIssuer(_ context.Context, name string) error {
	return f.issuers.Remove(name)
}

func (f *fakeIssuers) Issuer(_ context.Context, name string) (Issuer, error) {
	return f.issuers.Get(name)
}

func (f *fakeIssuers) Issuers(_ context.Context, after string, limit int) ([]Issuer, error) {
	return f.issuers.List(after, limit), nil
}

func (f *fakeIssuers) RotateSigning(_ context.Context, overlap time.Duration) error {
	f.overlap = append(f.overlap, overlap)
	return nil
}

func (f *fakeIssuers) BarMember(_ context.Context, member string, _ leaderboard.Micros) (MemberBar, error) {
	bar := MemberBar{Member: member, NotBefore: 1_700_000_000_000_000}
	f.bars.Put(member, bar)
	return bar, nil
}

func (f *fakeIssuers) UnbarMember(_ context.Context, member string) error {
	return f.bars.Remove(member)
}

func (f *fakeIssuers) Bar(_ context.Context, member string) (MemberBar, error) {
	return f.bars.Get(member)
}

func (f *fakeIssuers) Mint(_ context.Context, g TokenGrant, now time.Time) (string, leaderboard.Micros, error) {
	f.granted = append(f.granted, g)
	return "a.b.c", leaderboard.MicrosOf(now.Add(g.TTL)), nil
}

func (f *fakeIssuers) PublicKeys(context.Context, time.Time) ([]PublicKey, error) {
	return []PublicKey{{ID: "s1", X: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}, nil
}

func (f *fakeIssuers) CheckIssuer(rules IssuerRules) []leaderboard.FieldError {
	if rules.JWKSURL == "https://10.0.0.1/keys" {
		return []leaderboard.FieldError{{Pointer: "/jwks_url", Detail: "want an address that is not private"}}
	}
	return nil
}

func (f *fakeIssuers) PassedOver(i *Issuer) []api.UnusableKey {
	if i.JWKS == nil {
		return nil
	}
	return []api.UnusableKey{{KID: "o", Reason: "is secret"}}
}
