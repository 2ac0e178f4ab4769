package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/MicahParks/jwkset"

	"leaderboard/api"
)

var errNoSet = errors.New("want a JSON Web Key Set, an object with keys, a list")

const (
	// maxKeys is how many keys of a set are used.
	maxKeys = 100
	// minRSABits and maxRSABits bound keys of RSA: shorter ones are no protection, longer ones take long to verify with.
	minRSABits = 2048
	maxRSABits = 4096
)

// publicKey is a key that verifies tokens of one algorithm.
type publicKey struct {
	alg api.TokenAlgorithm
	key any
}

// KeySet is the public keys of an issuer by their kid. Nothing writes to it.
type KeySet struct {
	keys   map[string]publicKey
	Passed []api.UnusableKey // keys of the set that are not used
	Secret string            // why a key among them must not be known to anybody, "" when there is no such key
}

// Find returns the key that a token names, or the only key when it names none; nil if no key fits the algorithm.
func (s *KeySet) Find(kid string, alg api.TokenAlgorithm) any {
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

// ParseKeys reads a JSON Web Key Set (RFC 7517). Unusable keys are skipped: keys of other kinds, for other uses, too weak
// or too costly, and secret keys, since every reader of the set can sign with them. A set without usable keys is an error.
func ParseKeys(text []byte) (*KeySet, error) {
	var in struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, errNoSet // without err, which names types of Go: admins read the text
	}
	set := &KeySet{keys: map[string]publicKey{}}
	for i, raw := range in.Keys {
		var m jwkset.JWKMarshal
		k, why := publicKey{}, "is no JSON Web Key"
		if json.Unmarshal(raw, &m) == nil {
			k, why = usable(&m)
		}
		if i >= maxKeys {
			why = fmt.Sprintf("comes after the first %d keys", maxKeys)
		}
		if why == "" {
			set.keys[m.KID] = k
			continue
		}
		if set.Passed = append(set.Passed, api.UnusableKey{KID: m.KID, Reason: why}); why == keyIsSecret {
			set.Secret = fmt.Sprintf("the key %q is secret, and only public ones may be here", m.KID)
		}
	}
	if len(set.keys) == 0 {
		return nil, fmt.Errorf("no key of the set can be used: want some for RS256 with %d to %d bits, ES256 or EdDSA", minRSABits, maxRSABits)
	}
	return set, nil
}

// keyIsSecret is why a private or a symmetric key is not used.
const keyIsSecret = "is secret, and everybody can read it here: its tokens prove nothing"

// usable returns the key that verifies signatures, or why it cannot.
func usable(m *jwkset.JWKMarshal) (k publicKey, why string) {
	switch {
	case m.D != "" || m.K != "":
		return k, keyIsSecret
	case m.USE != "" && m.USE != jwkset.UseSig:
		return k, "is not for signatures"
	}
	m.X5C, m.X5T, m.X5TS256, m.X5U = nil, "", "", "" // the key itself counts: certificates are not looked at, and nothing is fetched
	parsed, err := jwkset.NewJWKFromMarshal(*m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{SkipKeyOps: true})
	if err != nil {
		return k, "cannot be read"
	}
	switch key := parsed.Key().(type) {
	case *rsa.PublicKey:
		k, why = publicKey{api.TokenAlgorithmRS256, key}, weakRSA(key)
	case *ecdsa.PublicKey:
		if k.alg, k.key = api.TokenAlgorithmES256, key; key.Curve != elliptic.P256() {
			why = "is on another curve than P-256"
		} else if _, err := key.ECDH(); err != nil {
			why = "is no point of its curve"
		}
	case ed25519.PublicKey:
		if k.alg, k.key = api.TokenAlgorithmEdDSA, key; len(key) != ed25519.PublicKeySize {
			why = "is no key of Ed25519"
		}
	default:
		why = "is of another sort than RSA, P-256 and Ed25519"
	}
	if why == "" && m.ALG != "" && string(m.ALG) != string(k.alg) && (k.alg != api.TokenAlgorithmEdDSA || m.ALG != "Ed25519") {
		why = "is for another algorithm than " + string(k.alg)
	}
	return k, why
}

// weakRSA returns why no tokens are verified with a key of RSA, "" when they may be. An exponent that is even, or one, is no key: with
// one everybody can sign.
func weakRSA(key *rsa.PublicKey) string {
	switch bits := key.N.BitLen(); {
	case bits < minRSABits || bits > maxRSABits:
		return fmt.Sprintf("has %d bits, want %d to %d", bits, minRSABits, maxRSABits)
	case key.E < 3 || key.E%2 == 0 || key.N.Bit(0) == 0:
		return "has an exponent or a modulus that no key of RSA has"
	}
	return ""
}
