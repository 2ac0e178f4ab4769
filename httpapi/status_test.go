package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// BoardHealth knows nothing but what the model has.
func (f *fake) BoardHealth(ctx context.Context, boards []leaderboard.Board, away bool) []leaderboard.BoardHealth {
	out := make([]leaderboard.BoardHealth, len(boards))
	for i, b := range boards {
		out[i] = leaderboard.BoardHealth{Board: b, Stale: away}
		if l, err := f.Current(ctx, b.Name); err == nil && len(l.Periods) > 0 {
			out[i].Period = l.Periods[0]
			out[i].Copy = &leaderboard.CopyHealth{Seq: l.Periods[0].LastSeq, Entries: 1}
		}
		if b.Rules.Derive != nil {
			lag := 1500 * time.Microsecond
			out[i].Lag = &lag
		}
	}
	return out
}

// Known knows all of them.
func (f *fake) Known(after string, limit int, want func(*leaderboard.Board) bool) []leaderboard.Board {
	boards, _ := f.Model.BoardsLabelled(context.Background(), nil, after, 1000)
	boards = slices.DeleteFunc(boards, func(b leaderboard.Board) bool { return !want(&b) })
	return boards[:min(limit, len(boards))]
}

// statusAnswer is what the tests look at.
type statusAnswer struct {
	Server serverJSON
	Boards []boardStatusJSON
	Next   string `json:"next_cursor"`
}

func (s *statusAnswer) names() string {
	var names []string
	for _, b := range s.Boards {
		names = append(names, b.Board)
	}
	return strings.Join(names, " ")
}

// TestStatus: all boards in pages, what callers have asked of late, and that it is an admin's.
func TestStatus(t *testing.T) {
	e := newEnv(t)
	e.board("a", leaderboard.Rules{Title: "A", Visibility: leaderboard.VisibilityPrivate})
	e.board("b", leaderboard.Rules{})
	e.put(adminKey, "/v1/boards/c", `{"derive":{"from":[{"board":"a"},{"board":"b"}]}}`).want(201)
	e.post(writeKey, "/v1/boards/a/scores", `{"entries":[{"member":"x","score":1},{"member":"y","score":2}]}`).want(200)
	e.post(writeKey, "/v1/scores", `{"entries":[{"board":"a","member":"x","score":1},{"board":"b","member":"y","score":2},{"board":"no","member":"y","score":2}]}`).want(200)
	e.delete(adminKey, "/v1/boards/b/members/y").want(200)
	for range 3 {
		e.get(readKey, "/v1/boards/a/top").want(200)
	}
	e.get(readKey, "/v1/boards/a/members/nobody").want(404)
	e.post(readKey, "/v1/boards/b/ranks", `{"members":["x"]}`).want(200)
	e.get(readKey, "/v1/rankings/top?boards=a,b").want(200)

	var first, second statusAnswer
	e.get(adminKey, "/v1/status?limit=2").want(200).decode(&first)
	e.get(adminKey, "/v1/status?limit=2&cursor="+first.Next).want(200).decode(&second)
	if got := first.names() + "|" + second.names(); got != "a b|c" || second.Next != "" {
		t.Fatalf("boards: %s, then %q", got, second.Next)
	}
	a := first.Boards[0]
	if a.DisplayName != "A" || a.Visibility != "private" || *a.Period != "all_time" || a.Entries != 2 || a.Seq != 2 || a.Stale || a.Copy.Seq != 2 || a.Derived != nil {
		t.Errorf("a: %+v", a)
	}
	if lag := second.Boards[0].Derived.LagMS; *lag != 1 {
		t.Errorf("lag of the derived board: %d ms", *lag)
	}
	if s := first.Server; s.Version != "v1" || s.MySQL != "ok" || s.Redis != "none" || s.Started == 0 {
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
	e.get(adminKey, "/v1/status?limit=101").wantProblem(400, wire.CodeMalformed)
	e.get(adminKey, "/v1/status?cursor=AQID").wantProblem(400, wire.CodeMalformed)
	e.get(writeKey, "/v1/status").wantProblem(403, wire.CodeForbidden)
}

// TestStatusOfSomeBoards: a key for some boards sees no other, though pages of others lie between.
func TestStatusOfSomeBoards(t *testing.T) {
	e := newEnv(t)
	for i := range 40 {
		e.board(fmt.Sprintf("other-%02d", i), leaderboard.Rules{})
	}
	for _, name := range []string{"mine-a", "pine-b", "mine-b", "zine"} {
		e.board(name, leaderboard.Rules{})
	}
	key := e.key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"mine-*", "pine-*"} })
	var got statusAnswer
	e.get(key, "/v1/status").want(200).decode(&got)
	if got.names() != "mine-a mine-b pine-b" {
		t.Errorf("boards: %s", got.names())
	}
	e.get(key, "/v1/status?limit=2").want(200).decode(&got)
	if got.names() != "mine-a mine-b" || got.Next == "" {
		t.Errorf("boards: %s", got.names())
	}
	cursor := got.Next
	got = statusAnswer{}
	e.get(key, "/v1/status?limit=2&cursor="+cursor).want(200).decode(&got)
	if got.names() != "pine-b" || got.Next != "" {
		t.Errorf("boards: %s", got.names())
	}
}

// TestStatusWithoutMySQL: what the server knows is told all the same, and that it may be old.
func TestStatusWithoutMySQL(t *testing.T) {
	e := newEnv(t)
	e.board("a", leaderboard.Rules{})
	e.board("b", leaderboard.Rules{})
	check := func() {
		t.Helper()
		var got statusAnswer
		e.get(adminKey, "/v1/status?limit=1").want(200).decode(&got)
		if got.names() != "a" || !got.Boards[0].Stale || got.Server.MySQL != "away" || got.Next == "" {
			t.Errorf("%+v", got)
		}
	}
	e.fake.fail["Boards"] = leaderboard.ErrUnavailable
	check() // whatever the last probe found
	delete(e.fake.fail, "Boards")
	e.fake.health = Health{Checks: map[string]error{"mysql": errors.New("away")}}
	check()
}

// TestRate: events count for ten whole seconds, and a slot that is used again forgets what was in it.
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
