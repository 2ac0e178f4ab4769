// Package guard decides which requests get in, and how much they may take: keys and scopes, quotas, how many requests are
// served at once, the memory of bodies on their way in and out, and the pace of refusals. It knows requests and problems
// (package wire), and nothing of routes or handlers.
//
// The files read in layers; each uses only files above it and on its own line.
//
//	address.go, permits.go, throttle.go       addresses of callers; how many at once; the pace of refusals
//	budget.go, body.go                        the memory of bodies, and reading them
//	guard.go, keys.go, session.go, quotas.go  letting requests in: by key, by cookie, within a quota
package guard
