package streams

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/testenv"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// streamEnv is an API that is served, with a watch that the test moves.
type streamEnv struct {
	*apitest.Env
	of      *handlers
	streams *httpapi.Streams
	url     string
	from    string // where clients are, by a proxy's word; "": on this machine

	mu      sync.Mutex
	changed chan struct{}
}

func newStreamEnv(t *testing.T, change ...func(*httpapi.Config)) *streamEnv {
	return newNoticeEnv(t, 4096, nil, change...)
}

// newNoticeEnv is newStreamEnv with a number of streams at once, and notices.
func newNoticeEnv(t *testing.T, most int, from Notices, change ...func(*httpapi.Config)) *streamEnv {
	e := &streamEnv{changed: make(chan struct{}), streams: httpapi.NewStreams(most)}
	routes := func(f *apitest.Fake) []httpapi.Route {
		f.OnChanged = func(ctx context.Context) error {
			e.mu.Lock()
			changed := e.changed
			e.mu.Unlock()
			select {
			case <-changed:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		on := &features.Engine{
			Catalog: f, Rankings: f, Feed: f, Streams: e.streams, API: func() *httpapi.API { return e.Handler.(*httpapi.API) }, Log: slog.New(slog.DiscardHandler),
		}
		if from != nil {
			features.Open([]features.Feature{{Open: func(*features.Engine) features.Opened { return features.Opened{Offers: []any{from}} }}}, on)
		}
		e.of = newHandlers(on)
		return e.of.routes()
	}
	shared := func(c *httpapi.Config) { c.Streams = e.streams }
	e.Env = featuretest.New(t, routes, append([]func(*httpapi.Config){shared}, change...)...)
	server := httptest.NewServer(e.Handler)
	t.Cleanup(server.Close)
	t.Cleanup(e.streams.End)
	e.url = server.URL
	return e
}

// now sets the clock.
func (e *streamEnv) now(at string) {
	e.T.Helper()
	v, err := time.Parse(time.RFC3339, at)
	if err != nil {
		e.T.Fatal(err)
	}
	e.Fake.SetNow(leaderboard.MicrosOf(v))
}

// submit changes a board, and the watch shows it.
func (e *streamEnv) submit(board, member string, score int64) {
	e.T.Helper()
	if _, err := e.Fake.Submit(e.T.Context(), leaderboard.SubmitRequest{Board: board, Entries: []leaderboard.Submission{{Member: member, Score: score}}}); err != nil {
		e.T.Fatal(err)
	}
	e.show()
}

func (e *streamEnv) show() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.changed)
	e.changed = make(chan struct{})
}

// sent is an event as a client reads it.
type sent struct{ id, event, data, retry, comment string }

// rows reads the answer in an event.
func (s sent) rows(t *testing.T) apitest.Rows {
	t.Helper()
	var out apitest.Rows
	if err := json.Unmarshal([]byte(s.data), &out); err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	return out
}

// open opens a stream and returns a function that waits for its next event; it is false at the end.
func (e *streamEnv) open(key, path string) func() (sent, bool) {
	e.T.Helper()
	ctx, cancel := context.WithTimeout(e.T.Context(), 30*time.Second)
	e.T.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+path, nil)
	if err != nil {
		e.T.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if e.from != "" {
		r.Header.Set("X-Forwarded-For", e.from)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		e.T.Fatal(err)
	}
	e.T.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Cache-Control") != "no-store" {
		body, _ := io.ReadAll(res.Body)
		e.T.Fatalf("%s: %d %v %s", path, res.StatusCode, res.Header, body)
	}
	in := bufio.NewScanner(res.Body)
	in.Buffer(nil, 1<<20)
	return func() (s sent, ok bool) {
		for in.Scan() {
			name, value, _ := strings.Cut(in.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case in.Text() == "":
				return s, true
			case name == "id":
				s.id = value
			case name == "event":
				s.event = value
			case name == "data":
				s.data = value
			case name == "retry":
				s.retry = value
			case name == "":
				s.comment = in.Text()
			}
		}
		return s, false
	}
}

