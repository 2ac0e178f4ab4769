package client_test

import (
	"errors"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

func endpointsPart(t *testing.T, c *client.Client) []string {
	t.Helper()
	ctx, name := t.Context(), "client"
	made, err := c.PutEndpoint(ctx, name, client.EndpointRequest{URL: "https://hooks.example:1/", Kinds: []leaderboard.EventKind{leaderboard.EventKindBoardChanged}})
	must(t, err)
	if made.Secret == "" || made.State != client.EndpointStateOn {
		t.Errorf("made %+v", made)
	}
	again, err := c.PutEndpoint(ctx, name, client.EndpointRequest{URL: "https://hooks.example:1/", Kinds: made.Kinds})
	must(t, err)
	shown, err := c.GetEndpoint(ctx, name)
	must(t, err)
	if list := all(t, c.Endpoints(ctx)); again.Secret != "" || shown.URL != "https://hooks.example:1/" || len(list) != 1 || list[0].Name != name {
		t.Errorf("again %+v, shown %+v, listed %+v", again, shown, list)
	}
	tested, err := c.TestEndpoint(ctx, name)
	must(t, err)
	if tested.Delivered || tested.Error == nil || tested.Status != nil {
		t.Errorf("a local address was sent to: %+v", tested)
	}
	rotated, err := c.RotateEndpoint(ctx, name, time.Hour)
	must(t, err)
	if rotated.Secret == made.Secret || rotated.PreviousSecretUntil == nil {
		t.Errorf("rotated %+v", rotated)
	}
	_, _, err = c.PutBoard(ctx, "events", leaderboard.Rules{})
	must(t, err)
	n, err := c.ReplaySince(ctx, name, time.Unix(0, 0))
	must(t, err)
	list := all(t, c.Deliveries(ctx, name, ""))
	if n != len(list) || n == 0 || list[0].Kind != leaderboard.EventKindBoardChanged || len(list[0].Payload) == 0 {
		t.Fatalf("replayed %d, listed %+v", n, list)
	}
	must(t, c.ReplayEvent(ctx, name, list[0].ID))
	if err := c.ReplayEvent(ctx, name, leaderboard.NewEventID()); !errors.Is(err, leaderboard.ErrEventNotFound) {
		t.Errorf("an event that is not there: %v", err)
	}
	must(t, c.DeleteEndpoint(ctx, name))
	if _, err := c.GetEndpoint(ctx, name); !errors.Is(err, leaderboard.ErrEndpointNotFound) {
		t.Errorf("deleted: %v", err)
	}
	return []string{"putEndpoint", "getEndpoint", "listEndpoints", "testEndpoint", "rotateEndpoint", "replayEvents", "listDeliveries", "deleteEndpoint"}
}
