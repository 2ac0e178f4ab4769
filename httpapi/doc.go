// Package httpapi is the HTTP face of the service: routes, authentication, decoding and checking of input, encoding of
// answers, and problem+json. It holds no rule of a leaderboard and no state but a few counters; everything it says
// comes through the small interfaces of Config.
//
// The contract is openapi.yaml, embedded here, served at /openapi.json and readable at /docs. The tests hold every
// request and response against it.
//
//	routes.go   the table: method, path, access, query parameters, handler
//	call.go     one request: access, bounds, deadline, recovery, sending
//	problem.go  the only place where an error becomes a response
//	encode.go   the append encoder of the answers that are served most
package httpapi
