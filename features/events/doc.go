// Package events delivers the events of package internal/outbox: webhooks, sent to endpoints by Standard Webhooks 1.0.
// Without it events still age and go.
//
// Only the leading server sends. Each round gives new events their deliveries and starts the lanes of the endpoints with
// due deliveries. A lane serves one endpoint, so a slow or dead endpoint delays no other; it sends a few deliveries at a
// time, and only two, and with pauses, while all of them fail. The result of an attempt is recorded after it: a server that
// dies in between leaves a delivery that the next one sends again, under the same id. So events arrive at least once, and
// in no certain order.
//
// Read endpoint.go (the nouns), rows.go (the rows of endpoints), spread.go (how each event gets a delivery for each endpoint, though ids commit out
// of order), deliver.go (due deliveries, and the results of attempts), then sender.go (rounds and lanes), post.go (one
// attempt) and sign.go (its signature). admin.go and list.go are for admins, through handlers.go; above.go is events for
// streams, delivered.go removes erasures that all endpoints have. Package dialer decides which addresses may be dialled.
package events
