package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"leaderboard/leaderboard"
)

// batchServer is a server with one board. It keeps the batches that come. Its answers are in answers; other requests are answered
// as applied, or as a replay if the key came before.
type batchServer struct {
	url     string
	answers map[int]http.HandlerFunc // by the number of the request, from 1

	mu    sync.Mutex
	keys  []string
	sizes []int
	body  []string
}

func newBatchServer(t *testing.T, answers map[int]http.HandlerFunc) *batchServer {
	t.Helper()
	s := &batchServer{answers: answers}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *batchServer) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"name":"b","created_time":"2026-11-20T11:00:00.000000Z"}`)
		return
	}
	content, err := io.ReadAll(r.Body)
	var body struct{ Entries []leaderboard.Submission }
	if err != nil || json.Unmarshal(content, &body) != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	again := slices.Contains(s.keys, r.Header.Get("Idempotency-Key"))
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	s.sizes = append(s.sizes, len(body.Entries))
	s.body = append(s.body, string(content))
	answer := s.answers[len(s.keys)]
	s.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	results := make([]map[string]any, len(body.Entries))
	for i, e := range body.Entries {
		results[i] = map[string]any{"member": e.Member, "status": "applied"}
	}
	receipt := map[string]any{"results": results, "seq": 7}
	if again {
		receipt["replayed"] = true
	}
	_ = json.NewEncoder(w).Encode(receipt)
}

// importTo runs an import of a file with n members.
func importTo(t *testing.T, s *batchServer, file string, args ...string) (status int, out, errOut string) {
	t.Helper()
	return runWith(t, nil, append([]string{"import", "b", file, "--url", s.url}, args...)...)
}

func membersFile(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("member,score\n")
	for i := range n {
		fmt.Fprintf(&b, "m%d,%d\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "members.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestImportInsists: while the server is busy or away, or its answer is lost, a batch is sent again with its idempotency key and
// the same body. Entries that any of these requests counted belong to this import, whichever request was answered.
func TestImportInsists(t *testing.T) {
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"results":[`)
	}
	s := newBatchServer(t, map[int]http.HandlerFunc{
		2: problemAnswer(503, `{"type":"/problems/outcome-unknown"}`), 3: hangUp, 4: cut, 5: problemAnswer(429, `{}`),
		6: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "a proxy", http.StatusBadGateway) },
	})
	status, out, errOut := importTo(t, s, membersFile(t, 25), "--batch", "10")
	if status != exitOK || !strings.Contains(out, "25 applied, 0 unchanged, 0 refused; members new on the board: 25") || strings.Count(errOut, "asking again in") < 4 {
		t.Fatalf("status %d, %q, %q", status, out, errOut)
	}
	if want := []int{10, 10, 10, 10, 10, 10, 10, 5}; !slices.Equal(s.sizes, want) {
		t.Errorf("sizes %v", s.sizes)
	}
	for i := 2; i < 7; i++ {
		if s.keys[i] != s.keys[1] || s.body[i] != s.body[1] {
			t.Errorf("request %d repeats another batch: %s %s", i+1, s.keys[i], s.body[i])
		}
	}
	if s.keys[0] == s.keys[1] || s.keys[1] == s.keys[7] || len(s.keys[0]) < 40 || len(s.keys[0]) > 128 {
		t.Errorf("keys %v", s.keys)
	}
}

