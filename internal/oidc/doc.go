// Package oidc reads what identity providers publish and sign: sets of public keys, at their addresses, and tokens.
//
// Read fetch.go (how an address is asked), keyset.go (which keys of a set are used), published.go (keys that an issuer publishes, and
// how long they hold), token.go (what a token says before its signature is looked at) and claims.go (its claims by their names).
package oidc
