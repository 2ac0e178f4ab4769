// Package streams sends a page, or the entries around a member, to clients at once and after each change, as server-sent
// events; and to members the notices about who passed them.
//
// Read stream.go (one client), pages.go (the content: answers of other routes), broadcast.go (made once for all clients
// with the same request) and passed.go (notices). httpapi.Streams is shared by all answers without an end.
package streams
