package httpapi

import (
	"context"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// outdate makes the catalog keep the present state of a board until it is renewed.
func (e *env) outdate(name string) {
	e.T.Helper()
	ref, _, err := e.fake.Resolve(context.Background(), name, "", "")
	if err != nil {
		e.T.Fatal(err)
	}
	e.fake.Outdated = map[string]leaderboard.PeriodRef{name: ref}
}

// TestReadsFollowABoardCreatedAgain: another server has deleted the board and created it again: a state of the new board that the
// caller has seen is found.
func TestReadsFollowABoardCreatedAgain(t *testing.T) {
	for _, a := range []apitest.Ask{
		{Method: "GET", Path: "/v1/boards/classic/top?min_seq=1"},
		{Method: "GET", Path: "/v1/boards/classic/top"}, // the old period is gone
		{Method: "GET", Path: "/v1/boards/classic/top?window=day&min_seq=1"},
		{Method: "GET", Path: "/v1/boards/classic/members/5?min_seq=1"},
		{Method: "GET", Path: "/v1/boards/classic/members/5/around?min_seq=1"},
		{Method: "POST", Path: "/v1/boards/classic/ranks?min_seq=1", Body: `{"members":["5"]}`},
		{Method: "GET", Path: "/v1/boards/classic/scores/80/rank?min_seq=1"},
		{Method: "GET", Path: "/v1/boards/classic/distribution?min_seq=1"},
	} {
		e := newEnv(t)
		e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
		e.outdate("classic")
		if err := e.fake.Model.DeleteBoard(context.Background(), "classic"); err != nil {
			t.Fatal(err)
		}
		e.Board("classic", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}}, apitest.Classic()...)
		got := e.Do(a).Want(200)
		if e.fake.Renewed != 1 {
			t.Errorf("%s %s: the catalog was renewed %d times: %s", a.Method, a.Path, e.fake.Renewed, got.Body)
		}
	}
}

// TestReadsFindABoardCreatedElsewhere: another server has created a board whose name this one knew as no board's. A caller who has
// seen a state of it finds it; the names of other callers do not reach MySQL again.
func TestReadsFindABoardCreatedElsewhere(t *testing.T) {
	for path, want := range map[string]struct{ status, renewed int }{
		"/boards/classic/top?min_seq=1":                         {200, 1},
		"/boards/classic/members/5?min_seq=1":                   {200, 1},
		"/boards/classic/top":                                   {404, 0},
		"/boards/none/top?min_seq=1":                            {404, 1},
		"/boards/-none/top?min_seq=1":                           {404, 0},
		"/rankings/top?boards=classic&min_seq=classic:1":        {200, 1},
		"/rankings/top?boards=classic":                          {404, 0},
		"/rankings/top?boards=classic,none&min_seq=classic:1":   {404, 1},
		"/members/5/standings?boards=classic&min_seq=classic:1": {200, 1},
	} {
		e := newEnv(t)
		e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
		e.fake.Outdated = map[string]leaderboard.PeriodRef{"classic": {}, "none": {}}
		e.Get(apitest.NoKey, "/v1"+path).Want(want.status)
		if e.fake.Renewed != want.renewed {
			t.Errorf("%s: the catalog was renewed %d times, want %d", path, e.fake.Renewed, want.renewed)
		}
	}
}

// TestReadsAheadAreLookedUpOnce: an error that a new look-up does not change stays an error, and costs at most one look-up.
func TestReadsAheadAreLookedUpOnce(t *testing.T) {
	for path, want := range map[string]struct {
		code    string
		renewed int
	}{
		"/top?min_seq=9":            {"seq-ahead", 1},
		"/top?window=day&min_seq=1": {"period-not-found", 1},
		"/top?window=day":           {"period-not-found", 0},
		"/top?min_seq=8":            {"", 0},
		"/members/nobody?min_seq=1": {"not-ranked", 0},
	} {
		e := newEnv(t)
		e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
		got := e.Get(apitest.NoKey, "/v1/boards/classic"+path)
		if want.code == "" {
			got.Want(200)
		} else {
			got.WantProblem(got.Status, want.code)
		}
		if e.fake.Renewed != want.renewed {
			t.Errorf("%s: renewed %d times, want %d", path, e.fake.Renewed, want.renewed)
		}
	}
}

// TestReadsOfABoardThatIsGone: a board that another server has deleted, or that cannot be looked up now.
func TestReadsOfABoardThatIsGone(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	e.outdate("classic")
	e.fake.Fails["Renew"] = leaderboard.ErrUnavailable
	e.Get(apitest.NoKey, "/v1/boards/classic/top?min_seq=9").WantProblem(409, "seq-ahead")
	delete(e.fake.Fails, "Renew")
	e.outdate("classic")
	if err := e.fake.Model.DeleteBoard(context.Background(), "classic"); err != nil {
		t.Fatal(err)
	}
	e.fake.Fails["Renew"] = leaderboard.ErrBoardNotFound
	e.Get(apitest.NoKey, "/v1/boards/classic/top").WantProblem(404, "board-not-found")
}