// streamOfOne opens the stream of a member, m1, that is alone on a board, and reads the first event.
func streamOfOne(t *testing.T) (e *streamEnv, next func() (sent, bool)) {
	t.Helper()
	e = newStreamEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 1})
	next = e.open(apitest.NoKey, "/v1/boards/b/stream?member=m1")
	page(t, next, 1)
	return e, next
}

// page waits for a page with a number of entries.
func page(t *testing.T, next func() (sent, bool), entries int) sent {
	t.Helper()
	for {
		s, ok := next()
		if !ok {
			t.Fatal("the stream has ended")
		}
		if s.event == "page" && len(s.rows(t).Entries) == entries {
			return s
		}
	}
}

// TestStream: the answer of top comes at once and after each change, with the id of its state.
func TestStream(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 1})
	for _, path := range []string{"/v1/boards/b/stream", "/v1/boards/b/stream?mode=all&limit=2", "/v1/boards/b/stream?window=all_time"} {
		next := e.open(apitest.NoKey, path)
		first := page(t, next, 1)
		if first.id != "all_time.1" {
			t.Errorf("%s: id %s", path, first.id)
		}
		want := e.Get(apitest.NoKey, strings.Replace(path, "stream", "top", 1)).Want(200)
		if first.data != strings.TrimSpace(string(want.Body)) {
			t.Errorf("%s says\n%s\nand the route\n%s", path, first.data, want.Body)
		}
	}
	next := e.open(apitest.NoKey, "/v1/boards/b/stream")
	page(t, next, 1)
	e.submit("b", "m2", 2)
	s := page(t, next, 2)
	if got := s.rows(t); s.id != "all_time.2" || got.Entries[0].Member != "m2" || got.Seq != 2 {
		t.Errorf("%s: %+v", s.id, got)
	}
}

// TestStreamAround: with a member the answer is around's, and ends with the member.
func TestStreamAround(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	next := e.open(apitest.NoKey, "/v1/boards/b/stream?member=3&before=1&after=1")
	first := page(t, next, 3)
	want := e.Get(apitest.NoKey, "/v1/boards/b/members/3/around?before=1&after=1").Want(200)
	if first.data != strings.TrimSpace(string(want.Body)) {
		t.Errorf("the stream says\n%s\nand the route\n%s", first.data, want.Body)
	}
	if err := e.Fake.DeleteBoard(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	e.show()
	s, ok := next()
	if !ok || s.event != "gone" || !strings.Contains(s.data, "board-not-found") {
		t.Errorf("after the deletion: %+v, %t", s, ok)
	}
	if s, ok := next(); ok {
		t.Errorf("after the end: %+v", s)
	}
}

// TestStreamsShare: clients that ask for the same get the same bytes, made once; who leaves takes the broadcast along.
func TestStreamsShare(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 1})
	a, b := e.open(apitest.NoKey, "/v1/boards/b/stream?limit=5"), e.open(apitest.ReadKey, "/v1/boards/b/stream?limit=5")
	page(t, a, 1)
	page(t, b, 1)
	broadcasts := &e.of.broadcasts
	count := func() (feedCount, clients int) {
		broadcasts.mu.Lock()
		defer broadcasts.mu.Unlock()
		for _, f := range broadcasts.byKey {
			clients += int(f.clients.Load())
		}
		return len(broadcasts.byKey), clients
	}
	if n, clients := count(); n != 1 || clients != 2 {
		t.Errorf("%d broadcasts of %d clients, want 1 of 2", n, clients)
	}
	e.streams.End()
	for _, next := range []func() (sent, bool){a, b} {
		s, ok := next()
		if !ok || s.retry == "" {
			t.Errorf("at the end of the server: %+v, %t", s, ok)
		}
	}
	res, err := http.Get(e.url + "/v1/boards/b/stream")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a stream of a server that ends: %d", res.StatusCode)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if n, clients := count(); n == 0 && clients == 0 {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("%d broadcasts of %d clients are left", n, clients)
		}
	}
}

