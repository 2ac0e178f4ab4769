// Package streams sends a page, or what is around a member, to clients at once and after each change, as server-sent events; and to
// members the notices of who passed them.
//
// Read stream.go (one client), pages.go (what is sent: answers of other routes), broadcast.go (made once for all who ask for the
// same) and passed.go (notices). What all answers without an end share is httpapi.Streams.
package streams
