package events

import (
	"context"
	"net/http"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/dialer"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Endpoints are the receivers of events. Changes by its methods are durable. may is called under a lock and decides whether
// the caller may see or change an existing endpoint; its errors are returned. Others: ErrEndpointNotFound,
// *leaderboard.RuleError.
type Endpoints interface {
	// PutEndpoint creates an endpoint, with a secret, or changes one, which keeps its own.
	PutEndpoint(ctx context.Context, name string, r EndpointRequest, secret Secret, may func(*Endpoint) error) (e Endpoint, created bool, err error)
	Endpoint(ctx context.Context, name string) (Endpoint, error)
	// Endpoints lists all, in the order of their names.
	Endpoints(ctx context.Context) ([]Endpoint, error)
	DeleteEndpoint(ctx context.Context, name string, may func(*Endpoint) error) error
	// RotateEndpoint gives an endpoint another secret; the old secret signs too until the overlap is over.
	RotateEndpoint(ctx context.Context, name string, secret Secret, overlap time.Duration, may func(*Endpoint) error) (Endpoint, error)
	// Recipient returns an endpoint with its secrets, for a test of it.
	Recipient(ctx context.Context, name string, may func(*Endpoint) error) (Recipient, error)
	// Deliveries lists the deliveries of an endpoint, newest event first.
	Deliveries(ctx context.Context, q DeliveriesQuery) ([]Delivery, error)
	// Replay has events delivered again and returns their number; ErrEventNotFound.
	Replay(ctx context.Context, r Replay, may func(*Endpoint) error) (int, error)
}

// Tester makes one attempt to deliver an event that is not stored, and returns how long it took.
type Tester interface {
	Test(ctx context.Context, to *Recipient) (Attempt, time.Duration)
}

// handlers make, show, change, test and delete endpoints.
type handlers struct {
	endpoints Endpoints
	tester    Tester
	private   bool // the settings allow addresses that are not public
}

// Routes are the routes about where events are sent. private: the settings allow addresses that are not public.
func Routes(endpoints Endpoints, tester Tester, private bool) []httpapi.Route {
	h := &handlers{endpoints, tester, private}
	return []httpapi.Route{
		httpapi.On("listEndpoints", h.list),
		httpapi.On("getEndpoint", h.get),
		httpapi.On("putEndpoint", h.put),
		httpapi.On("deleteEndpoint", h.delete),
		httpapi.On("rotateEndpoint", h.rotate),
		httpapi.On("testEndpoint", h.test),
		httpapi.On("listDeliveries", h.deliveries),
		httpapi.On("replayEvents", h.replay),
	}
}

// maySee returns a function that returns ErrEndpointNotFound for an endpoint that gets events of boards that the request's key is not for.
func maySee(c *httpapi.Call) func(*Endpoint) error {
	return func(e *Endpoint) error {
		if !c.Key.CoversAll(e.Boards) {
			return leaderboard.ErrEndpointNotFound
		}
		return nil
	}
}

func showEndpoint(e *Endpoint) api.Endpoint {
	out := api.Endpoint{
		Name: e.Name, URL: e.URL, Enabled: e.State == api.EndpointStateOn, AllowPrivate: e.AllowPrivate, State: e.State, Waiting: e.Waiting,
		OldestWaitingAt: httpapi.GivenMoment(e.OldestWaiting), LastError: httpapi.Given(e.LastError), CreatedTime: httpapi.Moment(e.CreatedTime),
		UpdatedTime: httpapi.Moment(e.UpdatedTime), PreviousSecretUntil: httpapi.GivenMoment(e.PreviousUntil),
	}
	if len(e.Kinds) > 0 {
		out.Kinds = e.Kinds
	}
	if len(e.Boards) > 0 {
		out.Boards = e.Boards
	}
	return out
}

// endpointBody is the body of PUT /v1/endpoints/{name}.
type endpointBody struct {
	URL          *string                                `json:"url"`
	Kinds        wire.Nullable[[]leaderboard.EventKind] `json:"kinds"`
	Boards       wire.Nullable[[]string]                `json:"boards"`
	Enabled      *bool                                  `json:"enabled"`
	AllowPrivate bool                                   `json:"allow_private"`
}

// request parses a body. Empty lists, also as null, are refused: they may have been meant as no boards or kinds.
func (b *endpointBody) request() (EndpointRequest, error) {
	r := EndpointRequest{Enabled: b.Enabled == nil || *b.Enabled, AllowPrivate: b.AllowPrivate}
	var bad wire.BadFields
	if b.URL == nil {
		bad.Add("/url", "is required")
	} else {
		r.URL = *b.URL
	}
	if b.Kinds.Given != nil {
		if r.Kinds = *b.Kinds.Given; len(r.Kinds) == 0 {
			bad.Add("/kinds", "want at least one kind, or null for all")
		}
	}
	if b.Boards.Given != nil {
		if r.Boards = *b.Boards.Given; len(r.Boards) == 0 {
			bad.Add("/boards", "want at least one name or prefix, or null for all boards")
		}
	}
	return r, bad.Err()
}

// put answers PUT /v1/endpoints/{name}: 201 with the secret, which is never shown again, or 200.
func (h *handlers) put(c *httpapi.Call) error {
	var body endpointBody
	if err := c.Decode(&body, false, &wire.Emptiness{Nullable: []string{"kinds", "boards"}}); err != nil {
		return err
	}
	r, err := body.request()
	if err != nil {
		return err
	}
	if !c.Key.CoversAll(r.Boards) {
		return guard.ErrNotCovered(c.Key, wire.InputError{Pointer: "/boards", Detail: "the key is not for all of these boards"})
	}
	name, secret := c.Params.PathValue("name"), newSecret()
	if leaderboard.CheckBoardName(name) != nil {
		return wire.Reject(leaderboard.CodeInvalidEndpoint, "", wire.InputError{Parameter: "name", Detail: endpointNames})
	}
	if err := h.checkAddress(name, &r); err != nil {
		return wire.WriteError(err)
	}
	e, created, err := h.endpoints.PutEndpoint(c.Ctx, name, r, secret, func(old *Endpoint) error {
		if !c.Key.CoversAll(old.Boards) {
			return guard.ErrNotCovered(c.Key)
		}
		return nil
	})
	if err != nil {
		return wire.WriteError(err)
	}
	if !created {
		return c.SendJSON(http.StatusOK, showEndpoint(&e))
	}
	c.Locate("/v1/endpoints/" + name)
	return sendEndpoint(c, http.StatusCreated, &e, secret)
}

// checkAddress returns the fault in the address of an endpoint by the settings. Endpoints finds the other faults.
func (h *handlers) checkAddress(name string, r *EndpointRequest) error {
	if r.AllowPrivate && !h.private {
		return invalid("/allow_private", "the server's setting allow-private-addresses does not allow it")
	}
	wrong := dialer.Check(r.URL, dialer.Rules{Private: r.AllowPrivate, Plain: r.AllowPrivate})
	if valid := r.Check(name) == nil; wrong == "" || !valid {
		return nil
	}
	if !r.AllowPrivate && dialer.Check(r.URL, dialer.Rules{Private: true, Plain: true}) == "" {
		wrong += "; others need allow_private"
	}
	return invalid("/url", wrong)
}

func invalid(pointer, detail string) error {
	return &leaderboard.RuleError{
		Code: leaderboard.CodeInvalidEndpoint, Fields: []leaderboard.FieldError{{Pointer: pointer, Detail: detail}},
	}
}

// sendEndpoint answers with an endpoint and its secret, which no cache may keep.
func sendEndpoint(c *httpapi.Call, status int, e *Endpoint, secret Secret) error {
	c.NoStore()
	return c.SendJSON(status, api.NewEndpoint{Endpoint: showEndpoint(e), Secret: string(secret)})
}

// endpointName returns the name in the path.
func endpointName(c *httpapi.Call) (string, error) {
	name := c.Params.PathValue("name")
	if leaderboard.CheckBoardName(name) != nil {
		return "", leaderboard.ErrEndpointNotFound
	}
	return name, nil
}

// find returns the endpoint of the path, if the key may see it.
func (h *handlers) find(c *httpapi.Call) (e Endpoint, err error) {
	name, err := endpointName(c)
	if err == nil {
		e, err = h.endpoints.Endpoint(c.Ctx, name)
	}
	if err == nil {
		err = maySee(c)(&e)
	}
	return e, err
}

// get answers GET /v1/endpoints/{name}.
func (h *handlers) get(c *httpapi.Call) error {
	e, err := h.find(c)
	if err != nil {
		return err
	}
	return c.SendJSON(http.StatusOK, showEndpoint(&e))
}

// list answers GET /v1/endpoints: all endpoints that the key may see.
func (h *handlers) list(c *httpapi.Call) error {
	limit := int(c.Params.Integer("limit"))
	of := wire.List{Name: "endpoints"}
	after := httpapi.AfterCursor(c, of.After)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	all, err := h.endpoints.Endpoints(c.Ctx)
	if err != nil {
		return err
	}
	seen := all[:0]
	for i := range all {
		if maySee(c)(&all[i]) == nil && all[i].Name > after {
			seen = append(seen, all[i])
		}
	}
	return httpapi.SendList(c, "endpoints", seen, limit, showEndpoint, func(last *Endpoint) string { return of.Cursor(last.Name) })
}

// delete answers DELETE /v1/endpoints/{name}.
func (h *handlers) delete(c *httpapi.Call) error {
	name, err := endpointName(c)
	if err == nil {
		err = h.endpoints.DeleteEndpoint(c.Ctx, name, maySee(c))
	}
	if err != nil {
		return wire.WriteError(err)
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}

// rotate answers POST /v1/endpoints/{name}/rotate with another secret.
func (h *handlers) rotate(c *httpapi.Call) error {
	name, err := endpointName(c)
	if err != nil {
		return err
	}
	overlap, err := httpapi.OverlapGiven(c, maxOverlap)
	if err != nil {
		return err
	}
	secret := newSecret()
	e, err := h.endpoints.RotateEndpoint(c.Ctx, name, secret, overlap, maySee(c))
	if err != nil {
		return wire.WriteError(err)
	}
	return sendEndpoint(c, http.StatusOK, &e, secret)
}

// test answers POST /v1/endpoints/{name}/test once the endpoint has answered.
func (h *handlers) test(c *httpapi.Call) error {
	name, err := endpointName(c)
	if err != nil {
		return err
	}
	if err := c.Decode(&struct{}{}, true, nil); err != nil {
		return err
	}
	to, err := h.endpoints.Recipient(c.Ctx, name, maySee(c))
	if err != nil {
		return wire.WriteError(err)
	}
	a, took := h.tester.Test(c.Ctx, &to)
	return c.SendJSON(http.StatusOK, api.EndpointTest{
		Delivered: a.Delivered(), Status: httpapi.Given(a.Status), Error: httpapi.Given(a.Error), Took: took.Round(10 * time.Microsecond).String(),
	})
}

func showDelivery(d *Delivery) api.Delivery {
	payload, err := d.Body()
	if err != nil {
		payload = []byte("null") // it cannot be delivered either, and the error of that says why
	}
	return api.Delivery{
		ID: d.ID, Kind: d.Kind, Time: d.Time.Time(), State: d.State, Attempts: d.Attempts, LastAttemptAt: httpapi.GivenMoment(d.Tried), NextAttemptAt: httpapi.GivenMoment(d.Next),
		Status: httpapi.Given(d.Status), Error: httpapi.Given(d.Error), Payload: payload,
	}
}

// deliveries answers GET /v1/endpoints/{name}/deliveries: newest event first.
func (h *handlers) deliveries(c *httpapi.Call) error {
	q := DeliveriesQuery{Endpoint: c.Params.PathValue("name")}
	limit := int(c.Params.Integer("limit"))
	q.State = api.DeliveryState(c.Params.Word("state"))
	of := wire.List{Name: "deliveries " + q.Endpoint + " " + string(q.State)}
	q.Before = httpapi.AfterCursor(c, of.AfterID)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	if _, err := h.find(c); err != nil {
		return err
	}
	q.Limit = limit + 1
	found, err := h.endpoints.Deliveries(c.Ctx, q)
	if err != nil {
		return err
	}
	return httpapi.SendList(c, "deliveries", found, limit, showDelivery, func(last *Delivery) string { return of.CursorID(last.Seq) })
}

// replay answers POST /v1/endpoints/{name}/replay: 202 with the number of events that are delivered again.
func (h *handlers) replay(c *httpapi.Call) error {
	var body struct {
		Since *leaderboard.Micros `json:"since"`
		Event *string             `json:"event"`
	}
	if err := c.Decode(&body, false, &wire.Emptiness{}); err != nil {
		return err
	}
	r := Replay{}
	switch {
	case (body.Since == nil) == (body.Event == nil):
		return wire.Malformed(wire.InputError{Detail: "want either since or event"})
	case body.Since != nil:
		r.Since = *body.Since
	case !leaderboard.IsEventID(*body.Event):
		return wire.Malformed(wire.InputError{Pointer: "/event", Detail: "want the id of an event: evt_ and 26 letters and digits"})
	default:
		r.Event = *body.Event
	}
	var err error
	if r.Endpoint, err = endpointName(c); err != nil {
		return err
	}
	n, err := h.endpoints.Replay(c.Ctx, r, maySee(c))
	if err != nil {
		return wire.WriteError(err)
	}
	return c.SendJSON(http.StatusAccepted, api.Replayed{Events: n})
}
