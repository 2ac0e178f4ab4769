package devserver

import (
	"path/filepath"
	"strings"
	"testing"
)

// programPath returns where a fetched server program of a kind is.
func programPath(t *testing.T, kind Kind) string {
	t.Helper()
	c, err := openCache("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.fetcher(t.Logf)(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	return p.path
}

// TestGivenProgramIsStarted: the given program runs, with the libraries of its root, also in place of another kind of SQL
// server; then next to that kind, in the same folder.
func TestGivenProgramIsStarted(t *testing.T) {
	cfg := testConfig(t)
	cfg.Program = programPath(t, KindMariaDB)
	for name, start := range map[string]startFunc{"mysql": StartMySQL, "mariadb": StartMariaDB} {
		s := mustStart(t, start, cfg)
		if s.Kind != KindMariaDB || !strings.Contains(s.Version, "MariaDB") {
			t.Errorf("for %s %s %s was started", name, s.Kind, s.Version)
		}
		if want := filepath.Join(cfg.Dir, name); s.run.dir != want {
			t.Errorf("its data are in %s, want %s", s.run.dir, want)
		}
		if got := variable(t, openSQL(t, s.DSN), "version"); !strings.HasPrefix(got, s.Version) {
			t.Errorf("the server says that it is %s, its program %s", got, s.Version)
		}
	}
	cfg.Program = programPath(t, KindRedis)
	if s := mustStart(t, StartRedis, cfg); s.Kind != KindRedis || s.run.prog.path != cfg.Program || s.run.prog.root == "" {
		t.Errorf("started %+v, want %s", s.run.prog, cfg.Program)
	}
}

// TestGivenProgramIsNotReplaced: where the program that was given cannot be started no other is.
func TestGivenProgramIsNotReplaced(t *testing.T) {
	redis := programPath(t, KindRedis)
	for program, want := range map[string]string{redis: "is not mysql but", filepath.Join(t.TempDir(), "none"): "no such file"} {
		cfg := testConfig(t)
		cfg.Program = program
		if s, err := StartMySQL(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("MySQL of %s: %v, %v, want an error with %q", program, s, err, want)
		}
	}
}
