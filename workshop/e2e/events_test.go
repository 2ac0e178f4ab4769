package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/leaderboard"
)

// inbox is an endpoint of a test that takes events of boards.
type inbox struct {
	*apptest.Receiver
	t *testing.T
}

func newInbox(t *testing.T, answer func(r *http.Request, attempt int) int) *inbox {
	t.Helper()
	return &inbox{apptest.NewReceiver(t, answer), t}
}

// missing returns the boards without any event so far.
func (in *inbox) missing(boards []string) (out []string) {
	var taken strings.Builder
	for _, e := range in.Events() {
		if e.Taken {
			taken.WriteString(e.Body)
		}
	}
	for _, b := range boards {
		if !strings.Contains(taken.String(), `"board":"`+b+`"`) {
			out = append(out, b)
		}
	}
	return out
}

// subscribe makes an endpoint of a server.
func (in *inbox) subscribe(s *server, name string, kinds ...leaderboard.EventKind) {
	in.t.Helper()
	on := true
	in.Subscribe(func(url string) string {
		e, err := s.PutEndpoint(in.t.Context(), name, client.EndpointRequest{URL: url, Kinds: kinds, Enabled: &on, AllowPrivate: true})
		if err != nil {
			in.t.Fatal(err)
		}
		return e.Secret
	})
}

// TestKilledSenders kills servers at each named point of the way of events: before an event gets its deliveries and after,
// after an event was sent and after this was recorded. Others continue. No event is lost, and each has one id and one body
// in every attempt, with receivers that take all, fail each first attempt, answer late, or never (promise B9).
func TestKilledSenders(t *testing.T) {
	t.Parallel()
	onBoth(t, killSenders)
}

// newReceivers starts receivers of several kinds, by name.
func newReceivers(t *testing.T) map[string]*inbox {
	t.Helper()
	stop := make(chan struct{})
	wait := func(r *http.Request, d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-stop:
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	receivers := map[string]*inbox{
		"takes": newInbox(t, func(*http.Request, int) int { return http.StatusNoContent }),
		"fails": newInbox(t, func(_ *http.Request, attempt int) int {
			if attempt == 1 {
				return http.StatusServiceUnavailable
			}
			return http.StatusNoContent
		}),
		"late":  newInbox(t, func(r *http.Request, _ int) int { wait(r, 200*time.Millisecond); return http.StatusNoContent }),
		"hangs": newInbox(t, func(r *http.Request, _ int) int { wait(r, time.Hour); return 0 }),
	}
	t.Cleanup(func() { close(stop) }) // before the receivers are closed
	return receivers
}

func killSenders(t *testing.T, w *world) {
	t.Helper()
	receivers := newReceivers(t)
	first := w.serve(t, "first", "--allow-private-addresses")
	for name, in := range receivers {
		in.subscribe(first, name, leaderboard.EventKindBoardChanged)
	}
	first.kill9(t)
	var boards []string
	for i, point := range []string{"events-spread", "events-spread-done", "events-sent", "events-settled"} {
		dies := start(t, "dies at "+point, w.environment(), "serve", "--allow-private-addresses", "--fault", "kill:"+point)
		serves := func() bool { return strings.Contains(dies.err.text(), `"msg":"serving"`) }
		eventually(t, dies.name+" serves, or has died of the events before it", func() error {
			select {
			case <-dies.exited:
			default:
				if !serves() {
					return errors.New("it does neither")
				}
			}
			return nil
		})
		for j := 0; j < 3 && serves(); j++ {
			board := fmt.Sprintf("board-%d-%d", i, j)
			if _, _, err := newAPI(t, dies.err.awaitLog(t, "serving", "addr")).PutBoard(t.Context(), board, leaderboard.Rules{}); err == nil {
				boards = append(boards, board)
			}
		}
		dies.awaitKilled(t)
	}
	last := w.serve(t, "last", "--allow-private-addresses")
	for j := range 3 {
		board := fmt.Sprint("board-last-", j)
		last.putBoard(t, board, leaderboard.Rules{})
		boards = append(boards, board)
	}
	for name, in := range receivers {
		if name == "hangs" {
			continue
		}
		eventually(t, "each event has come to "+name, func() error {
			if lost := in.missing(boards); len(lost) > 0 {
				return fmt.Errorf("no event tells of %v", lost)
			}
			return nil
		})
	}
	again := 0
	for _, in := range receivers {
		bodies := map[string]bool{}
		for _, e := range in.Events() {
			if e.Attempts > 1 {
				again++
			}
			board, _, _ := strings.Cut(e.Body[strings.Index(e.Body, `"board":"`):], ",")
			if bodies[board] {
				t.Errorf("two ids tell of %s", board)
			}
			bodies[board] = true
		}
	}
	if again == 0 {
		t.Error("nothing was sent more than once: the test tells nothing")
	}
	if e, err := last.GetEndpoint(t.Context(), "hangs"); err != nil || e.Waiting < int64(len(boards)) {
		t.Errorf("%+v, %v: want all %d events to wait for the one that takes none", e, err, len(boards))
	}
	if len(boards) < 4 {
		t.Errorf("only %v were created: the test tells nothing", boards)
	}
}

// TestKilledNotices kills servers at each named point of the way of notices: after the log of a board was read, and after
// the notices and the last place read were entered. Others continue. Each passed member gets a notice, under one id
// (promise B9).
func TestKilledNotices(t *testing.T) {
	t.Parallel()
	onBoth(t, killNoticers)
}

// pass lets a new member be passed on the board by another, and returns the beginning of the event's data.
func pass(t *testing.T, a *api, n int) string {
	t.Helper()
	passed, mover, score := fmt.Sprint("passed-", n), fmt.Sprint("mover-", n), int64(10*n)
	a.mustSubmit(t, "b", scored(passed, score+5), scored(mover, score), scored(mover, score+7))
	return `"data":{"member":"` + passed + `"`
}

func killNoticers(t *testing.T, w *world) {
	t.Helper()
	in := newInbox(t, nil)
	told := func(what string) (n int) {
		for _, e := range in.Events() {
			if strings.Contains(e.Body, what) {
				n++
			}
		}
		return n
	}
	first := w.serve(t, "first", "--allow-private-addresses")
	in.subscribe(first, "game", leaderboard.EventKindMemberPassed)
	first.putBoard(t, "b", leaderboard.Rules{Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop, Within: leaderboard.MaxNotifyWithin}})
	pairs, begun := 0, false
	eventually(t, "the log of the board is read", func() error {
		pairs++
		begun = begun || told(pass(t, first.api, pairs)) > 0 || told("member.passed") > 0
		if !begun {
			return errors.New("no event has come")
		}
		return nil
	})
	first.kill9(t)
	var want []string
	for _, point := range []string{"notices-read", "notices-entered"} {
		dies := start(t, "dies at "+point, w.environment(), "serve", "--allow-private-addresses", "--fault", "kill:"+point)
		a := newAPI(t, dies.err.awaitLog(t, "serving", "addr"))
		pairs++
		passed, mover, score := fmt.Sprint("passed-", pairs), fmt.Sprint("mover-", pairs), int64(10*pairs)
		if _, err := a.submit(t.Context(), "b", "", scored(passed, score+5), scored(mover, score), scored(mover, score+7)); err == nil {
			want = append(want, `"data":{"member":"`+passed+`"`)
		}
		dies.awaitKilled(t)
	}
	last := w.serve(t, "last", "--allow-private-addresses")
	pairs++
	want = append(want, pass(t, last.api, pairs))
	eventually(t, "each notice has come", func() error {
		for _, one := range want {
			if told(one) == 0 {
				return fmt.Errorf("none of %s", one)
			}
		}
		return nil
	})
	for _, one := range want {
		if n := told(one); n != 1 {
			t.Errorf("%d ids tell of %s", n, one)
		}
	}
	if len(want) < 2 {
		t.Errorf("only %v were passed: the test tells nothing", want)
	}
}

