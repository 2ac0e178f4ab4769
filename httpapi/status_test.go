package httpapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// namesOf returns the names of the boards of an answer.
func namesOf(s *api.Status) string {
	var names []string
	for _, b := range s.Boards {
		names = append(names, b.Board)
	}
	return strings.Join(names, " ")
}

// TestStatus: all boards in pages, and the recent load by callers; only admins may ask.
func TestStatus(t *testing.T) {
	e := newEnv(t)
	e.Board("a", leaderboard.Rules{Title: "A", Visibility: leaderboard.VisibilityPrivate})
	e.Board("b", leaderboard.Rules{})
	e.Put(apitest.AdminKey, "/v1/boards/c", `{"derive":{"from":[{"board":"a"},{"board":"b"}]}}`).Want(201)
	e.Post(apitest.WriteKey, "/v1/boards/a/scores", `{"entries":[{"member":"x","score":1},{"member":"y","score":2}]}`).Want(200)
	e.Post(apitest.WriteKey, "/v1/scores", `{"entries":[{"board":"a","member":"x","score":1},{"board":"b","member":"y","score":2},{"board":"no","member":"y","score":2}]}`).Want(200)
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/y").Want(200)
	for range 3 {
		e.Get(apitest.ReadKey, "/v1/boards/a/top").Want(200)
	}
	e.Get(apitest.ReadKey, "/v1/boards/a/members/nobody").Want(404)
	e.Post(apitest.ReadKey, "/v1/boards/b/ranks", `{"members":["x"]}`).Want(200)
	e.Get(apitest.ReadKey, "/v1/rankings/top?boards=a,b").Want(200)

	var first, second api.Status
	e.Get(apitest.AdminKey, "/v1/status?limit=2").Want(200).Decode(&first)
	e.Get(apitest.AdminKey, "/v1/status?limit=2&cursor="+first.NextCursor).Want(200).Decode(&second)
	if got := namesOf(&first) + "|" + namesOf(&second); got != "a b|c" || second.NextCursor != "" {
		t.Fatalf("boards: %s, then %q", got, second.NextCursor)
	}
	a := first.Boards[0]
	if a.DisplayName != "A" || a.Visibility != "private" || *a.Period != "all_time" || a.Entries != 2 || a.Seq != 2 || a.Stale || a.Copy.Seq != 2 || a.Derived != nil {
		t.Errorf("a: %+v", a)
	}
	if lag := second.Boards[0].Derived.LagMS; *lag != 1 {
		t.Errorf("lag of the derived board: %d ms", *lag)
	}
	if s := first.Server; s.Version != "v1" || s.MySQL != "ok" || s.Redis != "none" || s.StartedAt.IsZero() {
		t.Errorf("server: %+v", s)
	}
	later := time.Now().Add(2 * time.Second) // when this second is over
	traffic := &e.api.shared.traffic
	if reads, writes := traffic.reads.perSecond(later), traffic.writes.perSecond(later); reads != .5 || writes != .5 {
		t.Errorf("%v reads and %v writes a second", reads, writes)
	}
	if got := traffic.requests.events(later); got != 12 {
		t.Errorf("%d requests", got)
	}
	e.Get(apitest.AdminKey, "/v1/status?limit=101").WantProblem(400, wire.CodeMalformed)
	e.Get(apitest.AdminKey, "/v1/status?cursor=AQID").WantProblem(400, wire.CodeMalformed)
	e.Get(apitest.WriteKey, "/v1/status").WantProblem(403, wire.CodeForbidden)
}

// TestStatusOfSomeBoards: a key for some boards sees no other, though pages of others lie between.
func TestStatusOfSomeBoards(t *testing.T) {
	e := newEnv(t)
	for i := range 40 {
		e.Board(fmt.Sprintf("other-%02d", i), leaderboard.Rules{})
	}
	for _, name := range []string{"mine-a", "pine-b", "mine-b", "zine"} {
		e.Board(name, leaderboard.Rules{})
	}
	key := e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"mine-*", "pine-*"} })
	var got api.Status
	e.Get(key, "/v1/status").Want(200).Decode(&got)
	if namesOf(&got) != "mine-a mine-b pine-b" {
		t.Errorf("boards: %s", namesOf(&got))
	}
	e.Get(key, "/v1/status?limit=2").Want(200).Decode(&got)
	if namesOf(&got) != "mine-a mine-b" || got.NextCursor == "" {
		t.Errorf("boards: %s", namesOf(&got))
	}
	cursor := got.NextCursor
	got = api.Status{}
	e.Get(key, "/v1/status?limit=2&cursor="+cursor).Want(200).Decode(&got)
	if namesOf(&got) != "pine-b" || got.NextCursor != "" {
		t.Errorf("boards: %s", namesOf(&got))
	}
}

// TestStatusWithoutMySQL: without MySQL the server still shows its last knowledge, marked as possibly old.
func TestStatusWithoutMySQL(t *testing.T) {
	e := newEnv(t)
	e.Board("a", leaderboard.Rules{})
	e.Board("b", leaderboard.Rules{})
	check := func() {
		t.Helper()
		var got api.Status
		e.Get(apitest.AdminKey, "/v1/status?limit=1").Want(200).Decode(&got)
		if namesOf(&got) != "a" || !got.Boards[0].Stale || got.Server.MySQL != "away" || got.NextCursor == "" {
			t.Errorf("%+v", got)
		}
	}
	e.fake.Fails["Boards"] = leaderboard.ErrUnavailable
	check() // whatever the last probe found
	delete(e.fake.Fails, "Boards")
	e.fake.health = Health{Checks: map[string]error{"mysql": errors.New("away")}}
	check()
}

// TestRate: events count for ten whole seconds, and a reused slot forgets its old events.
func TestRate(t *testing.T) {
	var r rate
	at := func(second int64) time.Time { return time.Unix(1_700_000_000+second, 0) }
	for second := range int64(40) {
		r.add(at(second), int(second))
		r.add(at(second), 1)
	}
	want := uint64(0)
	for second := uint64(30); second < 40; second++ {
		want += second + 1
	}
	if got := r.events(at(40)); got != want {
		t.Errorf("%d events, want %d", got, want)
	}
	if got := r.events(at(45)); got != 36+37+38+39+40 {
		t.Errorf("%d events after five quiet seconds", got)
	}
}
