package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"

	"leaderboard/leaderboard"
)

// Endpoint is where events are sent.
type Endpoint struct {
	Name         string                    `json:"name"`
	URL          string                    `json:"url"`
	Kinds        []leaderboard.EventKind   `json:"kinds"`  // of the events that it gets; nil: all
	Boards       []string                  `json:"boards"` // names and prefixes such as "game1-*"; nil: all boards
	Enabled      bool                      `json:"enabled"`
	AllowPrivate bool                      `json:"allow_private"`
	State        leaderboard.EndpointState `json:"state"`

	Waiting             int64      `json:"waiting"`           // deliveries, counted up to leaderboard.MaxWaiting
	OldestWaitingAt     *time.Time `json:"oldest_waiting_at"` // the time of the oldest event that waits
	LastError           *string    `json:"last_error"`        // of the last attempt to deliver that event
	CreatedTime         *time.Time `json:"created_time"`
	UpdatedTime         *time.Time `json:"updated_time"`
	PreviousSecretUntil *time.Time `json:"previous_secret_until"` // until then the secret before the last rotation signs too
}

// NewEndpoint is an endpoint with its secret, which no other answer shows.
type NewEndpoint struct {
	Endpoint
	Secret string `json:"secret"` // whsec_…; "": the endpoint was there
}

// EndpointRequest describes an endpoint.
type EndpointRequest struct {
	URL          string                  `json:"url"`
	Kinds        []leaderboard.EventKind `json:"kinds,omitempty"`   // empty: all
	Boards       []string                `json:"boards,omitempty"`  // empty: all boards
	Enabled      *bool                   `json:"enabled,omitempty"` // nil: it is
	AllowPrivate bool                    `json:"allow_private,omitempty"`
}

// EndpointTest is what became of a test of an endpoint.
type EndpointTest struct {
	Delivered bool    `json:"delivered"`
	Status    *int    `json:"status"` // nil: there was no answer
	Error     *string `json:"error"`
	Took      string  `json:"took"` // Go duration
}

// Delivery is an event on its way to an endpoint.
type Delivery struct {
	ID            string                    `json:"id"` // of the event
	Kind          leaderboard.EventKind     `json:"kind"`
	Time          time.Time                 `json:"time"` // of the event
	State         leaderboard.DeliveryState `json:"state"`
	Attempts      int                       `json:"attempts"`
	LastAttemptAt *time.Time                `json:"last_attempt_at"`
	NextAttemptAt *time.Time                `json:"next_attempt_at"`
	Status        *int                      `json:"status"` // of the last answer
	Error         *string                   `json:"error"`
	Payload       json.RawMessage           `json:"payload"` // what is sent
}

// PutEndpoint creates an endpoint or changes it. It is sent once: when the answer to a creation is lost, the secret is lost too,
// and the endpoint should be given another one. Needs scope admin, like the methods below.
func (c *Client) PutEndpoint(ctx context.Context, name string, e EndpointRequest) (NewEndpoint, error) {
	return call[NewEndpoint](ctx, c, Request{Method: http.MethodPut, Path: Path("endpoints", name), Body: e, Once: true})
}

// Endpoints lists the endpoints that the key may see, in the order of their names.
func (c *Client) Endpoints(ctx context.Context) iter.Seq2[Endpoint, error] {
	return Items[Endpoint](ctx, c, Path("endpoints"), nil, "endpoints")
}

// GetEndpoint returns one endpoint. Errors: leaderboard.ErrEndpointNotFound.
func (c *Client) GetEndpoint(ctx context.Context, name string) (Endpoint, error) {
	return get[Endpoint](ctx, c, Path("endpoints", name), nil)
}

// DeleteEndpoint deletes an endpoint with its deliveries.
func (c *Client) DeleteEndpoint(ctx context.Context, name string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("endpoints", name)})
}

// RotateEndpoint gives an endpoint another secret. The previous one signs too for the overlap. It is sent once: a second rotation
// would end the secret that is in use.
func (c *Client) RotateEndpoint(ctx context.Context, name string, overlap time.Duration) (NewEndpoint, error) {
	return call[NewEndpoint](ctx, c, Request{
		Method: http.MethodPost, Path: Path("endpoints", name, "rotate"), Body: map[string]string{"overlap": overlap.String()}, Once: true,
	})
}

// TestEndpoint has the server make one attempt to deliver an event of kind endpoint.test, and returns what became of it.
func (c *Client) TestEndpoint(ctx context.Context, name string) (EndpointTest, error) {
	return call[EndpointTest](ctx, c, Request{Method: http.MethodPost, Path: Path("endpoints", name, "test"), Body: struct{}{}, Once: true})
}

// Deliveries lists the deliveries of an endpoint in a state ("": all), newest event first.
func (c *Client) Deliveries(ctx context.Context, name string, state leaderboard.DeliveryState) iter.Seq2[Delivery, error] {
	query := url.Values{"limit": {"100"}} // they come with their payloads
	if state != "" {
		query.Set("state", string(state))
	}
	return Items[Delivery](ctx, c, Path("endpoints", name, "deliveries"), query, "deliveries")
}

// ReplaySince has an endpoint sent all its events from a moment on once more, and returns how many.
func (c *Client) ReplaySince(ctx context.Context, name string, since time.Time) (int, error) {
	return c.replay(ctx, name, map[string]any{"since": since.UTC().Truncate(time.Microsecond)})
}

// ReplayEvent has an endpoint sent one event once more. Errors: leaderboard.ErrEventNotFound.
func (c *Client) ReplayEvent(ctx context.Context, name, event string) error {
	_, err := c.replay(ctx, name, map[string]any{"event": event})
	return err
}

func (c *Client) replay(ctx context.Context, name string, body any) (int, error) {
	out, err := call[struct {
		Events int `json:"events"`
	}](ctx, c, Request{Method: http.MethodPost, Path: Path("endpoints", name, "replay"), Body: body})
	return out.Events, err
}
