// Package events delivers what package internal/outbox enters: webhooks, sent to endpoints as Standard Webhooks 1.0 has it. Without it
// events still age and go.
//
// Of all servers one sends, the one that leads. Each round gives new events their deliveries and starts the lanes of the
// endpoints for which something is due. A lane is of one endpoint, so one that is slow or dead holds up no other; it sends a few
// deliveries at a time, and only two, and with pauses, while all of them fail. What becomes of an attempt is noted after it: a
// server that dies in between leaves a delivery that the next one sends again, under the same id. So events arrive at least
// once, and in no certain order.
//
// Read rows.go (the rows of endpoints), spread.go (how each event gets a delivery for each endpoint, though ids commit out of order),
// deliver.go (what is due, and what became of it), then sender.go (rounds and lanes), post.go (one attempt) and sign.go (its
// signature). admin.go and list.go are what admins change, see and repeat, by handlers.go; above.go is events for streams, told.go the
// erasures that all endpoints know. Package dialer says which addresses may be dialled.
package events
