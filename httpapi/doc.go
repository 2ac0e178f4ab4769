// Package httpapi is the HTTP face of the service: routes, authentication, decoding and checking of input, encoding of
// answers, and problem+json. It holds no rule of a leaderboard and no state but a few counters and encoded pages;
// everything else is behind interfaces, each in the file of the handlers that need it.
//
// The contract is api/openapi.yaml. What is served of it, /openapi.json and /docs, is made by make generate. Package apitest
// holds every request and answer of the tests against it. Below are packages wire (what is sent: bodies, parameters, problems, cursors, ETags,
// codings) and guard (which requests get in, and how much they may take).
//
// The files read in layers; each uses only files above it and on its own line.
//
//	limits.go, show.go                 what requests may take; what may be shown beside entries
//	router.go, base.go, span.go        patterns of paths, the path in front of all of them, spans
//	observer.go                        what metrics hear
//	listener.go, traffic.go            connections; how much is read and written
//	params.go, credentials.go          what a request says, checked, and what it comes with
//	deadline.go, shared.go, send.go    until when it is worked on, what all requests share, the way back of an answer
//	call.go                            one request and its route, which have those parts
//	access.go, body.go                 what it may do, and its body on the way in
//	serve.go                           the order of it all, and recovery
//	list.go                            pages of lists
//	resolver.go, selection.go          the period that a request is about, or several boards
//	absent.go, hidden.go               why a member is absent; hiding members
//	answer.go, inner.go                the answer: its frame, ETag, JSON; answers that the server asks itself for
//	kept.go, reading.go                answers that are encoded once; entries with what is shown beside them
//	rankings.go, page.go, ranks.go     reading several boards as one, and one: pages, ranks
//	past.go, member_standings.go       the past of a member, and where it stands on many boards
//	plays.go, standings.go             plays of submissions; how ranks moved
//	terms.go, scores.go                submitting
//	moderation.go                      many members at once
//	rules.go, boards.go                changes of rules, and boards
//	keys.go                            keys as their holders and admins see them
//	erase.go                           erasing members
//	runs.go                            builds, and checks of copies
//	streams.go                         what answers without an end share
//	export.go, member_data.go          whole boards, and all that is stored of a member
//	health.go, status.go, docs.go      health, how boards stand, the manual
//	config.go                          what an API needs
//	routes.go, crossorigin.go          the table of routes; pages of other origins
//	server.go                          serving
package httpapi
