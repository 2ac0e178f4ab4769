// Package httpapi is the HTTP face of the service: routes, authentication, decoding and checking of input, encoding of
// answers, and problem+json. It holds no rule of a leaderboard and no state but a few counters and encoded pages;
// everything else is behind interfaces, each in the file of the handlers that need it.
//
// The contract is api/openapi.yaml. What is served of it, /openapi.json and /docs, is made by make generate. The tests hold
// every request and answer against it. Below are packages wire (what is sent: bodies, parameters, problems, cursors, ETags,
// codings) and guard (which requests get in, and how much they may take).
//
// The files read in layers; each uses only those above it and those of its own line.
//
//	limits.go                          what requests may take
//	router.go, base.go, span.go        patterns of paths, the path in front of all of them, spans
//	listener.go, traffic.go            connections; how much is read and written
//	call.go, body.go                   one request: access, bounds, deadline, recovery, body, sending
//	params.go, list.go                 parameters, checked; pages of lists
//	resolver.go, selection.go          the period that a request is about, or several boards
//	hidden.go                          hiding members, and saying why one is absent
//	answer.go, rankings.go             the answer: its frame, ETag, JSON; reading several boards as one
//	kept.go, metadata.go               answers that are encoded once; metadata of entries
//	page.go, ranks.go                  reading one board: pages, ranks
//	past.go, member_standings.go       the past of a member, and where it stands on many boards
//	friends.go                         a member's friends, and how they are ranked
//	plays.go, standings.go             plays that begin; how ranks moved
//	scores.go, terms.go                submitting
//	boards.go, rules.go                boards, and changes of their rules
//	keys.go, tokens.go, issuers.go     keys, players' tokens, and who issues them
//	endpoints.go                       where events are sent
//	members.go, find.go                profiles, and finding members
//	held.go, submissions.go, audit.go  what waits for an admin, what was submitted, what was changed
//	activity.go, runs.go               how much is submitted; builds, and checks of copies
//	broadcast.go, passed.go            what streams share; who was passed
//	stream.go, changes.go              answers that have no end
//	export.go, member_data.go          whole boards, and all that is stored of a member
//	health.go, status.go, docs.go      health, how boards stand, the manual
//	config.go, signin.go               what an API needs; people who sign in
//	routes.go, crossorigin.go          the table of routes; pages of other origins
//	server.go                          serving
package httpapi
