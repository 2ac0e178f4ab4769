package derived

import (
	"context"
	"net/http"

	"leaderboard/api"
	"leaderboard/httpapi"
)

// Derivations compares derived boards with their sources.
type Derivations interface {
	// Derivation compares a derived board with the states of its sources. Errors: ErrBoardNotFound, ErrNotDerived.
	Derivation(ctx context.Context, board string) (api.Derivation, error)
}

// boundedStepper asks a Stepper, with the bound on questions that no copy answers.
type boundedStepper struct {
	stepper *Stepper
	alone   func(ctx context.Context, ask func(context.Context) error) error
}

// Derivation implements Derivations.
func (a boundedStepper) Derivation(ctx context.Context, board string) (d api.Derivation, err error) {
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
	shown := []api.Source{}
	for _, s := range d.Sources {
		if h.MayReadSource(c, ref.Board, s.Board) {
			shown = append(shown, s)
		} else if d.State == api.DerivationStateFollowing {
			d.Lag = max(0, d.Lag-max(0, s.LastSeq-s.Seq))
		}
	}
	d.Sources = shown
	return c.SendJSON(http.StatusOK, d)
}
