package review

import (
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// newServer returns an API with the routes of the feature.
func newServer(t testing.TB) *apitest.Env {
	return featuretest.New(t, func(f *apitest.Fake) []httpapi.Route { return Routes(f, f) })
}

// hold has a submission held on a board, which it makes when it is not there, and returns the id.
func hold(e *apitest.Env, board string, sub leaderboard.Submission) string {
	e.T.Helper()
	most := int64(100)
	rules := leaderboard.Rules{Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}}
	if _, err := e.Fake.Board(e.T.Context(), board); err != nil {
		e.Board(board, rules)
	}
	if _, err := e.Fake.Submit(e.T.Context(), leaderboard.SubmitRequest{Board: board, Entries: []leaderboard.Submission{sub}}); err != nil {
		e.T.Fatal(err)
	}
	var list struct{ Held []api.Held }
	e.Get(apitest.AdminKey, "/v1/held?board="+board).Want(200).Decode(&list)
	if len(list.Held) == 0 {
		e.T.Fatal("nothing is held")
	}
	return list.Held[0].ID
}

// TestExamples runs the lines for a shell of /docs.
func TestExamples(t *testing.T) {
	about := func(e *apitest.Env, line string) string {
		return strings.Replace(line, "3690000000000000000", hold(e, "reviewed", leaderboard.Submission{Member: "1", Score: 500}), 1)
	}
	featuretest.Examples(t, Routes(nil, nil), newServer, map[string]func(*apitest.Env, string) string{"getHeld": about, "approveHeld": about, "rejectHeld": about})
}

// TestHeld: a held submission is reported as such, listed for admins, entered once or left out, and the other decision is
// refused (promise A7).
func TestHeld(t *testing.T) {
	t.Parallel()
	e := newServer(t)
	first := hold(e, "b", leaderboard.Submission{Member: "a", Score: 101})
	r := string(e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"a","score":7},{"member":"a","score":200}]}`).Want(200).Body)
	if !strings.Contains(r, `"status":"applied"`) || !strings.Contains(r, `"status":"held","score":7`) || !strings.Contains(r, `"type":"/problems/held-for-review"`) {
		t.Errorf("submitted: %s", r)
	}
	var list struct {
		Held []api.Held
		Next string `json:"next_cursor"`
	}
	e.Get(apitest.AdminKey, "/v1/held?limit=1").Want(200).Decode(&list)
	if len(list.Held) != 1 || list.Next == "" || list.Held[0].Member != "a" || *list.Held[0].Score != 200 || list.Held[0].State != leaderboard.HeldStateWaiting || list.Held[0].DecidedTime != nil {
		t.Fatalf("listed: %+v", list)
	}
	second := list.Held[0].ID
	e.Get(apitest.AdminKey, "/v1/held?limit=1&cursor="+list.Next).Want(200).Decode(&list)
	if len(list.Held) != 1 || list.Held[0].ID != first {
		t.Errorf("listed then: %+v", list)
	}
	for _, query := range []string{"?state=held", "?limit=0", "?cursor=x", "?member="} {
		e.Get(apitest.AdminKey, "/v1/held"+query).Want(400)
	}
	e.Get(apitest.AdminKey, "/v1/held?board=none").WantProblem(404, "board-not-found")
	e.Get(apitest.WriteKey, "/v1/held").Want(403)
	for range 2 {
		var h api.Held
		e.Post(apitest.AdminKey, "/v1/held/"+second+"/approve", `{"note":"seen"}`).Want(200).Decode(&h)
		if h.State != leaderboard.HeldStateApproved || h.Outcome != leaderboard.StatusApplied || h.Note != "seen" || h.DecidedTime == nil || h.DecidedBy == "" {
			t.Errorf("approved: %+v", h)
		}
	}
	e.Post(apitest.AdminKey, "/v1/held/"+second+"/reject", "").WantProblem(409, "held-decided")
	e.Post(apitest.AdminKey, "/v1/held/"+first+"/reject", `{"note":"`+strings.Repeat("x", 201)+`"}`).WantProblem(422, leaderboard.CodeInvalidDecision)
	e.Post(apitest.AdminKey, "/v1/held/"+first+"/reject", `{"notes":""}`).Want(400)
	e.Post(apitest.AdminKey, "/v1/held/"+first+"/reject?reopen=true", "").Want(400)
	e.Post(apitest.WriteKey, "/v1/held/"+first+"/reject", "").Want(403)
	e.Post(apitest.AdminKey, "/v1/held/"+first+"/reject", "").Want(200)
	for _, id := range []string{"0", "1", "x", "99999999999999999999"} {
		e.Get(apitest.AdminKey, "/v1/held/"+id).WantProblem(404, "held-not-found")
		e.Post(apitest.AdminKey, "/v1/held/"+id+"/approve", "").WantProblem(404, "held-not-found")
	}
	if top := string(e.Get(apitest.ReadKey, "/v1/boards/b/top").Want(200).Body); !strings.Contains(top, `"score":200`) || strings.Contains(top, "101") {
		t.Errorf("top is %s", top)
	}
}

// TestHeldOfOtherBoards: a key for some boards sees and decides only the held submissions on those boards (promise A7).
func TestHeldOfOtherBoards(t *testing.T) {
	t.Parallel()
	e := newServer(t)
	mine, other := hold(e, "game1-b", leaderboard.Submission{Member: "a", Score: 101}), hold(e, "game2-b", leaderboard.Submission{Member: "a", Score: 101})
	key := e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*"} })
	e.Get(key, "/v1/held").Want(403)
	e.Get(key, "/v1/held?board=game2-b").Want(403)
	e.Get(key, "/v1/held?board=game1-b").Want(200)
	e.Get(key, "/v1/held/"+mine).Want(200)
	for _, path := range []string{"/v1/held/" + other, "/v1/held/1"} {
		e.Get(key, path).WantProblem(404, "held-not-found")
		e.Post(key, path+"/approve", "").WantProblem(404, "held-not-found")
	}
	e.Post(key, "/v1/held/"+mine+"/reject", "").Want(200)
}
