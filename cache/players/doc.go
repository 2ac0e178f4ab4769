// Package players knows players by their tokens: those of identity providers and those of this service.
//
// Read registry.go (what is held of the tables: issuers, signing keys, bars), keyset.go and fetch.go (the public keys of an
// issuer, and how they are asked for), verify.go (whose token it is), mint.go (tokens of this service) and play.go (plays).
package players
