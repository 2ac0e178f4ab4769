// Package players knows players by their tokens: those of identity providers and those of this service.
//
// Read registry.go (what is held of the tables: issuers, signing keys, bars), verify.go (whose token it is), mint.go (tokens of this
// service) and play.go (plays).
package players
