package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// runDir is this process's folder for servers that it shares among its tests.
var runDir = sync.OnceValues(NewRunDir)

// NewRunDir makes a temporary folder for a run's servers. A lock in it, held
// until this process ends, marks it as in use; folders of runs that ended
// without cleaning up are deleted on the way.
func NewRunDir() (string, error) {
	base := filepath.Join(os.TempDir(), fmt.Sprintf("leaderboard-testenv-%d", os.Getuid()))
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", fmt.Errorf("folder for test servers: %w", err)
	}
	if err := sweep(base); err != nil {
		return "", fmt.Errorf("folders of earlier test runs: %w", err)
	}
	dir, err := os.MkdirTemp(base, "run-")
	if err != nil {
		return "", fmt.Errorf("folder for test servers: %w", err)
	}
	if _, err := holdLock(dir); err != nil {
		return "", fmt.Errorf("folder for test servers: %w", err)
	}
	return dir, nil
}

// sweep deletes the folders in base whose runs have ended.
func sweep(base string) error {
	dirs, err := filepath.Glob(filepath.Join(base, "run-*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		fd, err := holdLock(dir)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, os.ErrNotExist) {
			continue // in use, or swept by somebody else
		}
		if err != nil {
			return err
		}
		err = os.RemoveAll(dir)
		syscall.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}

// holdLock locks the folder itself for as long as this process lives, or until
// the descriptor is closed. A bare descriptor has no finalizer that would.
func holdLock(dir string) (int, error) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		syscall.Close(fd)
		return 0, err
	}
	return fd, nil
}