// TestStreamedNotices: a stream of a member through one server has each notice of that member and no others, while the
// server that finds them is killed (kill -9) and another takes over; without any endpoint (promise B9).
func TestStreamedNotices(t *testing.T) {
	t.Parallel()
	onBoth(t, streamNotices)
}

// hear watches a member through a server, and returns its notices so far.
func hear(t *testing.T, s *server, member string) (told func() []client.MemberPassed) {
	t.Helper()
	var mu sync.Mutex
	var all []client.MemberPassed
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	q := client.WatchQuery{Member: member, OnPassed: func(p client.MemberPassed) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, p)
	}}
	go func() {
		var last error
		for _, err := range s.Watch(ctx, "b", q) {
			last = err
		}
		ended <- last
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the stream of %s ended: %v", member, err)
		}
	})
	return func() []client.MemberPassed {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func streamNotices(t *testing.T, w *world) {
	t.Helper()
	first, second := w.serve(t, "first"), w.serve(t, "second")
	second.putBoard(t, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedTop}})
	second.mustSubmit(t, "b", scored("ada", 10), scored("bob", 1))
	told := map[string]func() []client.MemberPassed{"ada": hear(t, second, "ada"), "dan": hear(t, second, "dan")}
	// pass lets bob pass all others until one of them gets a notice.
	pass := func(what, member string) {
		t.Helper()
		eventually(t, what, func() error {
			second.mustSubmit(t, "b", scored("bob", 1))
			second.mustSubmit(t, "b", scored("bob", 40))
			if len(told[member]()) == 0 {
				return fmt.Errorf("%s is not told", member)
			}
			return nil
		})
	}
	pass("a server tells", "ada")
	first.kill9(t)
	second.mustSubmit(t, "b", scored("dan", 30))
	pass("another server tells after the first was killed", "dan")
	for member, score := range map[string]int64{"ada": 10, "dan": 30} {
		for _, p := range told[member]() {
			if p.Member != member || p.By != (client.PassedBy{Member: "bob", Score: 40, PreviousScore: 1}) || p.Score != score || p.Board != "b" {
				t.Errorf("the stream of %s has %+v", member, p)
			}
		}
	}
}
