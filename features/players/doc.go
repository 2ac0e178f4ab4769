// Package players knows players by their tokens: tokens of identity providers and tokens of this service.
//
//	issuer.go, grant.go                   issuers and their rules; tokens of this service, and bounds of all tokens
//	store.go, signing.go, bars.go         issuers, keys that sign, and members whose tokens are refused, in the database
//	registry.go                           these tables in memory
//	verify.go                             whose a token is
//	mint.go, play.go, seal.go             tokens of this service, tokens of plays, and proofs of its texts
//	issuers.go, tokens.go, routes.go      routes
//	metrics.go, feature.go                metrics; the feature
package players
