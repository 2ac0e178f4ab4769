package transfer

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// fake is the fake behind the engine's routes, with exports, and with the data of a member.
type fake struct {
	*apitest.Fake
	exportAll exporting     // nil: of the model
	gate      chan struct{} // an export continues after each part when it receives; nil: at once

	profile string                     // of any member, as a feature shows it; "": none
	told    []leaderboard.MemberRecord // records of features about any member
}

type exporting func(ctx context.Context, ref leaderboard.PeriodRef, begin func(leaderboard.State) error, entries func([]leaderboard.Entry) error) error

// MemberData adds records of features to the model's.
func (f *fake) MemberData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) (err error) {
	if f.profile != "" {
		err = tell(leaderboard.MemberRecord{List: "profile", Record: jsontext.Value(f.profile)})
	}
	if err == nil {
		err = f.Model.MemberData(ctx, member, tell)
	}
	for _, r := range f.told {
		if err == nil {
			err = tell(r)
		}
	}
	return err
}

// Export gives the entries in parts of partSize, and fails after the first part if it is set to fail.
func (f *fake) Export(
	ctx context.Context, ref leaderboard.PeriodRef, metadata bool, begin func(leaderboard.State) error, entries func([]leaderboard.Entry, []string) error,
) error {
	if err := f.Enter("Export"); err != nil {
		return err
	}
	if f.exportAll != nil {
		return f.exportAll(ctx, ref, begin, func(part []leaderboard.Entry) error { return entries(part, nil) })
	}
	const partSize = 3
	page, err := f.Model.Page(ctx, ref, leaderboard.PageQuery{Limit: leaderboard.MaxLimit, Query: leaderboard.Query{Mode: leaderboard.ModeStrict, Metadata: metadata}})
	if err != nil {
		return err
	}
	if err := begin(page.State); err != nil {
		return err
	}
	for part := range slices.Chunk(page.Entries, partSize) {
		var out []leaderboard.Entry
		var bodies []string
		for _, e := range part {
			if out = append(out, e.Entry); metadata {
				bodies = append(bodies, e.Metadata)
			}
		}
		if err := entries(out, bodies); err != nil {
			return err
		}
		if err := f.Enter("Export part"); err != nil {
			return err
		}
		if f.gate != nil {
			select {
			case <-f.gate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// metadata is a Kept: the rule metadata keeps data with entries.
type metadata struct{}

func (metadata) Param() string { return "metadata" }

func (metadata) On(rules *leaderboard.Rules) bool { return rules.Metadata != nil }

func (metadata) Find(context.Context, *httpapi.Shown) (httpapi.Extra, error) { return nil, nil }

func (metadata) FindPast(_ context.Context, _ []leaderboard.PeriodRef, _ string, found []leaderboard.PastEntry) ([]leaderboard.PastEntry, httpapi.Extra, error) {
	return found, nil, nil
}

// env is an API with the routes of the feature.
type env struct {
	*apitest.Env
	fake     *fake
	handlers *handlers
}

func newEnv(t testing.TB, change ...func(*httpapi.Config)) *env {
	e := &env{}
	e.Env = featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		e.fake = &fake{Fake: f}
		e.handlers = newHandlers(httpapi.Resolver{Catalog: f}, e.fake, e.fake, 2)
		return e.handlers.routes()
	}, append(change, func(c *httpapi.Config) { c.Shows = []httpapi.Show{metadata{}} })...)
	return e
}

// lines returns the lines of an export.
func (e *env) lines(query string) []string {
	e.T.Helper()
	return slices.Collect(strings.Lines(string(e.Get(apitest.AdminKey, "/v1/boards/"+query).Want(200).Body)))
}

// opener serves the API on connections. Its result asks for a path, and returns when the header fields have come.
func (e *env) opener(header http.Header) func(key, path string) *http.Response {
	s := httptest.NewUnstartedServer(nil)
	s.Config, s.Listener = httpapi.Server("", e.Handler), httpapi.Listener(s.Listener, httpapi.ConnLimits{})
	s.Start()
	e.T.Cleanup(s.Close)
	return func(key, path string) *http.Response {
		e.T.Helper()
		r := apitest.Ask{Method: http.MethodGet, Path: path, Key: key, Header: header}.Request()
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", s.Listener.Addr().String()
		res, err := s.Client().Do(r)
		if err != nil {
			e.T.Fatal(err)
		}
		e.T.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
}

// statuses has the status of the last request.
type statuses struct {
	httpapi.Observer
	last atomic.Int64
}

// RequestAnswered implements httpapi.Observer.
func (s *statuses) RequestAnswered(r httpapi.RequestInfo) { s.last.Store(int64(r.Status)) }

// eventually polls until cond is true.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline, tick := time.NewTimer(30*time.Second), time.NewTicker(time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
