package devserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTakenPortIsRecognised: a port that another process took between our choice and our start is recognised, so that launch
// tries another, and the server there is not mistaken for ours.
func TestTakenPortIsRecognised(t *testing.T) {
	for kind, start := range map[Kind]startFunc{KindMySQL: StartMySQL, KindMariaDB: StartMariaDB, KindRedis: StartRedis} {
		t.Run(string(kind), func(t *testing.T) {
			first := mustStart(t, start, testConfig(t))
			second := mustStart(t, start, testConfig(t))
			if err := second.Kill(); err != nil {
				t.Fatal(err)
			}
			second.run.port = first.run.port
			if err := second.Restart(t.Context()); !errors.Is(err, errForeign) {
				t.Errorf("start on a taken port: %v, want %v", err, errForeign)
			}
		})
	}
}

// TestDataFolderIsLocked: two servers never share a data folder; a third party learns why it waits.
func TestDataFolderIsLocked(t *testing.T) {
	cfg := testConfig(t)
	mustStart(t, StartRedis, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := StartRedis(ctx, cfg); !errors.Is(err, errInUse) {
		t.Errorf("second start in the same folder: %v, want %v", err, errInUse)
	}
}

// TestLockDiesWithTheServer: the lock of a server that was killed is free for the next server at once.
func TestLockDiesWithTheServer(t *testing.T) {
	cfg := testConfig(t)
	s := mustStart(t, StartRedis, cfg)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	mustStart(t, StartRedis, cfg)
}

// TestBrokenProgramGivesWay: when a program on PATH does not work, a fetched program is used, and when it fails too the
// error is about both.
func TestBrokenProgramGivesWay(t *testing.T) {
	calls := fakeApt(t)
	script := "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Redis server v=7.0.0 sha=0' && exit\necho confined >&2\nexit 1\n"
	broken := filepath.Join(filepath.Dir(calls), "redis-server")
	if err := os.WriteFile(broken, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := StartRedis(t.Context(), Config{Dir: t.TempDir(), Cache: t.TempDir()})
	if !errors.Is(err, ErrNoServer) {
		t.Fatalf("error %v, want %v", err, ErrNoServer)
	}
	if n := countLines(t, calls, "install"); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
	for _, part := range []string{broken, "confined", "programs/redis/usr/bin/redis-server"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not mention %q:\n%s", part, err)
		}
	}
}

func TestFreePortIsBelowTheKernelsOwn(t *testing.T) {
	for range 50 {
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		if port < firstPort || port >= lastPort {
			t.Fatalf("port %d", port)
		}
	}
}

// TestTemplateFailureLeavesNothing: a data folder that could not be made is not taken for a good one later.
func TestTemplateFailureLeavesNothing(t *testing.T) {
	c := cache{dir: t.TempDir()}
	dir := filepath.Join(t.TempDir(), "mysql")
	prog := program{kind: KindMySQL, path: "/nowhere/mysqld"}
	bad := errors.New("disk full")
	half := func(_ context.Context, _ program, dir string) error {
		return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "half"), nil, 0o644), bad)
	}
	if err := c.cloneTemplate(t.Context(), prog, dir, half); !errors.Is(err, bad) {
		t.Fatalf("error %v, want %v", err, bad)
	}
	full := func(_ context.Context, _ program, dir string) error {
		return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "whole"), nil, 0o644))
	}
	if err := c.cloneTemplate(t.Context(), prog, dir, full); err != nil {
		t.Fatal(err)
	}
	// The template is there now: no start initialises again.
	again := filepath.Join(t.TempDir(), "mysql")
	if err := c.cloneTemplate(t.Context(), prog, again, half); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, again} {
		files, err := os.ReadDir(d)
		if err != nil || len(files) != 1 || files[0].Name() != "whole" {
			t.Errorf("%s holds %v, %v; want the whole template", d, files, err)
		}
	}
}
