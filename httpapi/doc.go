// Package httpapi is the HTTP face of the service: routes, authentication, decoding and checking of input, encoding of
// answers, and problem+json. It holds no rule of a leaderboard and no state but a few counters and encoded pages;
// everything else is behind the interfaces of backend.go.
//
// The contract is openapi.yaml. What is served of it, /openapi.json and /docs, is made by make docs. The tests hold
// every request and answer against it.
//
// The files read in layers; each uses only those above it.
//
//	internal/wire                      what is sent: bodies, parameters, problems, cursors, ETags, codings
//	internal/guard                     which requests get in, and how much they may take
//	backend.go, limits.go              what the API stands on, and what requests may take
//	router.go                          patterns of paths
//	call.go                            one request: access, bounds, deadline, recovery, sending
//	params.go, body.go, list.go        what a request says, checked; bodies on their way in; pages of lists
//	resolver.go, answer.go             the period that it is about, the answer: its frame, ETag, JSON
//	hidden.go                          hiding members, and saying why one is absent
//	page.go, ranks.go, friends.go      reading one board
//	selection.go, rankings.go          reading several boards as one
//	scores.go, boards.go, members.go, runs.go, export.go, health.go, docs.go
//	                                   the other handlers
//	config.go, routes.go, server.go    what an API needs, the table of routes, serving
package httpapi
