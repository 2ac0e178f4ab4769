package derived

import (
	"context"
	"net/http"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
)

// Derivations compares derived boards with their sources.
type Derivations interface {
	// Derivation compares a derived board with the states of its sources. Errors: ErrBoardNotFound, ErrNotDerived.
	Derivation(ctx context.Context, board string) (leaderboard.Derivation, error)
}

// boundedStepper asks a Stepper, with the bound on questions that no copy answers.
type boundedStepper struct {
	stepper *Stepper
	alone   func(ctx context.Context, ask func(context.Context) error) error
}

// Derivation implements Derivations.
func (a boundedStepper) Derivation(ctx context.Context, board string) (d leaderboard.Derivation, err error) {
	err = a.alone(ctx, func(ctx context.Context) (err error) {
		d, err = a.stepper.Derivation(ctx, board)
		return err
	})
	return d, err
}

// handlers show the sources of derived boards.
type handlers struct {
	httpapi.Resolver
	derived Derivations
}

// Routes returns the route of the feature.
func Routes(find httpapi.Resolver, derived Derivations) []httpapi.Route {
	h := &handlers{find, derived}
	return []httpapi.Route{httpapi.On("getSources", h.sources)}
}

// sources answers GET …/sources: the states of its sources that a derived board reflects, for sources that the caller may read.
func (h *handlers) sources(c *httpapi.Call) error {
	ref, _, err := h.Resolve(c, "", "")
	if err != nil {
		return err
	}
	d, err := h.derived.Derivation(c.Ctx, ref.Board)
	if err != nil {
		return err
	}
	out := api.Derivation{Board: d.Board, Seq: d.Seq, AsOf: d.AsOf.Time(), State: d.State, Lag: d.Lag, Sources: []api.Source{}}
	for _, s := range d.Sources {
		if h.MayReadSource(c, ref.Board, s.Board) {
			out.Sources = append(out.Sources, api.Source(s))
		} else if d.State == leaderboard.DerivationStateFollowing {
			out.Lag = max(0, out.Lag-max(0, s.LastSeq-s.Seq))
		}
	}
	return c.SendJSON(http.StatusOK, out)
}
