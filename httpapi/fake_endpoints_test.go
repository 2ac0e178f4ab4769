package httpapi

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"leaderboard/leaderboard"
)

// fakeEndpoints is the endpoints of the database, and their deliveries.
type fakeEndpoints struct {
	mu         sync.Mutex
	all        map[string]leaderboard.Endpoint
	deliveries []leaderboard.Delivery // of each, newest first
	attempt    leaderboard.Attempt    // what becomes of a test
	replays    []leaderboard.Replay
}

// change changes an endpoint that is there.
func (f *fakeEndpoints) change(name string, may func(*leaderboard.Endpoint) error, do func(*leaderboard.Endpoint)) (leaderboard.Endpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.all[name]
	if !ok {
		return e, leaderboard.ErrEndpointNotFound
	}
	if err := may(&e); err != nil {
		return e, err
	}
	do(&e)
	f.all[name] = e
	return e, nil
}

func (f *fakeEndpoints) PutEndpoint(
	_ context.Context, name string, r leaderboard.EndpointRequest, _ leaderboard.EndpointSecret, may func(*leaderboard.Endpoint) error,
) (leaderboard.Endpoint, bool, error) {
	if err := r.Check(name); err != nil {
		return leaderboard.Endpoint{}, false, err
	}
	f.mu.Lock()
	_, ok := f.all[name]
	if !ok {
		f.all[name] = leaderboard.Endpoint{Name: name}
		may = func(*leaderboard.Endpoint) error { return nil }
	}
	f.mu.Unlock()
	e, err := f.change(name, may, func(e *leaderboard.Endpoint) {
		e.URL, e.Kinds, e.Boards, e.AllowPrivate, e.State = r.URL, r.Kinds, r.Boards, r.AllowPrivate, leaderboard.EndpointStateOff
		if r.Enabled {
			e.State = leaderboard.EndpointStateOn
		}
	})
	return e, !ok, err
}

func (f *fakeEndpoints) Endpoint(_ context.Context, name string) (leaderboard.Endpoint, error) {
	return f.change(name, func(*leaderboard.Endpoint) error { return nil }, func(*leaderboard.Endpoint) {})
}

func (f *fakeEndpoints) Endpoints(context.Context) (out []leaderboard.Endpoint, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.all)) {
		out = append(out, f.all[name])
	}
	return out, nil
}

func (f *fakeEndpoints) DeleteEndpoint(_ context.Context, name string, may func(*leaderboard.Endpoint) error) error {
	if _, err := f.change(name, may, func(*leaderboard.Endpoint) {}); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, name)
	return nil
}

func (f *fakeEndpoints) RotateEndpoint(
	_ context.Context, name string, _ leaderboard.EndpointSecret, overlap time.Duration, may func(*leaderboard.Endpoint) error,
) (leaderboard.Endpoint, error) {
	return f.change(name, may, func(e *leaderboard.Endpoint) { e.PreviousUntil = leaderboard.MicrosOf(time.Now().Add(overlap)) })
}

func (f *fakeEndpoints) TestEndpoint(_ context.Context, name string, may func(*leaderboard.Endpoint) error) (leaderboard.Attempt, time.Duration, error) {
	_, err := f.change(name, may, func(*leaderboard.Endpoint) {})
	return f.attempt, 12 * time.Millisecond, err
}

func (f *fakeEndpoints) Deliveries(_ context.Context, q leaderboard.DeliveriesQuery) (out []leaderboard.Delivery, _ error) {
	for i := range f.deliveries {
		if d := f.deliveries[i]; (q.State == "" || d.State == q.State) && (q.Before == 0 || d.Seq < q.Before) && len(out) < q.Limit {
			out = append(out, d)
		}
	}
	return out, nil
}

func (f *fakeEndpoints) Replay(_ context.Context, r leaderboard.Replay, may func(*leaderboard.Endpoint) error) (int, error) {
	if _, err := f.change(r.Endpoint, may, func(*leaderboard.Endpoint) {}); err != nil {
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
