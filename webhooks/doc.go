// Package webhooks sends events to endpoints, as Standard Webhooks 1.0 has it.
//
// Of all servers one sends, the one that leads. Each round gives new events their deliveries and starts the lanes of the
// endpoints for which something is due. A lane is of one endpoint, so one that is slow or dead holds up no other; it sends a few
// deliveries at a time, and only two, and with pauses, while all of them fail. What becomes of an attempt is noted after it: a
// server that dies in between leaves a delivery that the next one sends again, under the same id. So events arrive at least
// once, and in no certain order.
//
// Read sender.go (rounds and lanes), post.go (one attempt) and sign.go (its signature). Package dialer says which addresses may be
// dialled.
package webhooks
