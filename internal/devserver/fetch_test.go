package devserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fakeApt puts an apt-get and a dpkg-deb on PATH that "fetch" a redis-server
// which only knows its version. Each apt-get adds a line to the returned file;
// while the file named broken exists in its folder, installs break off.
func fakeApt(t *testing.T) (calls string) {
	t.Helper()
	bin := t.TempDir()
	scripts := map[string]string{
		"apt-get": `#!/bin/sh
here=$(dirname "$0")
case "$*" in
indextargets*) echo "http://mirror.example/debian/ stable main"; exit ;;
*"Dir::Cache="*) ;;
*) echo "no private cache: $*" >&2; exit 1 ;;
esac
for o; do case $o in Dir::Cache=*) cache=${o#Dir::Cache=} ;; esac; done
case "$*" in
*update) echo update >>"$here/calls" ;;
*autoclean*) ;;
*install*)
	echo install >>"$here/calls"
	if [ -e "$here/broken" ]; then echo half >"$cache/archives/partial/half.deb"; echo "E: connection lost" >&2; exit 100; fi
	echo package >"$cache/archives/redis-server_1_all.deb" ;;
esac
`,
		"dpkg-deb": `#!/bin/sh
if [ -e "$(dirname "$0")/full" ]; then mkdir -p "$3/usr/bin"; echo half >"$3/usr/bin/half"; echo "no space" >&2; exit 2; fi
mkdir -p "$3/usr/bin" "$3/usr/share/doc/redis" "$3/usr/lib/x86_64-linux-gnu" "$3/usr/lib/aarch64-linux-gnu"
printf '#!/bin/sh\necho "Redis server v=9.9.9 sha=0"\n' >"$3/usr/bin/redis-server"
for l in x86_64-linux-gnu/ld-linux-x86-64.so.2 aarch64-linux-gnu/ld-linux-aarch64.so.1; do
	printf '#!/bin/sh\nshift 2\nexec /bin/sh "$@"\n' >"$3/usr/lib/$l"; chmod +x "$3/usr/lib/$l"
done
`,
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return filepath.Join(bin, "calls")
}

func countLines(t *testing.T, path, line string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(text), line+"\n")
}

// TestFetchOnce: many at once fetch once, and all get the same program.
func TestFetchOnce(t *testing.T) {
	calls := fakeApt(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c, err := openCache(dir)
			if err != nil {
				t.Error(err)
				return
			}
			p, err := c.fetcher(t.Logf)(t.Context(), KindRedis)
			if err != nil {
				t.Error(err)
				return
			}
			if p.version != "Redis 9.9.9" || !strings.HasPrefix(p.path, dir) {
				t.Errorf("fetched %+v", p)
			}
		})
	}
	wg.Wait()
	if n := countLines(t, calls, "install"); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
	if debs, _ := filepath.Glob(filepath.Join(dir, "apt/cache/archives/*.deb")); len(debs) != 0 {
		t.Errorf("packages stay behind: %v", debs)
	}
	if _, err := os.Stat(filepath.Join(dir, "programs/redis/usr/share/doc")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("documentation stays behind: %v", err)
	}
}

// TestBrokenFetchIsRetried: a download or an unpacking that broke off leaves no program behind, and the next call
// starts over.
func TestBrokenFetchIsRetried(t *testing.T) {
	for _, cause := range []struct{ file, message string }{{"broken", "connection lost"}, {"full", "no space"}} {
		t.Run(cause.file, func(t *testing.T) {
			calls := fakeApt(t)
			marker := filepath.Join(filepath.Dir(calls), cause.file)
			if err := os.WriteFile(marker, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			c := cache{dir: t.TempDir()}
			// As a process that was killed in the middle leaves it.
			half := filepath.Join(c.dir, "programs/redis.new/usr/bin")
			if err := os.MkdirAll(half, 0o755); err != nil {
				t.Fatal(err)
			}
			_, err := c.fetcher(t.Logf)(t.Context(), KindRedis)
			if err == nil || !strings.Contains(err.Error(), cause.message) {
				t.Fatalf("error %v, want one with %q", err, cause.message)
			}
			if left, _ := filepath.Glob(filepath.Join(c.dir, "programs/redis*/*")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if err := os.Remove(marker); err != nil {
				t.Fatal(err)
			}
			p, err := c.fetcher(t.Logf)(t.Context(), KindRedis)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(p.root, "usr/bin/half")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("half a package survived: %v", err)
			}
		})
	}
}

// TestPackageListsAreReused: package lists serve several kinds, and are read again when a download fails with them: the
// archive may have moved on.
func TestPackageListsAreReused(t *testing.T) {
	calls := fakeApt(t)
	c := cache{dir: t.TempDir()}
	for range 2 {
		if _, err := c.fetcher(t.Logf)(t.Context(), KindRedis); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(c.dir, "programs")); err != nil {
			t.Fatal(err)
		}
	}
	if n := countLines(t, calls, "update"); n != 1 {
		t.Errorf("lists were read %d times, want 1", n)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(calls), "broken"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.fetcher(t.Logf)(t.Context(), KindRedis); err == nil {
		t.Fatal("a broken download succeeded")
	}
	if n := countLines(t, calls, "update"); n != 2 {
		t.Errorf("lists were read %d times, want once more", n)
	}
}

// TestNoServerSaysWhatToDo: with no program, no archive and no address the error says what to do.
func TestNoServerSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := StartRedis(t.Context(), Config{Dir: t.TempDir(), Cache: t.TempDir()})
	if !errors.Is(err, ErrNoServer) {
		t.Fatalf("error %v, want %v", err, ErrNoServer)
	}
	for _, way := range []string{"docker compose up -d", "redis-server or valkey-server", "LEADERBOARD_REDIS_URL", "Debian and Ubuntu"} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("the error does not mention %q:\n%s", way, err)
		}
	}
}

// TestFetchWaitsNoLongerThanItsContext: waiting for another process's fetch ends with the context.
func TestFetchWaitsNoLongerThanItsContext(t *testing.T) {
	c := cache{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(c.dir, "programs"), 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := lockFile(t.Context(), filepath.Join(c.dir, "programs/redis.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.fetcher(t.Logf)(ctx, KindRedis); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
