// Package httpapi is the HTTP face of the service: routes, authentication, decoding and checking of input, encoding of answers,
// and problem+json. It holds no rule of a leaderboard and no state but a few counters and encoded pages; everything else is behind
// interfaces, each in the file of the handlers that need it.
//
// The contract is api/openapi.yaml. Package apitest checks every request and answer of the tests against it. Below are packages
// wire (the form of bodies, parameters, problems, cursors, ETags and codings) and guard (which requests get in, and which resources
// they may use).
//
// The files read in layers; each uses only files before it and on its own line.
//
//	limits.go, show.go                 bounds of requests; data that answers show with entries
//	router.go, base.go, span.go        patterns of paths, the path in front of all of them, spans
//	observer.go                        the events for metrics
//	listener.go, traffic.go            connections; how much is read and written
//	params.go, credentials.go          the parameters of a request, checked; its key or token
//	deadline.go, shared.go, send.go    the time limit of a request, the part that all requests share, the way back of an answer
//	call.go                            one request and its route, which have those parts
//	access.go, body.go                 the rights of a request, and its body on the way in
//	serve.go                           the order of it all, and recovery
//	list.go                            pages of lists
//	resolver.go, selection.go          the period that a request is about, or several boards
//	absent.go, hidden.go               why a member is absent; hiding members
//	answer.go, inner.go                the answer: its frame, ETag, JSON; answers that the server asks itself for
//	kept.go, reading.go                answers that are encoded once; entries with the data shown with them
//	rankings.go, page.go, ranks.go     reading several boards as one, and one: pages, ranks
//	past.go, member_standings.go       the past of a member, and its standings on many boards
//	plays.go, standings.go             plays of submissions; how ranks moved
//	terms.go, scores.go                submitting
//	moderation.go                      many members at once
//	rules.go, boards.go                changes of rules, and boards
//	keys.go                            keys as their holders and admins see them
//	erase.go                           erasing members
//	runs.go                            builds, and checks of copies
//	streams.go                         the common part of answers without an end
//	health.go, status.go, site.go      health, the status of boards, pages for people
//	config.go                          the needs of an API
//	routes.go, crossorigin.go          the table of routes; pages of other origins
//	server.go                          serving
package httpapi