// TestStreamRejections: faults are reported before a stream begins.
func TestStreamRejections(t *testing.T) {
	t.Parallel()
	e := newNoticeEnv(t, 1, nil)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 1})
	e.Board("secret-board", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	for path, want := range map[string]int{
		"/v1/boards/b/stream?limit=101": 400, "/v1/boards/b/stream?limit=5&member=m1": 400, "/v1/boards/b/stream?before=1": 400,
		"/v1/boards/b/stream?member=m1&before=90&after=90": 400, "/v1/boards/none/stream": 404, "/v1/boards/none/stream?member=m1": 404,
		"/v1/boards/b/stream?window=day": 404, "/v1/boards/b/stream?cursor=x": 400,
	} {
		if r := e.Do(apitest.Ask{Method: "GET", Path: path, Off: true}); r.Status != want {
			t.Errorf("%s: %d %s, want %d", path, r.Status, r.Body, want)
		}
	}
	if r := e.Get(apitest.NoKey, "/v1/boards/secret-board/stream"); r.Status < 400 {
		t.Errorf("a private board without a key: %d", r.Status)
	}
	page(t, e.open(apitest.NoKey, "/v1/boards/b/stream"), 1)
	e.Get(apitest.NoKey, "/v1/boards/b/stream").WantProblem(503, wire.CodeOverloaded)
	e.Get(apitest.NoKey, "/v1/boards/b/top").Want(200)
}

// TestStreamEndsWithAccess: a stream ends within a second, with the reason, when its caller may no longer read the board.
func TestStreamEndsWithAccess(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 1})
	anyone, holder := e.open(apitest.NoKey, "/v1/boards/b/stream"), e.open(apitest.ReadKey, "/v1/boards/b/stream")
	page(t, anyone, 1)
	page(t, holder, 1)
	e.Board("b", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	if s, ok := anyone(); !ok || s.event != "gone" {
		t.Errorf("without a key: %+v, %t", s, ok)
	}
	e.submit("b", "m2", 2)
	page(t, holder, 2)
}

// attempts are quotas that count attempts, and refuse the fourth.
type attempts struct{ atomic.Int64 }

// Charge implements httpapi.Quotas.
func (*attempts) Charge(httpapi.Bearer, netip.Addr, leaderboard.Charge) leaderboard.Allowance {
	return leaderboard.Allowance{}
}

// Attempt implements httpapi.Quotas.
func (q *attempts) Attempt(netip.Addr) leaderboard.Allowance {
	return leaderboard.Allowance{Refused: q.Add(1) > 3, Wait: 20 * time.Second}
}

// Attempts implements httpapi.Quotas.
func (q *attempts) Attempts(netip.Addr) leaderboard.Allowance {
	return leaderboard.Allowance{Refused: q.Load() >= 3, Wait: 20 * time.Second}
}

