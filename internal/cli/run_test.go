package cli

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"leaderboard/internal/apptest"
)

// TestInterruptedStatus: Ctrl-C ends a command with 130, even while it waits to ask again; SIGTERM ends it with 143. Ctrl-C ends
// watch with 0.
func TestInterruptedStatus(t *testing.T) {
	t.Parallel()
	busy := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"title":"The server is busy","detail":"It has too much to do.","status":503}`))
	}
	hang := func(w http.ResponseWriter) {}
	stream := func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/event-stream") }
	for _, c := range []struct {
		line   string
		answer func(http.ResponseWriter)
		signal os.Signal
		status int
		says   string
	}{
		{"top b", hang, syscall.SIGINT, 130, "leaderboard: interrupted\n"},
		{"top b", hang, syscall.SIGTERM, 143, "leaderboard: interrupted\n"},
		{"submit b a=1", busy, syscall.SIGINT, 130, "the server answered 503: It has too much to do; asking again in 2"},
		{"watch b", stream, syscall.SIGINT, exitOK, ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			asked := make(chan bool, 1)
			url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
				if c.answer(w); r.Method == http.MethodGet {
					_ = http.NewResponseController(w).Flush()
					asked <- true
					<-r.Context().Done()
				}
			})
			ctx := t.Context()
			command := exec.CommandContext(ctx, "leaderboard", append(strings.Fields(c.line), "--url", url)...)
			said := &lines{seen: make(chan bool, 10)}
			command.Stderr = said
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-asked:
			case <-said.seen:
			case <-time.After(apptest.MaxWait):
				t.Error("nothing was asked")
			}
			if err := command.Process.Signal(c.signal); err != nil {
				t.Error(err)
			}
			_ = command.Wait()
			if got := command.ProcessState.ExitCode(); got != c.status || !strings.Contains(said.String(), c.says) {
				t.Errorf("status %d, want %d: %s", got, c.status, said)
			}
		})
	}
}

// lines holds the output of a command, and signals each write.
type lines struct {
	text bytes.Buffer
	seen chan bool
}

func (l *lines) String() string { return l.text.String() }

func (l *lines) Write(p []byte) (int, error) {
	select {
	case l.seen <- true:
	default:
	}
	return l.text.Write(p)
}
