package testenv

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRunDirsOfDeadRunsAreSwept: a new run deletes the folders of runs that have ended, and no others.
func TestRunDirsOfDeadRunsAreSwept(t *testing.T) {
	base := filepath.Join(t.TempDir(), "runs")
	live, err := newRunDir(base)
	if err != nil {
		t.Fatal(err)
	}
	// No process holds its lock, as after kill -9.
	dead := filepath.Join(base, "run-dead")
	if err := os.MkdirAll(filepath.Join(dead, "mysql"), 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(base, "of-another-program")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	second, err := newRunDir(base)
	if err != nil {
		t.Fatal(err)
	}
	if second == live {
		t.Errorf("two runs share %s", live)
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder of a dead run: %v, want it gone", err)
	}
	for _, dir := range []string{live, second, other} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("swept too much: %s", err)
		}
	}
	if fd, err := lockDir(live, false); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("lock of a live run: %d, %v; want %v", fd, err, syscall.EWOULDBLOCK)
	}
}
