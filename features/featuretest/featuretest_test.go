package featuretest

import (
	"net/http"
	"os"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/leaks"
	"leaderboard/leaderboard"
)

func TestMain(m *testing.M) { os.Exit(leaks.Main(m)) }

// TestNew: a feature's route and the engine's are asked alike, see the same boards, and let in the same callers.
func TestNew(t *testing.T) {
	e := New(t, func(f *apitest.Fake) []httpapi.Route {
		find := httpapi.Resolver{Catalog: f}
		title := api.Operation{Method: http.MethodGet, Path: "/v1/boards/{board}/title", Access: api.AccessReaders}
		return []httpapi.Route{{
			Pattern: httpapi.Pattern{Operation: title}, Handle: find.RetryOutdated(func(c *httpapi.Call) error {
				board, err := find.ResolveBoard(c)
				if err != nil {
					return err
				}
				return c.SendJSON(http.StatusOK, board.Rules.Title)
			}),
		}}
	})
	e.Board("game1-a", leaderboard.Rules{Title: "Golf", Visibility: leaderboard.VisibilityPrivate}, apitest.Classic()...)
	title := func(key string) apitest.Reply {
		return e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/game1-a/title", Key: key, Undocumented: true})
	}
	if got := string(title(apitest.ReadKey).Want(200).Body); got != `"Golf"` {
		t.Errorf("the title is %s", got)
	}
	other := e.Key(leaderboard.ScopeRead, func(k *leaderboard.Key) { k.Boards = []string{"game2-*"} })
	title(other).WantProblem(404, "board-not-found")
	if n := len(e.Get(apitest.ReadKey, "/v1/boards/game1-a/top").Rows().Entries); n != 8 {
		t.Errorf("the engine shows %d entries", n)
	}
	e.Fake.Fails["Resolve"] = leaderboard.ErrUnavailable
	title(apitest.ReadKey).WantProblem(503, "unavailable")
}
