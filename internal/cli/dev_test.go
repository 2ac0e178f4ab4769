package cli

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"leaderboard/internal/app"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// devRun is a `leaderboard dev` in this process.
type devRun struct {
	t        *testing.T
	out, err *apptest.Buffer
	cancel   context.CancelFunc
	done     chan int
}

func startDev(t *testing.T, env map[string]string, args ...string) *devRun {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d := &devRun{t: t, out: &apptest.Buffer{}, err: &apptest.Buffer{}, cancel: cancel, done: make(chan int, 1)}
	args = append([]string{"leaderboard", "dev", "--listen", "127.0.0.1:0"}, args...)
	go func() {
		d.done <- run(ctx, args, stdio{strings.NewReader(""), d.out, d.err}, func(name string) string { return env[name] })
	}()
	t.Cleanup(d.cancel)
	apptest.Eventually(t, func() string {
		select {
		case status := <-d.done:
			t.Fatalf("dev ended with status %d: %s", status, d.err)
		default:
		}
		if strings.Contains(d.out.String(), "Ctrl-C") {
			return ""
		}
		return "no welcome: " + d.err.String()
	})
	return d
}

// stop ends dev as Ctrl-C does.
func (d *devRun) stop() {
	d.t.Helper()
	d.cancel()
	if status := <-d.done; status != exitOK {
		d.t.Errorf("dev ended with status %d: %s", status, d.err)
	}
}

// find returns the first group of a pattern in the output of dev.
func (d *devRun) find(pattern string) string {
	d.t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(d.out.String())
	if found == nil {
		d.t.Fatalf("no %s in:\n%s", pattern, d.out)
	}
	return found[1]
}

// TestDev runs dev on its own private servers, twice in the same folder.
func TestDev(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d := startDev(t, nil, "--dir", dir, "--members", "1234")
	base, key := d.find(`up: (http://\S+)`), d.find(`Admin key: +(\S+)`)
	asker := &apptest.Server{T: t}
	if status, body := asker.Get(base + "/v1/boards/demo/top?limit=3"); status != 200 || !strings.Contains(string(body), `"total":1234`) {
		t.Errorf("top: %d %s", status, body)
	}
	playing := func() string {
		_, body := asker.Get(base + "/v1/boards/demo/distribution?window=day")
		return regexp.MustCompile(`"seq":\d+`).FindString(string(body))
	}
	before := playing()
	apptest.Eventually(t, func() string {
		if playing() != before {
			return ""
		}
		return "the demo player does not play: " + before
	})
	// The printed lines to try work unchanged.
	for _, path := range []string{d.find(`curl '(\S+/top\?\S+)'`), d.find(`curl '(\S+/around\S+)'`), d.find(`live: +(\S+)`), base + "/docs"} {
		if status, body := asker.Get(path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	status, out, errOut := runWith(t, nil, "submit", "--url", base, "--key", key, "demo", "you=4200")
	if status != exitOK {
		t.Errorf("submit: %s%s", out, errOut)
	}
	d.stop()
	if _, body := asker.Get(base + "/livez"); strings.Contains(string(body), "ok") {
		t.Error("dev still serves")
	}
	info, err := os.Stat(filepath.Join(dir, "admin-key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("admin key: %v, %v", info.Mode(), err)
	}

	// The data and the key stay, and the demo is not loaded again.
	again := startDev(t, nil, "--dir", dir, "--members", "99")
	if again.find(`Admin key: +(\S+)`) != key {
		t.Error("the key has changed")
	}
	if status, body := asker.Get(again.find(`up: (http://\S+)`) + "/v1/boards/demo/members/you"); status != 200 || !strings.Contains(string(body), `"total":1235`) {
		t.Errorf("you: %d %s", status, body)
	}
	again.stop()

	// The same data as if made with another schema: without a schema file, and with the name of another baseline in it.
	note := filepath.Join(dir, schemaFile)
	if err := os.Remove(note); err != nil {
		t.Fatal(err)
	}
	devRefuses(t, dir)
	if err := os.WriteFile(note, []byte(strings.Repeat("0", 64)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	devRefuses(t, dir)
}

// TestDevWithGivenServers: addresses and keys that are given are used, and given keys are not shown.
func TestDevWithGivenServers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	env := map[string]string{
		"LEADERBOARD_MYSQL_DSN": testenv.MySQL(t), "LEADERBOARD_REDIS_URL": testenv.Redis(t), "LEADERBOARD_KEYS": "admin:given-secret",
	}
	d := startDev(t, env, "--dir", dir, "--members", "50", "--quiet-demo")
	if strings.Contains(d.out.String()+d.err.String(), "given-secret") {
		t.Errorf("a given key is shown: %s", d.out)
	}
	if _, err := os.Stat(filepath.Join(dir, "mysql")); err == nil {
		t.Error("a private server was started though an address was given")
	}
	status, out, errOut := runWith(t, nil, "board", "list", "--url", d.find(`up: (http://\S+)`), "--key", "given-secret")
	if status != exitOK || !strings.Contains(out, "demo") {
		t.Errorf("%s%s", out, errOut)
	}
	d.stop()
}

func TestAdminKeyIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := adminKey(dir)
	if err != nil || len(first) < 20 {
		t.Fatalf("%q, %v", first, err)
	}
	if second, err := adminKey(dir); err != nil || second != first {
		t.Errorf("%q, %v", second, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "admin-key"), []byte("not a key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if third, err := adminKey(dir); err != nil || third == first || !app.VisibleASCII(third) {
		t.Errorf("a broken file gave %q, %v", third, err)
	}
}