// TestStreamEndsWithItsKey: a key that is no longer valid, or not for the board, has lost its streams within a second or
// two, however many there are, and whatever a neighbour at the same address tries meanwhile (promise G1).
func TestStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*leaderboard.HashedKey){
		"revoked":          func(k *leaderboard.HashedKey) { k.RevokedAt = 1 },
		"expired":          func(k *leaderboard.HashedKey) { k.ExpiresAt = 1 },
		"for other boards": func(k *leaderboard.HashedKey) { k.Boards = []string{"other"} },
		"made anew":        func(k *leaderboard.HashedKey) { k.Hash = leaderboard.HashKey("another") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &attempts{}
			e := newStreamEnv(t, func(c *httpapi.Config) { c.Quotas, c.Proxies = q, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
			e.from = "198.51.100.7"
			e.Board("b", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, leaderboard.Submission{Member: "m1", Score: 1})
			key := e.Key(leaderboard.ScopeRead, nil)
			id, _ := leaderboard.KeyIDIn(key)
			other := e.open(apitest.ReadKey, "/v1/boards/b/stream")
			page(t, other, 1)
			var streams []func() (sent, bool)
			for range 20 {
				streams = append(streams, e.open(key, "/v1/boards/b/stream"), e.open(key, "/v1/boards/b/stream?member=m1"))
			}
			for range 4 { // one more than allowed
				e.Get("guess", "/v1/boards/b/top")
			}
			for _, next := range streams {
				page(t, next, 1)
			}
			if _, err := e.Fake.Keyring.Change(id, func(k *leaderboard.HashedKey) error { change(k); return nil }); err != nil {
				t.Fatal(err)
			}
			for i, next := range streams { // a comment, which comes after 15 s, would be too late
				if s, ok := next(); !ok || s.event != "gone" {
					t.Fatalf("stream %d: %+v, %t", i, s, ok)
				}
			}
			e.submit("b", "m2", 2)
			page(t, other, 2)
			if n := q.Load(); n != 4 {
				t.Errorf("%d attempts were counted, want those of the neighbour, 4", n)
			}
		})
	}
}

// TestStreamStaysWhileNobodyCanTell: a stream continues while neither its key nor its board can be looked up.
func TestStreamStaysWhileNobodyCanTell(t *testing.T) {
	t.Parallel()
	for _, err := range []error{leaderboard.ErrUnavailable, &leaderboard.OverloadError{Wait: time.Second}} {
		e := newStreamEnv(t)
		e.Board("b", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, leaderboard.Submission{Member: "m1", Score: 1})
		key := e.Key(leaderboard.ScopeRead, nil)
		id, _ := leaderboard.KeyIDIn(key)
		next := e.open(key, "/v1/boards/b/stream")
		page(t, next, 1)
		e.Fake.Keyring.Mu.Lock()
		e.Fake.Keyring.Fails, e.Fake.Keyring.Found = err, 0
		e.Fake.Keyring.Mu.Unlock()
		dbtest.Eventually(t, "its key was looked at twice", func() bool {
			e.Fake.Keyring.Mu.Lock()
			defer e.Fake.Keyring.Mu.Unlock()
			return e.Fake.Keyring.Found >= 2
		})
		e.submit("b", "m2", 2)
		page(t, next, 2)
		e.Fake.Keyring.Mu.Lock()
		e.Fake.Keyring.Fails = nil
		e.Fake.Keyring.Mu.Unlock()
		if _, err := e.Fake.Keyring.Change(id, func(k *leaderboard.HashedKey) error { k.RevokedAt = 1; return nil }); err != nil {
			t.Fatal(err)
		}
		for s, ok := next(); s.event != "gone"; s, ok = next() {
			if !ok {
				t.Fatal("the stream has ended without a word")
			}
		}
	}
}

// TestStreamOfAHiddenMember: the reason for hiding a member is for admins, who see it elsewhere; the stream continues when
// the member is restored.
func TestStreamOfAHiddenMember(t *testing.T) {
	t.Parallel()
	e, next := streamOfOne(t)
	e.Put(apitest.AdminKey, "/v1/boards/b/members/m1/hidden", `{"reason":"aimbot"}`).Want(200)
	e.show()
	if s := page(t, next, 0); strings.Contains(s.data, "aimbot") {
		t.Errorf("got %+v", s)
	}
	if s := page(t, e.open(apitest.AdminKey, "/v1/boards/b/stream?member=m1"), 0); strings.Contains(s.data, "aimbot") {
		t.Errorf("who opens it while the member is hidden: %+v", s)
	}
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/m1/hidden?reason=sorry").Want(204)
	e.submit("b", "m1", 7)
	if s := page(t, next, 1); strings.Contains(s.data, "aimbot") {
		t.Errorf("got %+v", s)
	}
}

