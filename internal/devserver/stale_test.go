package devserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestRestartWithStaleSocketLock: a killed MySQL leaves a lock with its process id, which any other process may have
// when the next one starts.
func TestRestartWithStaleSocketLock(t *testing.T) {
	s, err := StartMySQL(t.Context(), Config{Dir: t.TempDir(), Ephemeral: true, MySQLOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(context.Background()) }()
	// Not our own id: MySQL takes its parent's for no other process.
	other, err := StartRedis(t.Context(), Config{Dir: t.TempDir(), Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Stop(context.Background()) }()
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(s.run.dir, socketName+".lock")
	if _, err := os.Stat(lock); err != nil {
		t.Fatalf("a killed server left no lock: %s", err)
	}
	if err := os.WriteFile(lock, fmt.Appendln(nil, other.PID), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Error(err)
	}
}
