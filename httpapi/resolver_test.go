package httpapi

import (
	"context"
	"testing"

	"leaderboard/leaderboard"
)

// outdate makes the catalog know a board as it is now, until it is renewed.
func (e *env) outdate(name string) {
	e.t.Helper()
	ref, _, err := e.fake.Resolve(context.Background(), name, "", "")
	if err != nil {
		e.t.Fatal(err)
	}
	e.fake.outdated = map[string]leaderboard.PeriodRef{name: ref}
}

// TestReadsFollowABoardCreatedAgain: another server has deleted the board and created it again: what the caller has
// seen of the new one is found.
func TestReadsFollowABoardCreatedAgain(t *testing.T) {
	for _, a := range []ask{
		{method: "GET", path: "/v1/boards/classic/top?min_seq=1"},
		{method: "GET", path: "/v1/boards/classic/top"}, // the old period is gone
		{method: "GET", path: "/v1/boards/classic/top?window=day&min_seq=1"},
		{method: "GET", path: "/v1/boards/classic/members/5?min_seq=1"},
		{method: "GET", path: "/v1/boards/classic/members/5/around?min_seq=1"},
		{method: "POST", path: "/v1/boards/classic/ranks?min_seq=1", body: `{"members":["5"]}`},
		{method: "GET", path: "/v1/boards/classic/scores/80/rank?min_seq=1"},
		{method: "GET", path: "/v1/boards/classic/distribution?min_seq=1"},
	} {
		e := newEnv(t)
		e.board("classic", leaderboard.Rules{}, classic()...)
		e.outdate("classic")
		if err := e.fake.Model.DeleteBoard(context.Background(), "classic"); err != nil {
			t.Fatal(err)
		}
		e.board("classic", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}}, classic()...)
		got := e.do(a).want(200)
		if e.fake.renewed != 1 {
			t.Errorf("%s %s: the catalog was renewed %d times: %s", a.method, a.path, e.fake.renewed, got.body)
		}
	}
}

// TestReadsAheadAreLookedUpOnce: what is an error for good stays one, and costs at most one look-up.
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
		e.board("classic", leaderboard.Rules{}, classic()...)
		got := e.get(noKey, "/v1/boards/classic"+path)
		if want.code == "" {
			got.want(200)
		} else {
			got.wantProblem(got.status, want.code)
		}
		if e.fake.renewed != want.renewed {
			t.Errorf("%s: renewed %d times, want %d", path, e.fake.renewed, want.renewed)
		}
	}
}

// TestReadsOfABoardThatIsGone: a board that another server has deleted, or that cannot be looked up now.
func TestReadsOfABoardThatIsGone(t *testing.T) {
	e := newEnv(t)
	e.board("classic", leaderboard.Rules{}, classic()...)
	e.outdate("classic")
	e.fake.fail["Renew"] = leaderboard.ErrUnavailable
	e.get(noKey, "/v1/boards/classic/top?min_seq=9").wantProblem(409, "seq-ahead")
	delete(e.fake.fail, "Renew")
	e.outdate("classic")
	if err := e.fake.Model.DeleteBoard(context.Background(), "classic"); err != nil {
		t.Fatal(err)
	}
	e.fake.fail["Renew"] = leaderboard.ErrBoardNotFound
	e.get(noKey, "/v1/boards/classic/top").wantProblem(404, "board-not-found")
}
