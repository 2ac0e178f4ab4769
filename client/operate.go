package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// RebuildOptions select what to rebuild.
type RebuildOptions struct {
	Kind   leaderboard.RunKind // "": full
	Window leaderboard.Window  // "": the board's first
	Period string              // "": current
	Wait   time.Duration       // for the end of the run, up to 5 minutes; 0: do not wait
}

// Rebuild starts a run, or joins a requested run. finished reports whether the run is over; its State has the outcome. If the
// caller waited for a run that failed, Rebuild returns the run together with a *Problem, and does not try again. Needs scope
// admin.
func (c *Client) Rebuild(ctx context.Context, board string, o RebuildOptions) (run Run, finished bool, err error) {
	answer, err := c.Do(ctx, Request{
		Method: http.MethodPost, Path: Path("boards", board, "rebuild"), Query: api.Values(api.RebuildQuery{Wait: max(0, o.Wait)}), Timeout: o.Wait,
		Body: struct {
			Kind   leaderboard.RunKind `json:"kind,omitempty"`
			Window leaderboard.Window  `json:"window,omitempty"`
			Period string              `json:"period,omitempty"`
		}{o.Kind, o.Window, o.Period},
	})
	if failed, ok := errors.AsType[*Problem](err); ok && failed.Run != nil {
		return *failed.Run, true, err
	}
	if err != nil {
		return run, false, err
	}
	return run, answer.Status == http.StatusOK, answer.Decode(&run)
}

// Run returns one run. Errors: leaderboard.ErrRunNotFound. Needs scope admin.
func (c *Client) Run(ctx context.Context, id int64) (Run, error) {
	return get[Run](ctx, c, Path("runs", strconv.FormatInt(id, 10)), nil)
}

// Runs lists the runs of a board ("": of all boards), newest first. Needs scope admin.
func (c *Client) Runs(ctx context.Context, board string) iter.Seq2[Run, error] {
	return Items[Run](ctx, c, Path("runs"), api.Values(api.RunsQuery{Board: board}), "runs")
}

// VerifyQuery selects what to compare.
type VerifyQuery struct {
	Window leaderboard.Window
	Period string
	// Sources compares the entries of a derived board with its sources, instead of the Redis copy with MySQL.
	Sources bool
}

// verifyTimeout is the additional time for a comparison.
const verifyTimeout = 5 * time.Minute

// Verify compares the Redis copy of a period with MySQL at one seq. Needs scope admin.
func (c *Client) Verify(ctx context.Context, board string, q VerifyQuery) (Verification, error) {
	p := api.VerifyQuery{Window: q.Window, Period: q.Period}
	if q.Sources {
		p.Against = "sources"
	}
	return call[Verification](ctx, c, Request{
		Method: http.MethodGet, Path: Path("boards", board, "verify"), Query: api.Values(p), Timeout: verifyTimeout,
	})
}

// Live returns the answer of /livez: the process works.
func (c *Client) Live(ctx context.Context) (Health, error) {
	return get[Health](ctx, c, "/livez", nil)
}

// Ready reports whether the server should get requests. If not, the Health with its reasons comes with a *Problem of
// status 503. It is repeated like every request: to ask once, use a client with WithMaxWait(0).
func (c *Client) Ready(ctx context.Context) (Health, error) {
	h, err := get[Health](ctx, c, "/readyz", nil)
	if p, ok := errors.AsType[*Problem](err); ok && p.Answer != nil {
		_ = json.Unmarshal(p.Answer, &h) // the problem suffices when this is no leaderboard server
	}
	return h, err
}

// OpenAPI returns the document of the server's API, as JSON; /openapi.yaml has the same content.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	return c.bytes(ctx, "/openapi.json")
}

// Metrics returns the server's metrics in Prometheus' text format; a server with a listener for operations has them
// there.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	return c.bytes(ctx, "/metrics")
}

func (c *Client) bytes(ctx context.Context, path string) ([]byte, error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}
