package devserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFetchRelease: programs of several releases are next to each other, each from its own suite's lists, and a present
// program is not fetched again.
func TestFetchRelease(t *testing.T) {
	calls := fakeApt(t)
	dir := t.TempDir()
	paths := map[string]bool{}
	for _, suite := range []string{"bookworm", "sid", "bookworm"} {
		r := Release{"debian", suite, "redis-server", "usr/bin/redis-server"}
		path, err := Fetch(t.Context(), dir, r, map[string]string{"debian": "http://mirror.example/debian/"}, t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		paths[path] = true
		if version, err := Version(t.Context(), path); err != nil || version != "Redis 9.9.9" {
			t.Errorf("version %q, %v", version, err)
		}
		sources, err := os.ReadFile(filepath.Join(dir, "apt-"+suite, "sources.list"))
		if err != nil || !strings.Contains(string(sources), "] http://mirror.example/debian/ "+suite+" main\n") {
			t.Errorf("sources of %s: %q, %v", suite, sources, err)
		}
	}
	if n := countLines(t, calls, "install"); len(paths) != 2 || n > 3 { // two, and the keys on a machine without them
		t.Errorf("%d downloads of %v, want one of each", n, paths)
	}
	r := Release{"debian", "sid", "redis-server", "usr/bin/other"}
	if path, err := Fetch(t.Context(), dir, r, nil, t.Logf); err == nil {
		t.Errorf("a program that the package does not hold was found at %s", path)
	}
}

// TestReleaseOfAnotherDistribution: the address of the other distribution's archive is required, and its packages are
// checked with that distribution's keys.
func TestReleaseOfAnotherDistribution(t *testing.T) {
	fakeApt(t)
	c := cache{dir: t.TempDir()}
	for _, distribution := range []string{"debian", "ubuntu"} {
		keys := map[string]string{"debian": debianKeys, "ubuntu": ubuntuKeys}[distribution]
		r := Release{distribution, "other", "mysql-server-core", "usr/sbin/mysqld"}
		sources, err := c.releaseSources(t.Context(), r, map[string]string{distribution: "http://m.example/"})
		if err != nil || !strings.Contains(sources, keys+"] http://m.example/ other main") {
			t.Errorf("sources of %s: %q, %v", distribution, sources, err)
		}
	}
	own, other := ownArchive(osRelease("ID=ubuntu\nVERSION_CODENAME=noble"), []string{
		"http://m.example/ubuntu/ noble main", "http://m.example/ubuntu/ noble-updates main", "http://third.example/ noble main",
	}), "debian"
	if own["ubuntu"] != "http://m.example/ubuntu/" || own[other] != "" {
		t.Errorf("archives of an Ubuntu: %v", own)
	}
	own = ownArchive(osRelease("ID=debian\nVERSION_CODENAME=bookworm"), []string{"http://m.example/debian/ bookworm main"})
	if own["debian"] != "http://m.example/debian/" || own["ubuntu"] != "" {
		t.Errorf("archives of a Debian: %v", own)
	}
	if own := ownArchive(osRelease("ID=ubuntu\nVERSION_CODENAME=noble"), nil); own["ubuntu"] != "" {
		t.Errorf("archives of an Ubuntu without sources: %v", own)
	}
	t.Setenv("PATH", t.TempDir()) // no apt-get
	if sources, err := c.releaseSources(t.Context(), Release{Distribution: "ubuntu"}, nil); err == nil {
		t.Errorf("without apt: %q", sources)
	}
}

// TestUnknownArchive: without an address the error names its distribution.
func TestUnknownArchive(t *testing.T) {
	fakeApt(t)
	for _, distribution := range []string{"debian", "ubuntu"} {
		if text, err := os.ReadFile("/etc/os-release"); err == nil && isUbuntu(osRelease(string(text))) == (distribution == "ubuntu") {
			continue // this machine's own is known
		}
		_, err := Fetch(t.Context(), t.TempDir(), Release{distribution, "x", "redis-server", "usr/bin/redis-server"}, nil, t.Logf)
		if err == nil || !strings.Contains(err.Error(), "archive of "+distribution+": say its address") {
			t.Errorf("fetch from an unknown archive: %v", err)
		}
	}
}
