package deploy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/devserver"
	"leaderboard/leaderboard"
)

// TestInstallations: behind the rules of nginx/installations.conf each board is on its own installation, and a board that
// moves by export, import and a line in the rules is the same to the entry.
func TestInstallations(t *testing.T) {
	var installations [2]*apptest.Dev
	var clients [2]*client.Client
	for i := range installations {
		d, err := apptest.StartDev("..", "--quiet-demo", "--members", "1")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Stop() })
		installations[i] = d
		if clients[i], err = client.New(d.URL, client.WithKey(d.Key)); err != nil {
			t.Fatal(err)
		}
	}
	proxy := startNginx(t, installations, nil)
	for i, board := range []string{"chess-blitz", "racing-lap"} {
		through, err := client.New(proxy, client.WithKey(installations[i].Key))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := through.PutBoard(t.Context(), board, leaderboard.Rules{}); err != nil {
			t.Fatal(err)
		}
		if _, err := through.Submit(t.Context(), board, []leaderboard.Submission{{Member: "ada", Score: int64(10 + i)}, {Member: "bob", Score: 3}}); err != nil {
			t.Fatal(err)
		}
		if page, err := clients[i].Top(t.Context(), board, client.TopQuery{}); err != nil || page.Total != 2 {
			t.Errorf("%s on its installation: %+v, %v", board, page, err)
		}
		if _, err := clients[1-i].Top(t.Context(), board, client.TopQuery{}); err == nil {
			t.Errorf("%s is on the other installation too", board)
		}
	}
	from, err := client.New(startNginx(t, installations, strings.NewReplacer(`# "~^(POST|PUT|PATCH|DELETE) /v1/boards/moving-board/"`, `"~^(POST|PUT|PATCH|DELETE) /v1/boards/chess-blitz/"`)), client.WithKey(installations[0].Key))
	if err != nil {
		t.Fatal(err)
	}
	move(t, clients[0], clients[1], from, "chess-blitz")
	before, err := clients[0].Top(t.Context(), "chess-blitz", client.TopQuery{ReadQuery: client.ReadQuery{MinSeq: 4}}) // ada, bob, cyd, and without bob
	if err != nil {
		t.Fatal(err)
	}
	proxy = startNginx(t, installations, strings.NewReplacer(`# "~^(/v1)?/boards/moved-board(/|$)"`, `"~^(/v1)?/boards/chess-blitz(/|$)"`))
	through, err := client.New(proxy, client.WithKey(installations[1].Key))
	if err != nil {
		t.Fatal(err)
	}
	after, err := through.Top(t.Context(), "chess-blitz", client.TopQuery{ReadQuery: client.ReadQuery{MinSeq: 4}}) // ada, bob, cyd, and without bob
	if err != nil || fmt.Sprint(after.Entries) != fmt.Sprint(before.Entries) {
		t.Errorf("moved: %+v, want %+v, %v", after, before, err)
	}
}

// move brings a board to another installation while it is written to: an export, the changes after it, then no more writes,
// as paused makes a proxy do.
func move(t *testing.T, from, to, paused *client.Client, board string) {
	t.Helper()
	ctx := t.Context()
	if _, _, err := to.PutBoard(ctx, board, leaderboard.Rules{Policy: leaderboard.PolicyLatest}); err != nil { // it takes any score
		t.Fatal(err)
	}
	export, err := from.Export(ctx, board, client.FormatJSONL, client.ExportQuery{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(member string, score int64, at time.Time) {
		created := leaderboard.MicrosOf(at)
		if _, err := to.Submit(ctx, board, []leaderboard.Submission{{Member: member, Score: score, CreatedTime: &created}}); err != nil {
			t.Fatal(err)
		}
	}
	for e, err := range export.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		put(e.Member, e.Score, e.CreatedTime)
	}
	if _, err := from.Submit(ctx, board, []leaderboard.Submission{{Member: "cyd", Score: 7}}); err != nil { // while it moves
		t.Fatal(err)
	}
	if _, err := from.RemoveMember(ctx, board, "bob", client.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err = paused.Submit(late, board, []leaderboard.Submission{{Member: "dan", Score: 9}})
	if problem, ok := errors.AsType[*client.Problem](err); err == nil || ok && problem.Status != http.StatusServiceUnavailable {
		t.Errorf("while the board moves: %v, want a 503 that is repeated", err)
	}
	for c, err := range from.Follow(ctx, board, client.ChangesQuery{After: export.Cursor, Once: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.After != nil {
			put(c.Member, c.After.Score, c.After.CreatedTime)
		} else if c.Member != "" {
			if _, err := to.RemoveMember(ctx, board, c.Member, client.RemoveOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := to.PatchBoard(ctx, board, map[string]any{"policy": "best"}, ""); err != nil {
		t.Fatal(err)
	}
}

// startNginx starts nginx with the rules of installations.conf, as change has them, in front of two installations.
func startNginx(t *testing.T, installations [2]*apptest.Dev, change *strings.Replacer) (address string) {
	t.Helper()
	rules, err := os.ReadFile("nginx/installations.conf")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = listener.Addr().String()
	listener.Close()
	dir, text := t.TempDir(), string(rules)
	for old, now := range map[string]string{
		"127.0.0.1:8081": strings.TrimPrefix(installations[0].URL, "http://"), "127.0.0.1:8082": strings.TrimPrefix(installations[1].URL, "http://"), "listen 8080": "listen " + address,
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("installations.conf does not name %s once", old)
		}
		text = strings.Replace(text, old, now, 1)
	}
	if change != nil {
		before := text
		if text = change.Replace(text); text == before {
			t.Fatal("the rules lack the line of a board that has moved")
		}
	}
	config := "daemon off; pid nginx.pid; error_log stderr; events {}\nhttp {\naccess_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;\n" + text + "}\n"
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := devserver.FindTool(t.Context(), "", "nginx", "nginx", t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := found.Command("-p", dir, "-c", "nginx.conf", "-e", "stderr")
	if err != nil {
		t.Fatal(err)
	}
	said := new(apptest.Buffer)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // it was interrupted
		if t.Failed() {
			t.Logf("nginx said:\n%s", said)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if response, err := http.Get("http://" + address + "/livez"); err == nil {
			response.Body.Close()
			return "http://" + address
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
