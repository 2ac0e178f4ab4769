package streams

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// fakeNotices are events. A test may commit some of them late.
type fakeNotices struct {
	mu     sync.Mutex
	mark   int64
	events []leaderboard.Event
	asked  int
}

func (f *fakeNotices) pass(seq int64, board, member string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, leaderboard.Event{
		Seq: seq, ID: fmt.Sprint("evt_", seq), Kind: leaderboard.EventKindMemberPassed, Board: board, Data: fmt.Sprintf(`{"seq":%d}`, seq),
		Members: []leaderboard.EventMember{{Member: member}, {Member: "by", Detail: `{"score":2}`}},
	})
}

// settle moves the mark that the next look gets.
func (f *fakeNotices) settle(mark int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mark = mark
}

func (f *fakeNotices) EventsMark(context.Context, time.Duration) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mark, nil
}

func (f *fakeNotices) EventsAbove(_ context.Context, kind leaderboard.EventKind, mark int64, known func(int64) bool) (out []leaderboard.Event, next int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	for i := range f.events {
		if e := &f.events[i]; e.Kind == kind && e.Seq > mark && !known(e.Seq) {
			out = append(out, *e)
		}
	}
	return out, max(mark, f.mark), nil
}

func (f *fakeNotices) looks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// passedIn waits for the next notice of a stream.
func passedIn(t *testing.T, next func() (sent, bool)) sent {
	t.Helper()
	for {
		s, ok := next()
		if !ok {
			t.Fatal("the stream has ended")
		}
		if s.event == "passed" {
			return s
		}
	}
}

// TestStreamOfNotices: a stream that asks for notices has the notices of its member on its board, each once, including late
// commits, and begins with the notices of the last minute; no statement is sent while no stream asks.
func TestStreamOfNotices(t *testing.T) {
	t.Parallel()
	n := &fakeNotices{mark: 3}
	e := newNoticeEnv(t, 4096, n)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 1}, leaderboard.Submission{Member: "m2", Score: 2})
	plain := e.open(apitest.ReadKey, "/v1/boards/b/stream?member=m1")
	page(t, plain, 2)
	n.pass(2, "b", "m1") // long ago
	n.pass(7, "b", "m1")
	n.pass(8, "b", "m2")
	n.pass(9, "other", "m1")
	<-time.After(2 * noticesEvery)
	if n.looks() > 0 {
		t.Error("somebody looks for notices that nobody has asked for")
	}
	first := e.open(apitest.ReadKey, "/v1/boards/b/stream?member=m1&passed=true")
	if s := passedIn(t, first); s.id != "evt_7" || s.data != `{"member":"m1","by":{"member":"by","score":2},"seq":7}` {
		t.Errorf("got %+v", s)
	}
	n.pass(5, "b", "m1") // its commit was late
	if s := passedIn(t, first); s.id != "evt_5" {
		t.Errorf("got %+v", s)
	}
	n.settle(9)
	n.pass(10, "b", "m1")
	second := e.open(apitest.ReadKey, "/v1/boards/b/stream?member=m1&passed=true")
	got := []string{passedIn(t, second).id, passedIn(t, second).id, passedIn(t, second).id, passedIn(t, first).id}
	if want := []string{"evt_7", "evt_5", "evt_10", "evt_10"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestNoticesStop: the look for notices ends with the last stream that asks.
func TestNoticesStop(t *testing.T) {
	t.Parallel()
	n := &fakeNotices{}
	feed := notices{from: n, streams: httpapi.NewStreams(1)}
	defer feed.streams.End()
	key := noticeKey{"b", "m1"}
	for range 2 {
		n.pass(int64(n.looks())+1, "b", "m1")
		l, leave := feed.join(key)
		_, leaveToo := feed.join(noticeKey{"b", "m2"})
		<-l.come
		if got := feed.drain(l); len(got) == 0 {
			t.Error("nothing waits")
		}
		leave()
		leaveToo()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			feed.mu.Lock()
			reading := feed.reading
			feed.mu.Unlock()
			if !reading {
				break
			}
			if time.Now().After(end) {
				t.Fatal("the look for notices goes on")
			}
		}
	}
}

// Tokens of a player, 5, for all boards and for some.
const (
	token5     = "five.all.token"
	token5Some = "five.some.token"
)

// oneKey is the only key of the database.
type oneKey leaderboard.Key

func (k *oneKey) Find(_ context.Context, id string, _ leaderboard.KeyHash, _ time.Time) (*leaderboard.Key, error) {
	if id != k.ID {
		return nil, leaderboard.ErrKeyNotFound
	}
	return (*leaderboard.Key)(k), nil
}

// TestWhoHearsNotices: they are for keys that may read the board and for the member's own token, also on a public board.
func TestWhoHearsNotices(t *testing.T) {
	t.Parallel()
	id := leaderboard.NewKeyID()
	some, _ := leaderboard.NewKeySecret(id)
	e := newNoticeEnv(t, 4096, &fakeNotices{}, func(c *httpapi.Config) {
		c.Keyring = &oneKey{ID: id, Scope: leaderboard.ScopeAdmin, Boards: []string{"game1-*"}}
	})
	e.Fake.Players.Tokens[token5] = &leaderboard.Player{Member: "5", All: true, Via: "issuer:game", Owner: "p5"}
	e.Fake.Players.Tokens[token5Some] = &leaderboard.Player{Member: "5", Boards: []string{"game1-*"}, Via: "issuer:game", Owner: "p5"}
	private, players := leaderboard.VisibilityPrivate, &leaderboard.Players{Read: true, Submit: leaderboard.PlayersSubmitOwn}
	e.Board("open", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("private", leaderboard.Rules{Visibility: private}, apitest.Classic()...)
	e.Board("mine", leaderboard.Rules{Visibility: private, Players: players}, apitest.Classic()...)
	e.Board("game1-mine", leaderboard.Rules{Visibility: private, Players: players}, apitest.Classic()...)
	for _, c := range []struct {
		key, board, query string
		want              int
	}{
		{apitest.NoKey, "open", "member=5&passed=true", 401},
		{apitest.NoKey, "open", "member=5&passed=false", 200},
		{apitest.ReadKey, "open", "passed=true", 400},
		{apitest.ReadKey, "open", "member=5&passed=1", 400},
		{apitest.ReadKey, "open", "member=5&passed=true", 200},
		{apitest.ReadKey, "private", "member=5&passed=true", 200},
		{some, "open", "member=5&passed=true", 403},
		{some, "open", "member=5", 200},
		{some, "game1-mine", "member=5&passed=true", 200},
		{token5, "open", "member=5&passed=true", 200},
		{token5, "open", "member=4&passed=true", 403},
		{token5, "open", "member=4", 200},
		{token5, "private", "member=5&passed=true", 404},
		{token5, "mine", "member=5&passed=true", 200},
		{token5, "mine", "member=4&passed=true", 403},
		{token5, "mine", "member=4", 404},
		{token5, "mine", "", 404},
		{token5Some, "open", "member=5&passed=true", 403},
		{token5Some, "game1-mine", "member=5&passed=true", 200},
	} {
		path := "/v1/boards/" + c.board + "/stream?" + c.query
		if r := e.Do(apitest.Ask{Method: http.MethodHead, Path: path, Key: c.key, Off: true}); r.Status != c.want {
			t.Errorf("%s with %.8s: %d, want %d", path, c.key, r.Status, c.want)
		}
	}
	e.Get(apitest.NoKey, "/v1/boards/open/stream?member=5&passed=true").WantProblem(401, wire.CodeUnauthorized)
}
