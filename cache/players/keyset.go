package players

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"fmt"

	"github.com/MicahParks/jwkset"

	"leaderboard"
)

const (
	// maxKeys is how many keys of a set are used.
	maxKeys = 100
	// minRSABits and maxRSABits bound keys of RSA: shorter ones are no protection, longer ones take long to verify with.
	minRSABits = 2048
	maxRSABits = 4096
)

// publicKey is what verifies tokens of one algorithm.
type publicKey struct {
	alg leaderboard.TokenAlgorithm
	key any
}

// keySet is the public keys of an issuer by their kid. Nothing writes to it.
type keySet struct{ keys map[string]publicKey }

// find returns the key that a token names, or the only one when it names none; nil when there is none for the algorithm.
func (s *keySet) find(kid string, alg leaderboard.TokenAlgorithm) any {
	if s == nil {
		return nil
	}
	k, ok := s.keys[kid]
	if !ok && kid == "" && len(s.keys) == 1 {
		for _, k = range s.keys {
		}
	}
	if k.alg != alg {
		return nil
	}
	return k.key
}

// parseKeys reads a JSON Web Key Set (RFC 7517). Keys of other sorts and for other uses are left out; a set without any that
// can be used is an error, and so is one with a private key: its owner would have to replace it.
func parseKeys(text []byte) (*keySet, error) {
	var in struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("want a JSON Web Key Set, an object with the member keys: %w", err)
	}
	set := &keySet{keys: map[string]publicKey{}}
	for _, raw := range in.Keys[:min(len(in.Keys), maxKeys)] {
		var m jwkset.JWKMarshal
		if json.Unmarshal(raw, &m) != nil {
			continue
		}
		if m.D != "" || m.K != "" {
			return nil, fmt.Errorf("the key %q is secret, and only public ones may be here", m.KID)
		}
		if k, ok := usable(&m); ok {
			set.keys[m.KID] = k
		}
	}
	if len(set.keys) == 0 {
		return nil, fmt.Errorf("no key of the set can be used: want some for RS256 with %d to %d bits, ES256 or EdDSA", minRSABits, maxRSABits)
	}
	return set, nil
}

// usable returns the key that verifies signatures, and whether it is one.
func usable(m *jwkset.JWKMarshal) (k publicKey, ok bool) {
	if m.USE != "" && m.USE != jwkset.UseSig {
		return k, false
	}
	m.X5C, m.X5T, m.X5TS256, m.X5U = nil, "", "", "" // the key itself counts: certificates are not looked at, and nothing is fetched
	parsed, err := jwkset.NewJWKFromMarshal(*m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{SkipKeyOps: true})
	if err != nil {
		return k, false
	}
	switch key := parsed.Key().(type) {
	case *rsa.PublicKey:
		bits := key.N.BitLen()
		k, ok = publicKey{leaderboard.TokenAlgorithmRS256, key}, bits >= minRSABits && bits <= maxRSABits
	case *ecdsa.PublicKey:
		k, ok = publicKey{leaderboard.TokenAlgorithmES256, key}, key.Curve == elliptic.P256()
	case ed25519.PublicKey:
		k, ok = publicKey{leaderboard.TokenAlgorithmEdDSA, key}, true
	}
	return k, ok && (m.ALG == "" || string(m.ALG) == string(k.alg) || k.alg == leaderboard.TokenAlgorithmEdDSA && m.ALG == "Ed25519")
}
