package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

const adminKey = "e2e-admin-key"

// api asks one server through the public client, once for each request, since the tests look at the fate of that one request.
type api struct {
	*client.Client
	url  string
	idle func() // closes idle connections
}

func newAPI(t *testing.T, url string) *api {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 1024}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New(url, client.WithKey(adminKey), client.WithHTTPClient(&http.Client{Transport: transport}), client.WithTimeout(maxWait), client.WithMaxWait(0))
	if err != nil {
		t.Fatal(err)
	}
	return &api{c, url, transport.CloseIdleConnections}
}

// status returns the status of an answer; 0 when no answer came.
func status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return p.Status
	}
	return 0
}

// scored returns an entry of a submission.
func scored(member string, score int64) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Score: score}
}

// submit sends entries under an idempotency key. With "" it sends none, though the client would make one up: net/http
// itself sends a request with a key again when the connection is lost.
func (a *api) submit(ctx context.Context, board, key string, entries ...leaderboard.Submission) (client.Receipt, error) {
	request := client.SubmitRequest(board, entries, client.SubmitOptions{IdempotencyKey: key})
	if key == "" {
		request.Header = nil
	}
	var r client.Receipt
	answer, err := a.Do(ctx, request)
	if err == nil {
		err = answer.Decode(&r)
	}
	return r, err
}

// mustSubmit submits and returns the receipt.
func (a *api) mustSubmit(t *testing.T, board string, entries ...leaderboard.Submission) client.Receipt {
	t.Helper()
	r, err := a.submit(t.Context(), board, "", entries...)
	if err != nil {
		t.Fatalf("submit to %s: %s", board, err)
	}
	return r
}

// rebuild forces a full build and waits for its end.
func (a *api) rebuild(ctx context.Context, board string) (client.Run, error) {
	r, finished, err := a.Rebuild(ctx, board, client.RebuildOptions{Kind: leaderboard.RunKindFull, Wait: 30 * time.Second})
	if err == nil && !finished {
		err = fmt.Errorf("it is still under way: %+v", r)
	}
	return r, err
}

func (a *api) mustRebuild(t *testing.T, board string) client.Run {
	t.Helper()
	r, err := a.rebuild(t.Context(), board)
	if err == nil && r.State != "done" && r.State != "shared" {
		err = fmt.Errorf("its run is %+v", r)
	}
	if err != nil {
		t.Fatalf("rebuild %s: %s", board, err)
	}
	return r
}

// runs returns the runs of a board, newest first.
func (a *api) runs(ctx context.Context, board string) ([]client.Run, error) {
	var all []client.Run
	for r, err := range a.Runs(ctx, board) {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// verify compares a board's copy with MySQL. A missing copy is an error, like a difference.
func (a *api) verify(ctx context.Context, board string) (client.Verification, error) {
	v, err := a.Verify(ctx, board, client.VerifyQuery{})
	switch {
	case err != nil:
	case !v.Equal:
		err = fmt.Errorf("the copy differs: %+v", v)
	case v.Checked == 0:
		err = errNoCopy
	}
	return v, err
}

var errNoCopy = errors.New("there is no copy")

// top returns the best entries of a board.
func (a *api) top(ctx context.Context, board string, offset, limit int) (client.Page, error) {
	return a.Top(ctx, board, client.TopQuery{Offset: int64(offset), Limit: limit})
}

// entry is the part of an entry that the tests compare.
type entry struct {
	Rank   int64
	Member string
	Score  int64
}

func entriesOf(all []client.Entry) []entry {
	entries := make([]entry, len(all))
	for i := range all {
		entries[i] = entry{all[i].Rank, all[i].Member, all[i].Score}
	}
	return entries
}

// jsonEqual compares two documents apart from their spelling.
func jsonEqual(got []byte, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}