// TestSlowStream: a client that takes its time misses pages, but not the newest, and delays no other.
func TestSlowStream(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.Board("b", leaderboard.Rules{})
	slow, fast := e.open(apitest.NoKey, "/v1/boards/b/stream?limit=100"), e.open(apitest.NoKey, "/v1/boards/b/stream?limit=100")
	page(t, slow, 0)
	page(t, fast, 0)
	const changes = 5
	for i := 1; i <= changes; i++ {
		e.submit("b", fmt.Sprint("m", i), int64(i))
		page(t, fast, i)
	}
	page(t, slow, changes)
}

// stuckClient takes nothing until it is let go.
type stuckClient struct {
	*httptest.ResponseRecorder
	stuck chan<- struct{}
	free  <-chan struct{}
}

// Write implements http.ResponseWriter.
func (c stuckClient) Write(b []byte) (int, error) {
	select {
	case c.stuck <- struct{}{}:
	default:
	}
	<-c.free
	return c.ResponseRecorder.Write(b)
}

// TestStreamsCounted: sent pages, pages that a client missed, and open streams are counted.
func TestStreamsCounted(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.Board("b", leaderboard.Rules{})
	const path = "/v1/boards/b/stream?limit=100"
	fast := e.open(apitest.NoKey, path)
	page(t, fast, 0)
	stuck, free := make(chan struct{}, 1), make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	var slow sync.WaitGroup
	slow.Go(func() {
		e.Handler.ServeHTTP(stuckClient{httptest.NewRecorder(), stuck, free}, apitest.Ask{Method: http.MethodGet, Path: path}.Request().WithContext(ctx))
	})
	<-stuck
	const changes = 3
	for i := 1; i <= changes; i++ {
		e.submit("b", fmt.Sprint("m", i), int64(i))
		page(t, fast, i)
	}
	close(free)
	type stats struct {
		Open          int
		Sent, Skipped int64
	}
	counted := func(want stats) {
		t.Helper()
		count := func() stats { return stats{e.streams.Open(), e.of.sent.Load(), e.of.skipped.Load()} }
		for deadline := time.Now().Add(10 * time.Second); count() != want; runtime.Gosched() { // a page counts once it was taken
			if time.Now().After(deadline) {
				t.Fatalf("streams: %+v, want %+v", count(), want)
			}
		}
	}
	counted(stats{Open: 2, Sent: changes + 1 + 2, Skipped: changes - 1})
	leave()
	slow.Wait()
	counted(stats{Open: 1, Sent: changes + 1 + 2, Skipped: changes - 1})
}

// TestStreamsOfOneCaller: one caller cannot take all streams, unless callers cannot be distinguished.
func TestStreamsOfOneCaller(t *testing.T) {
	t.Parallel()
	e := newNoticeEnv(t, 16, nil)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 1})
	for range 2 {
		page(t, e.open(apitest.ReadKey, "/v1/boards/b/stream"), 1)
	}
	e.Get(apitest.ReadKey, "/v1/boards/b/stream").WantProblem(503, wire.CodeOverloaded)
	for range 3 {
		page(t, e.open(apitest.NoKey, "/v1/boards/b/stream"), 1)
	}
	page(t, e.open(apitest.WriteKey, "/v1/boards/b/stream"), 1)
}

// TestStreamOfAMemberGoesOn: removing the member does not end the stream: the page has no entries until it is ranked again.
func TestStreamOfAMemberGoesOn(t *testing.T) {
	t.Parallel()
	e, next := streamOfOne(t)
	if _, err := e.Fake.Remove(t.Context(), leaderboard.RemoveRequest{Board: "b", Member: "m1"}); err != nil {
		t.Fatal(err)
	}
	e.show()
	if got := page(t, next, 0).rows(t); got.Total != 0 || got.Seq != 2 {
		t.Errorf("after the removal: %+v", got)
	}
	e.submit("b", "m2", 2)
	if got := page(t, next, 0).rows(t); got.Total != 1 || got.Seq != 3 {
		t.Errorf("after another one's score: %+v", got)
	}
	e.submit("b", "m1", 3)
	page(t, next, 2)
}

