package httpapi

import (
	"testing"

	"leaderboard"
)

// TestFollowers: a follower is made and moved where the database has what comes after its cursor, and nowhere else.
func TestFollowers(t *testing.T) {
	e := newEnv(t)
	e.board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1}, leaderboard.Submission{Member: "b", Score: 2})
	e.board("other", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	lines, end := e.changes("/v1/boards/b/changes")
	const path = "/v1/boards/b/followers/shop"
	e.get(adminKey, path).wantProblem(404, "follower-not-found")
	e.delete(adminKey, path).wantProblem(404, "follower-not-found")
	e.get(writeKey, path).want(403)
	made := e.put(adminKey, path, `{"after":"`+lines[0].Cursor+`"}`).want(201)
	if got := made.header.Get("Location"); got != path {
		t.Errorf("Location %s", got)
	}
	var f followerJSON
	made.decode(&f)
	if f.Name != "shop" || f.Window != leaderboard.WindowAllTime || f.Period != "all_time" || f.Seq != 0 || f.Cursor != lines[0].Cursor || f.EndsAt-f.SeenAt != 24*3600_000_000 {
		t.Errorf("it is %+v", f) // seq 0: the two changes are one commit, of which it has the first
	}
	e.put(adminKey, path, `{"after":"`+end+`"}`).want(200).decode(&f)
	if f.Seq != 2 {
		t.Errorf("it moved to %+v", f)
	}
	_, foreign := e.changes("/v1/boards/other/changes")
	for _, body := range []string{`{"after":"` + foreign + `"}`, `{"after":""}`, `{}`, `{"after":"x"}`, `{"before":"x"}`} {
		e.put(adminKey, path, body).want(400)
	}
	e.put(adminKey, "/v1/boards/b/followers/SHOP", `{"after":"`+end+`"}`).want(400)
	e.put(adminKey, "/v1/boards/none/followers/shop", `{"after":"`+end+`"}`).wantProblem(404, "board-not-found")
	var list struct{ Followers []followerJSON }
	e.get(adminKey, "/v1/boards/b/followers").want(200).decode(&list)
	if len(list.Followers) != 1 || list.Followers[0] != f {
		t.Errorf("listed %+v", list)
	}
	e.delete(adminKey, path).want(204)
	e.submit("b", leaderboard.Submission{Member: "a", Score: 3})
	ref, _, err := e.fake.Resolve(t.Context(), "b", "", "")
	if err != nil {
		t.Fatal(err)
	}
	e.fake.PruneLog(ref.ID)
	e.put(adminKey, path, `{"after":"`+lines[0].Cursor+`"}`).wantProblem(410, "log-pruned")
	e.delete(adminKey, "/v1/boards/b").want(204)
	e.board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	e.put(adminKey, path, `{"after":"`+end+`"}`).wantProblem(410, "history-changed")
	e.get(adminKey, path).wantProblem(404, "follower-not-found")
}
