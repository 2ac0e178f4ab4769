// Package players knows players by their tokens: tokens of identity providers and tokens of this service.
//
//	store.go, signing.go, bars.go         issuers, keys that sign, and members whose tokens are refused, in the database
//	registry.go                           what is held of these tables
//	verify.go                             whose a token is
//	mint.go, play.go, seal.go             tokens of this service, tokens of plays, and proofs of what it has given out
//	issuers.go, tokens.go, routes.go      routes
//	metrics.go, feature.go                what is counted; what the folder registers
package players
