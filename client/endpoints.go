package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"leaderboard/api"
)

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

// TestEndpoint makes the server send an endpoint one event of kind endpoint.test, in one attempt, and returns the result.
func (c *Client) TestEndpoint(ctx context.Context, name string) (EndpointTest, error) {
	return call[EndpointTest](ctx, c, Request{Method: http.MethodPost, Path: Path("endpoints", name, "test"), Body: struct{}{}, Once: true})
}

// Deliveries lists the deliveries of an endpoint in a state ("": all), newest event first.
func (c *Client) Deliveries(ctx context.Context, name string, state DeliveryState) iter.Seq2[Delivery, error] {
	query := api.DeliveriesQuery{State: state, Limit: 100} // they come with their payloads
	return Items[Delivery](ctx, c, Path("endpoints", name, "deliveries"), api.Values(query), "deliveries")
}

// ReplaySince makes the server send an endpoint all its events from a moment on again, and returns their number.
func (c *Client) ReplaySince(ctx context.Context, name string, since time.Time) (int, error) {
	return c.replay(ctx, name, map[string]any{"since": since.UTC().Truncate(time.Microsecond)})
}

// ReplayEvent makes the server send an endpoint one event again. Errors: leaderboard.ErrEventNotFound.
func (c *Client) ReplayEvent(ctx context.Context, name, event string) error {
	_, err := c.replay(ctx, name, map[string]any{"event": event})
	return err
}

func (c *Client) replay(ctx context.Context, name string, body any) (int, error) {
	out, err := call[api.Replayed](ctx, c, Request{Method: http.MethodPost, Path: Path("endpoints", name, "replay"), Body: body})
	return out.Events, err
}