// TestImportStopsAndGoesOn: an import that ends early leaves its progress. The next run begins with the batch that was not
// answered, with the same idempotency key. Entries of that batch that the first run counted belong to this import.
func TestImportStopsAndGoesOn(t *testing.T) {
	busy := problemAnswer(503, `{"title":"The server is busy"}`)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
		args   []string
	}{
		"busy for too long": {busy, "503: The server is busy", []string{"--retry-for", "0s"}},
		"forbidden":         {problemAnswer(403, `{"title":"The key does not allow this","detail":"created_time is for imports"}`), "created_time is for imports", nil},
		"other results":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"results":[],"seq":1}`) }, "0 results for 10 entries", nil},
		"not JSON":          {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `<html>`) }, "read the answer", nil},
		"an unknown status": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"results":[`+strings.Repeat(`{"status":"lost"},`, 9)+`{}],"seq":1}`)
		}, "line 12 with status lost", nil},
		"no leaderboard there": {func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }, "no answer of a leaderboard server", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBatchServer(t, map[int]http.HandlerFunc{2: c.answer})
			file := membersFile(t, 25)
			status, out, errOut := importTo(t, s, file, append([]string{"--batch", "10"}, c.args...)...)
			if status != exitFailed || out != "" || !strings.Contains(errOut, c.want) || !strings.Contains(errOut, "ahead of line 12 are dealt with") {
				t.Fatalf("status %d, %q, %q", status, out, errOut)
			}
			status, out, errOut = importTo(t, s, file)
			if status != exitOK || !strings.Contains(out, "25 applied, 0 unchanged, 0 refused;") || !strings.Contains(out, "15 of them by this run") {
				t.Fatalf("status %d, %q, %q", status, out, errOut)
			}
			if want := []int{10, 10, 10, 5}; !slices.Equal(s.sizes, want) || s.keys[1] != s.keys[2] || s.body[1] != s.body[2] {
				t.Errorf("sizes %v, keys %v", s.sizes, s.keys)
			}
		})
	}
}

// TestImportInterrupted: an interrupted import says at which line, and continues there, also from a pipe if it has a file for the
// progress.
func TestImportInterrupted(t *testing.T) {
	content, err := os.ReadFile(membersFile(t, 25))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := newBatchServer(t, map[int]http.HandlerFunc{2: func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}})
	args := []string{"leaderboard", "import", "b", "-", "--url", s.url, "--batch", "10", "--progress", filepath.Join(t.TempDir(), "progress")}
	runs := func(ctx context.Context, want int, says ...string) {
		t.Helper()
		var out, errOut strings.Builder
		status := run(ctx, args, stdio{bytes.NewReader(content), &out, &errOut}, func(string) string { return "" })
		for _, s := range says {
			if status != want || !strings.Contains(out.String()+errOut.String(), s) {
				t.Fatalf("status %d, %q, %q", status, &out, &errOut)
			}
		}
	}
	runs(ctx, exitFailed, "ahead of line 12 are dealt with", "interrupted")
	runs(t.Context(), exitOK, "25 applied, 0 unchanged, 0 refused; 15 of them by this run; members new on the board: 25")
	runs(t.Context(), exitOK, "nothing new: all 25 lines were applied by an earlier run")
	if want := []int{10, 10, 10, 5}; !slices.Equal(s.sizes, want) || s.keys[1] != s.keys[2] {
		t.Errorf("sizes %v, keys %v", s.sizes, s.keys)
	}
}

// TestImportBatchesAreBounded: batches stay below the size of a request that a server accepts, and the buffer of refused lines is
// bounded.
func TestImportBatchesAreBounded(t *testing.T) {
	s := newBatchServer(t, nil)
	var b strings.Builder
	b.WriteString("member,score,created_time")
	for i := range leaderboard.MaxTiebreakFields {
		fmt.Fprintf(&b, ",fields.f%s%d", strings.Repeat("x", 29), i)
	}
	member := strings.Repeat(`\`, 61)
	for i := range 1000 {
		fmt.Fprintf(&b, "\n\"%s%03d\",-9223372036854775808,2026-11-20T11:00:00.000001Z%s", member, i, strings.Repeat(",9223372036854775807", leaderboard.MaxTiebreakFields))
	}
	b.WriteString(strings.Repeat("\nbad", 2500))
	file := filepath.Join(t.TempDir(), "large.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errOut := importTo(t, s, file)
	if status != exitRefused || !strings.Contains(out, "1000 applied, 0 unchanged, 2500 refused") {
		t.Fatalf("status %d, %q, %q", status, out, errOut)
	}
	for i, body := range s.body {
		if len(body) > 1<<20 {
			t.Errorf("request %d has %d bytes", i, len(body))
		}
	}
	if len(s.sizes) != 2 || s.sizes[0] < 500 {
		t.Errorf("sizes %v", s.sizes)
	}
	report, err := os.ReadFile(file + ".refused")
	if err != nil || strings.Count(string(report), "\n") != 2501 || !strings.HasSuffix(string(report), "\n3501,malformed-line,\"has 1 fields, want 19\"\n") {
		t.Errorf("%.200s… %v", report, err)
	}
}
