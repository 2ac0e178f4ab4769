package httpapi

import (
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// held has a submission held on a board, which it makes when it is not there, and returns the id.
func (e *env) held(board string, sub leaderboard.Submission) string {
	e.t.Helper()
	most := int64(100)
	rules := leaderboard.Rules{Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}}
	if _, err := e.fake.Board(e.t.Context(), board); err != nil {
		e.board(board, rules)
	}
	e.submit(board, sub)
	var list struct{ Held []heldJSON }
	e.get(adminKey, "/v1/held?board="+board).want(200).decode(&list)
	if len(list.Held) == 0 {
		e.t.Fatal("nothing is held")
	}
	return list.Held[0].ID
}

// TestHeld: what is held is told as such, listed for admins, entered once or left out, and the other decision is refused (promise A7).
func TestHeld(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.held("b", leaderboard.Submission{Member: "a", Score: 101})
	r := string(e.post(writeKey, "/v1/boards/b/scores", `{"entries":[{"member":"a","score":7},{"member":"a","score":200}]}`).want(200).body)
	if !strings.Contains(r, `"status":"applied"`) || !strings.Contains(r, `"status":"held","score":7`) || !strings.Contains(r, `"type":"/problems/held-for-review"`) {
		t.Errorf("submitted: %s", r)
	}
	var list struct {
		Held []heldJSON
		Next string `json:"next_cursor"`
	}
	e.get(adminKey, "/v1/held?limit=1").want(200).decode(&list)
	if len(list.Held) != 1 || list.Next == "" || list.Held[0].Member != "a" || *list.Held[0].Score != 200 || list.Held[0].State != leaderboard.HeldStateWaiting || list.Held[0].DecidedTime != nil {
		t.Fatalf("listed: %+v", list)
	}
	second := list.Held[0].ID
	e.get(adminKey, "/v1/held?limit=1&cursor="+list.Next).want(200).decode(&list)
	if len(list.Held) != 1 || list.Held[0].ID != first {
		t.Errorf("listed then: %+v", list)
	}
	for _, query := range []string{"?state=held", "?limit=0", "?cursor=x", "?member="} {
		e.get(adminKey, "/v1/held"+query).want(400)
	}
	e.get(adminKey, "/v1/held?board=none").wantProblem(404, "board-not-found")
	e.get(writeKey, "/v1/held").want(403)
	for range 2 {
		var h heldJSON
		e.post(adminKey, "/v1/held/"+second+"/approve", `{"note":"seen"}`).want(200).decode(&h)
		if h.State != leaderboard.HeldStateApproved || h.Outcome != leaderboard.StatusApplied || h.Note != "seen" || h.DecidedTime == nil || h.DecidedBy == "" {
			t.Errorf("approved: %+v", h)
		}
	}
	e.post(adminKey, "/v1/held/"+second+"/reject", "").wantProblem(409, "held-decided")
	e.post(adminKey, "/v1/held/"+first+"/reject", `{"note":"`+strings.Repeat("x", 201)+`"}`).wantProblem(422, leaderboard.CodeInvalidDecision)
	e.post(adminKey, "/v1/held/"+first+"/reject", `{"notes":""}`).want(400)
	e.post(adminKey, "/v1/held/"+first+"/reject?reopen=true", "").want(400)
	e.post(writeKey, "/v1/held/"+first+"/reject", "").want(403)
	e.post(adminKey, "/v1/held/"+first+"/reject", "").want(200)
	for _, id := range []string{"0", "1", "x", "99999999999999999999"} {
		e.get(adminKey, "/v1/held/"+id).wantProblem(404, "held-not-found")
		e.post(adminKey, "/v1/held/"+id+"/approve", "").wantProblem(404, "held-not-found")
	}
	if top := string(e.get(readKey, "/v1/boards/b/top").want(200).body); !strings.Contains(top, `"score":200`) || strings.Contains(top, "101") {
		t.Errorf("top is %s", top)
	}
}

// TestHeldOfOtherBoards: a key for some boards sees and decides only what is held on those (promise A7).
func TestHeldOfOtherBoards(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	mine, other := e.held("game1-b", leaderboard.Submission{Member: "a", Score: 101}), e.held("game2-b", leaderboard.Submission{Member: "a", Score: 101})
	key := e.key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*"} })
	e.get(key, "/v1/held").want(403)
	e.get(key, "/v1/held?board=game2-b").want(403)
	e.get(key, "/v1/held?board=game1-b").want(200)
	e.get(key, "/v1/held/"+mine).want(200)
	for _, path := range []string{"/v1/held/" + other, "/v1/held/1"} {
		e.get(key, path).wantProblem(404, "held-not-found")
		e.post(key, path+"/approve", "").wantProblem(404, "held-not-found")
	}
	e.post(key, "/v1/held/"+mine+"/reject", "").want(200)
}
