package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/testenv"
)

// inbox is an endpoint of a test: it checks signatures, and keeps what came under each id.
type inbox struct {
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	secret []byte
	bodies map[string]string // by webhook-id: the first that came
	tries  map[string]int    // by webhook-id
	taken  map[string]bool   // ids that were answered with 2xx
	// answer decides what an attempt is answered with, 0: nothing at all; attempt is from 1, of this id.
	answer func(r *http.Request, attempt int) int
}

func newInbox(t *testing.T, answer func(r *http.Request, attempt int) int) *inbox {
	t.Helper()
	in := &inbox{t: t, bodies: map[string]string{}, tries: map[string]int{}, taken: map[string]bool{}, answer: answer}
	in.Server = httptest.NewServer(in)
	t.Cleanup(in.Close)
	return in
}

// ServeHTTP takes an event.
func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed
	}
	id := r.Header.Get("webhook-id")
	in.mu.Lock()
	mac := hmac.New(sha256.New, in.secret)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, r.Header.Get("webhook-timestamp"), body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("webhook-signature") != want {
		in.t.Errorf("event %s is not signed by the secret", id)
	}
	if in.tries[id]++; in.tries[id] == 1 {
		in.bodies[id] = string(body)
	} else if in.bodies[id] != string(body) {
		in.t.Errorf("event %s came with another body: %s, then %s", id, in.bodies[id], body)
	}
	attempt := in.tries[id]
	in.mu.Unlock()
	status := in.answer(r, attempt)
	if status == 0 {
		return
	}
	w.WriteHeader(status)
	if status == http.StatusNoContent {
		in.mu.Lock()
		in.taken[id] = true
		in.mu.Unlock()
	}
}

// missing returns which boards no event has told of that was taken.
func (in *inbox) missing(boards []string) (out []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	var told strings.Builder
	for id := range in.taken {
		told.WriteString(in.bodies[id])
	}
	for _, b := range boards {
		if !strings.Contains(told.String(), `"board":"`+b+`"`) {
			out = append(out, b)
		}
	}
	return out
}

// subscribe makes an endpoint of a server.
func (in *inbox) subscribe(s *server, name string) {
	in.t.Helper()
	on, kinds := true, []leaderboard.EventKind{leaderboard.EventKindBoardChanged}
	e, err := s.PutEndpoint(in.t.Context(), name, client.EndpointRequest{URL: in.URL, Kinds: kinds, Enabled: &on, AllowPrivate: true})
	if err != nil {
		in.t.Fatal(err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.secret, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(e.Secret, "whsec_")); err != nil {
		in.t.Fatal(err)
	}
}

// TestKilledSenders kills servers at each named point of the way of events: before an event gets its deliveries and after, after an
// event was sent and after that was noted. Others go on. No event is lost, and each has one id and one body in every attempt, with receivers that take
// all, fail each first attempt, answer late, or never (promise B9).
func TestKilledSenders(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldOn(t, dsn(t), "")
			w.killSenders(t)
		})
	}
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

func (w *world) killSenders(t *testing.T) {
	t.Helper()
	receivers := newReceivers(t)
	first := w.serve(t, "first", "--private-endpoints")
	for name, in := range receivers {
		in.subscribe(first, name)
	}
	first.kill9(t)
	var boards []string
	for i, point := range []string{"events-spread", "events-spread-done", "events-sent", "events-settled"} {
		dies := start(t, "dies at "+point, w.environment(), "serve", "--private-endpoints", "--fault", "kill:"+point)
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
	last := w.serve(t, "last", "--private-endpoints")
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
		in.mu.Lock()
		bodies := map[string]bool{}
		for id, body := range in.bodies {
			if in.tries[id] > 1 {
				again++
			}
			board, _, _ := strings.Cut(body[strings.Index(body, `"board":"`):], ",")
			if bodies[board] {
				t.Errorf("two ids tell of %s", board)
			}
			bodies[board] = true
		}
		in.mu.Unlock()
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
