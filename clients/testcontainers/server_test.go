package leaderboardtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// testImage is the image of the tests.
const testImage = "leaderboard:testcontainers"

// TestMain makes the image of the program that is here, by the last stage of the Dockerfile, and runs the tests.
func TestMain(m *testing.M) {
	if err := makeImage(); err != nil {
		fmt.Fprintln(os.Stderr, "make the image:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func makeImage() error {
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		return err
	}
	last := string(text[bytes.LastIndex(text, []byte("\nFROM "))+1:])
	last = strings.Replace(last, "COPY --from=build /out/leaderboard ", "COPY leaderboard ", 1)
	last = regexp.MustCompile(`(?m)^COPY --from=build /src/.*\n`).ReplaceAllString(last, "") // licenses
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(last), 0o644); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "leaderboard"), "./cmd/leaderboard")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	for _, cmd := range []*exec.Cmd{build, exec.Command("docker", "build", "--quiet", "--tag", testImage, dir)} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return nil
}

// running starts a server for a test.
func running(t *testing.T, opts ...Option) *Server {
	t.Helper()
	s, err := Run(t.Context(), append([]Option{WithImage(testImage)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Terminate(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask sends a request with the key and returns its answer's status, header and body.
func ask(t *testing.T, s *Server, method, path, body string) (*http.Response, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Key)
	r.Header.Set("Origin", "https://game.example")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := map[string]any{}
	if err := json.Unmarshal(content, &answer); err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s, %v", method, path, response.Status, content, err)
	}
	return response, answer
}

// TestRun: a server that is empty takes a board and a score with its key, and has the settings that it was given.
func TestRun(t *testing.T) {
	t.Parallel()
	s := running(t, WithSetting("cors-origins", "https://game.example"))
	if _, boards := ask(t, s, "GET", "/v1/boards", ""); len(boards["boards"].([]any)) != 0 {
		t.Errorf("a new server has %v", boards)
	}
	ask(t, s, "PUT", "/v1/boards/spring", "{}")
	ask(t, s, "POST", "/v1/boards/spring/scores", `{"entries":[{"member":"ada","score":7}]}`)
	response, entry := ask(t, s, "GET", "/v1/boards/spring/members/ada", "")
	if entry["score"] != 7.0 || entry["rank"] != 1.0 {
		t.Errorf("ada is %v", entry)
	}
	if origin := response.Header.Get("Access-Control-Allow-Origin"); origin != "https://game.example" {
		t.Errorf("the setting did not arrive: pages of %q may ask", origin)
	}
	if err := s.Terminate(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(s.URL); err == nil {
		t.Error("a server that was terminated answers")
	}
}

// TestRunDemo: two servers with the demo boards have the same members, with the same scores, and nobody plays on the first one while the
// second one starts.
func TestRunDemo(t *testing.T) {
	t.Parallel()
	first := running(t, WithDemo(100))
	seq, entries := demoOf(t, first)
	second := running(t, WithDemo(100))
	if later, _ := demoOf(t, first); later != seq {
		t.Errorf("seq went from %v to %v: somebody plays", seq, later)
	}
	if _, others := demoOf(t, second); len(entries) != 100 || !reflect.DeepEqual(entries, others) {
		t.Errorf("two servers differ:\n%v\n%v", entries, others)
	}
}

// demoOf returns the state of the board demo, and the rank, the member and the score of each entry.
func demoOf(t *testing.T, s *Server) (seq any, entries []any) {
	t.Helper()
	_, top := ask(t, s, "GET", "/v1/boards/demo/top?limit=100", "")
	for _, e := range top["entries"].([]any) {
		entry := e.(map[string]any)
		entries = append(entries, []any{entry["rank"], entry["member"], entry["score"]})
	}
	return top["seq"], entries
}

// TestRunFails: a failed start returns the reason, and leaves nothing.
func TestRunFails(t *testing.T) {
	t.Parallel()
	s, err := Run(t.Context(), WithImage(testImage), WithSetting("max-age", "soon"))
	if err == nil || !strings.Contains(err.Error(), "LEADERBOARD_MAX_AGE: want") {
		t.Errorf("%v, want what the program says", err)
	}
	if s != nil {
		t.Error("there is a server all the same")
	}
}
