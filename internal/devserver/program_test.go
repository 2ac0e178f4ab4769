package devserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	for _, tt := range []struct {
		out     string
		kind    Kind
		version string
	}{
		{"/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))\n", KindMySQL, "9.7.4-2"},
		{"/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)", KindMySQL, "8.0.36"},
		{"mysqld  Ver 10.11.6-MariaDB for Linux on x86_64 (MariaDB Server)", KindMariaDB, "10.11.6-MariaDB"},
		{"/srv/mariadb/bin/mysqld  Ver 8.4.3 for Linux on x86_64", KindMySQL, "8.4.3"},
		{"/redis server v=1/mysqld  Ver 8.4.3 for Linux", "", "/redis server v=1/mysqld  Ver 8.4.3 for Linux"},
		{"Redis server v=8.0.6 sha=00000000:0 malloc=jemalloc-5.3.1 bits=64 build=4ff5", KindRedis, "Redis 8.0.6"},
		{"Valkey server v=9.1.2 sha=00000000:0", KindRedis, "Valkey 9.1.2"},
		{"bash: mysqld: command not found", "", "bash: mysqld: command not found"},
		{"", "", ""},
	} {
		if kind, version := parseVersion(tt.out); kind != tt.kind || version != tt.version {
			t.Errorf("parseVersion(%q) = %q, %q; want %q, %q", tt.out, kind, version, tt.kind, tt.version)
		}
	}
}

// TestLookPathTellsMariaDBFromMySQL: a mysqld on PATH that is MariaDB is recognised.
func TestLookPathTellsMariaDBFromMySQL(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$0  Ver 11.4.2-MariaDB for Linux on x86_64 (MariaDB Server)\"\n"
	path := filepath.Join(dir, "mysqld")
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	p, err := lookPath(t.Context(), KindMariaDB)
	if err != nil || p.path != path || p.version != "11.4.2-MariaDB" {
		t.Errorf("lookPath(MariaDB) = %+v, %v", p, err)
	}
	// A real MySQL in one of the sbin folders is allowed to be found.
	if p, err := lookPath(t.Context(), KindMySQL); err == nil && p.path == path {
		t.Errorf("lookPath(MySQL) = %+v", p)
	} else if err != nil && !strings.Contains(err.Error(), "11.4.2-MariaDB") {
		t.Errorf("the error does not say what was found: %s", err)
	}
}

func TestSourcesList(t *testing.T) {
	debian := osRelease("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_CODENAME=bookworm\n")
	ubuntu := osRelease("ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n")
	mint := osRelease("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n")
	for name, tt := range map[string]struct {
		release map[string]string
		targets []string
		own     bool
		want    []string // ends of lines
	}{
		"debian": {debian, []string{
			"http://m.example/debian-security/ bookworm-security main",
			"http://m.example/debian/ bookworm main", "http://m.example/debian/ bookworm main",
			"http://m.example/debian/ bookworm-updates main",
			"https://vendor.example/apt/ bookworm main", "https://other.example/ nodistro main", "",
		}, false, []string{"http://m.example/debian/ sid main"}},
		"debian mirror elsewhere": {debian, []string{
			"http://m.example/some/path/ bookworm main", "http://m.example/some/path/ bookworm contrib",
		}, false, []string{"http://m.example/some/path/ sid main"}},
		"debian by suite": {osRelease("ID=debian\n"), []string{"http://m.example/debian testing main"}, false, []string{"http://m.example/debian sid main"}},
		"debian's own": {debian, []string{
			"http://m.example/debian-security/ bookworm-security main", "http://m.example/debian/ bookworm main",
		}, true, []string{"http://m.example/debian/ bookworm main"}},
		"ubuntu": {ubuntu, []string{
			"http://m.example/ubuntu/ noble main", "http://m.example/ubuntu/ noble universe", "http://m.example/ubuntu/ noble multiverse",
			"http://m.example/ubuntu/ noble-security main", "https://ppa.example/someone/ubuntu/ noble main",
		}, false, []string{
			"http://m.example/ubuntu/ noble main", "http://m.example/ubuntu/ noble universe", "http://m.example/ubuntu/ noble-security main",
		}},
		"derived from ubuntu": {mint, []string{
			"http://m.example/ubuntu/ noble-updates main", "http://mint.example/ wilma main",
		}, false, []string{"http://m.example/ubuntu/ noble-updates main"}},
		"nothing":           {debian, []string{"https://other.example/ nodistro main", "garbage"}, false, nil},
		"nothing on ubuntu": {ubuntu, nil, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sourcesList(tt.release, tt.targets, tt.own)
			if tt.want == nil {
				if err == nil {
					t.Fatalf("got %q, want an error", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(got), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("got\n%s\nwant %d lines", got, len(tt.want))
			}
			for _, want := range tt.want {
				found := false
				for _, line := range lines {
					found = found || strings.HasPrefix(line, "deb ") && strings.HasSuffix(line, " "+want)
				}
				if !found {
					t.Errorf("no line for %q in\n%s", want, got)
				}
			}
		})
	}
}