// TestStreamOfANewcomer: a stream of a member that is not ranked yet is open, shows the state without it, and the member as
// soon as it is ranked. The same applies at the turn of a period, for open and for new streams.
func TestStreamOfANewcomer(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.now("2026-11-20T11:00:00Z")
	e.Board("daily", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}})
	const path = "/v1/boards/daily/stream?member=newbie&mode=all"
	next := e.open(apitest.NoKey, path)
	shows := func(next func() (sent, bool), entries int, id string, total, seq int64) {
		t.Helper()
		s := page(t, next, entries)
		for s.id != id {
			s = page(t, next, entries)
		}
		if got := s.rows(t); got.Total != total || got.Seq != seq || got.Period+fmt.Sprint(".", seq) != id {
			t.Errorf("%s: %+v, want %d of %d", s.id, got, entries, total)
		}
	}
	shows(next, 0, "2026-11-20.0", 0, 0)
	e.submit("daily", "other", 2)
	shows(next, 0, "2026-11-20.1", 1, 1)
	e.submit("daily", "newbie", 3)
	shows(next, 2, "2026-11-20.2", 2, 2)
	e.now("2026-11-21T00:00:00Z")
	shows(next, 0, "2026-11-21.0", 0, 0)
	shows(e.open(apitest.NoKey, path), 0, "2026-11-21.0", 0, 0)
	shows(e.open(apitest.NoKey, path+"&window=all_time"), 2, "all_time.2", 2, 2)
	e.submit("daily", "newbie", 1)
	shows(next, 1, "2026-11-21.1", 1, 1)
	e.Get(apitest.NoKey, "/v1/boards/daily/members/nobody/around").WantProblem(404, "not-ranked")
}

// TestStreamOfAStaleBoard: clients learn that their page is stale, and that it no longer is, though nothing has changed.
func TestStreamOfAStaleBoard(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 1})
	next := e.open(apitest.NoKey, "/v1/boards/b/stream")
	for _, stale := range []bool{false, true, false} {
		e.Fake.Mu.Lock()
		e.Fake.Stale = stale
		e.Fake.Mu.Unlock()
		e.show()
		for seen := !stale; seen != stale; {
			seen = page(t, next, 1).rows(t).Stale
		}
	}
}

// TestTurns: few clients are sent an event at once; many take it one after another, for at most three quarters of the time
// to the next one.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		clients int64
		key     broadcastKey
		want    time.Duration
	}{
		{1, broadcastKey{}, 0},
		{64, broadcastKey{}, 0},
		{1000, broadcastKey{}, 75 * time.Millisecond},
		{4096, broadcastKey{}, 150 * time.Millisecond},
		{4096, broadcastKey{member: "m"}, 4096 * 75 * time.Microsecond},
	} {
		f := &broadcast{key: c.key}
		f.clients.Store(c.clients)
		if got := f.turns(); got != c.want {
			t.Errorf("%d clients: %s, want %s", c.clients, got, c.want)
		}
	}
}

// TestExamples runs the line for a shell of /docs about streams.
func TestExamples(t *testing.T) {
	server := func(testing.TB) *apitest.Env {
		e := newStreamEnv(t)
		e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
		return e.Env
	}
	featuretest.Examples(t, newHandlers(&features.Engine{}).routes(), server, nil)
}

// TestStreamNumbers: wide numbers are strings when a client wants them so.
func TestStreamNumbers(t *testing.T) {
	t.Parallel()
	e := newStreamEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m1", Score: 9007199254740993})
	for query, want := range map[string]string{"?numbers=string": `"score":"9007199254740993"`, "": `"score":9007199254740993`} {
		if r := e.Get(apitest.ReadKey, "/v1/boards/b/stream"+query); !strings.Contains(string(r.Body), want) {
			t.Errorf("%s: %s", query, r.Body)
		}
	}
}
