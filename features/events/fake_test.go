package events

import (
	"context"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// fake is the endpoints of the database, and their deliveries.
type fake struct {
	*apitest.Table[Endpoint]
	deliveries []Delivery // of each, newest first
	attempt    Attempt    // the result of a test
	replays    []Replay
}

func (f *fake) PutEndpoint(
	_ context.Context, name string, r EndpointRequest, _ Secret, may func(*Endpoint) error,
) (e Endpoint, created bool, err error) {
	if err := r.Check(name); err != nil {
		return e, false, err
	}
	if e, err = f.Get(name); err == nil {
		if err := may(&e); err != nil {
			return e, false, err
		}
	}
	e.Name, e.URL, e.Kinds, e.Boards, e.AllowPrivate, e.State = name, r.URL, r.Kinds, r.Boards, r.AllowPrivate, api.EndpointStateOff
	if r.Enabled {
		e.State = api.EndpointStateOn
	}
	return e, f.Put(name, e), nil
}

func (f *fake) Endpoint(_ context.Context, name string) (Endpoint, error) {
	return f.Get(name)
}

func (f *fake) Endpoints(context.Context) ([]Endpoint, error) {
	return f.List("", 1000), nil
}

func (f *fake) DeleteEndpoint(_ context.Context, name string, may func(*Endpoint) error) error {
	if _, err := f.Change(name, may); err != nil {
		return err
	}
	return f.Remove(name)
}

func (f *fake) RotateEndpoint(
	_ context.Context, name string, _ Secret, overlap time.Duration, may func(*Endpoint) error,
) (Endpoint, error) {
	return f.Change(name, func(e *Endpoint) error {
		e.PreviousUntil = leaderboard.MicrosOf(time.Now().Add(overlap))
		return may(e)
	})
}

func (f *fake) Recipient(_ context.Context, name string, may func(*Endpoint) error) (Recipient, error) {
	e, err := f.Change(name, may)
	return Recipient{Endpoint: e}, err
}

func (f *fake) Test(context.Context, *Recipient) (Attempt, time.Duration) {
	return f.attempt, 12 * time.Millisecond
}

func (f *fake) Deliveries(_ context.Context, q DeliveriesQuery) (out []Delivery, _ error) {
	for i := range f.deliveries {
		if d := f.deliveries[i]; (q.State == "" || d.State == q.State) && (q.Before == 0 || d.Seq < q.Before) && len(out) < q.Limit {
			out = append(out, d)
		}
	}
	return out, nil
}

func (f *fake) Replay(_ context.Context, r Replay, may func(*Endpoint) error) (int, error) {
	if _, err := f.Change(r.Endpoint, may); err != nil {
		return 0, err
	}
	f.replays = append(f.replays, r)
	n := 0
	for i := range f.deliveries {
		if d := &f.deliveries[i]; d.ID == r.Event || r.Event == "" && d.Time >= r.Since {
			n++
		}
	}
	if n == 0 && r.Event != "" {
		return 0, leaderboard.ErrEventNotFound
	}
	return n, nil
}
