package main

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
)

func kinds() []devserver.Kind {
	return []devserver.Kind{devserver.KindMySQL, devserver.KindMariaDB, devserver.KindRedis}
}

// TestServersLiveAsLongAsTheCommand: the command sees addresses of running servers, and they end with it.
func TestServersLiveAsLongAsTheCommand(t *testing.T) {
	for _, kind := range kinds() {
		t.Setenv(testenv.Variable(kind), "")
	}
	var out, log bytes.Buffer
	if code := run([]string{"env"}, &out, &log); code != 0 {
		t.Fatalf("status %d: %s", code, log.String())
	}
	for _, kind := range kinds() {
		address := valueOf(out.String(), testenv.Variable(kind))
		host := strings.NewReplacer("root@tcp(", "", ")/", "", "redis://", "", "/0", "").Replace(address)
		if _, _, err := net.SplitHostPort(host); err != nil {
			t.Errorf("%s: no address in %q: %s", kind, address, err)
			continue
		}
		waitClosed(t, host)
	}
	if !strings.Contains(log.String(), "ready after") {
		t.Errorf("the log does not say what was started: %s", log.String())
	}
}

// valueOf reads the last assignment of a variable from the output of env.
func valueOf(env, name string) (value string) {
	for line := range strings.Lines(env) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			value = v
		}
	}
	return value
}

// waitClosed polls until no program listens at the address; a container's published
// port closes a moment after it.
func waitClosed(t *testing.T, address string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return
		}
		conn.Close()
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("a program still listens at %s", address)
		}
	}
}

func TestStatusIsTheCommands(t *testing.T) {
	for _, kind := range kinds() {
		t.Setenv(testenv.Variable(kind), "given "+string(kind))
	}
	for _, tt := range []struct {
		command []string
		code    int
		out     string
		log     string
	}{
		{[]string{"sh", "-c", "echo $" + testenv.RedisVariable}, 0, "given redis\n", "redis (given)"},
		{[]string{"sh", "-c", "exit 7"}, 7, "", ""},
		{[]string{"sh", "-c", "kill -9 $$"}, 1, "", "killed"},
		{[]string{"/nowhere/command"}, 1, "", "/nowhere/command"},
		{nil, 2, "", "usage"},
	} {
		var out, log bytes.Buffer
		if code := run(tt.command, &out, &log); code != tt.code || out.String() != tt.out || !strings.Contains(log.String(), tt.log) {
			t.Errorf("run(%q) = %d, %q, %q; want %d, %q, %q", tt.command, code, out.String(), log.String(), tt.code, tt.out, tt.log)
		}
	}
}

// TestCommandNeedsAllServers: when one server cannot be had the command is not run, and the others end.
func TestCommandNeedsAllServers(t *testing.T) {
	t.Setenv(testenv.MySQLVariable, "given mysql")
	t.Setenv(testenv.MariaDBVariable, "given mariadb")
	t.Setenv(testenv.RedisVariable, "")
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	echo, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	var out, log bytes.Buffer
	if code := run([]string{echo}, &out, &log); code != 1 || out.Len() > 0 {
		t.Errorf("status %d, output %q", code, out.String())
	}
	if !strings.Contains(log.String(), testenv.RedisVariable) {
		t.Errorf("the log does not say what to do: %s", log.String())
	}
}

// TestStayInMemory: temporary files go where there is room, unless a place is configured, and files of the go tool do not.
func TestStayInMemory(t *testing.T) {
	here := t.TempDir()
	disk := os.TempDir()
	for _, c := range []struct {
		name, set, dir string
		room           int64
		want, goWant   string
	}{
		{"room", "", here, 1, here, "/tmp"},
		{"no room", "", here, 1 << 62, "", ""},
		{"no such folder", "", here + "/nowhere", 1, "", ""},
		{"set", disk, here, 1, disk, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", c.set)
			t.Setenv("GOTMPDIR", "")
			stayInMemory(c.dir, c.room)
			if got, goGot := os.Getenv("TMPDIR"), os.Getenv("GOTMPDIR"); got != c.want || goGot != c.goWant {
				t.Errorf("TMPDIR %q and GOTMPDIR %q, want %q and %q", got, goGot, c.want, c.goWant)
			}
		})
	}
}
