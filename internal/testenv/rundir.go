package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// NewRunDir makes a temporary folder for a run's servers. A lock on it, held
// until this process ends, marks it as in use; folders of runs that ended
// without cleaning up are deleted on the way.
func NewRunDir() (string, error) {
	base := filepath.Join(os.TempDir(), fmt.Sprintf("leaderboard-testenv-%d", os.Getuid()))
	dir, err := newRunDir(base)
	if err != nil {
		return "", fmt.Errorf("folder for test servers: %w", err)
	}
	return dir, nil
}

func newRunDir(base string) (string, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	// One at a time: no process may sweep a new folder before its lock is taken.
	fd, err := lockDir(base, true)
	if err != nil {
		return "", err
	}
	defer syscall.Close(fd)
	if err := sweep(base); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(base, "run-")
	if err != nil {
		return "", err
	}
	_, err = lockDir(dir, false)
	return dir, err
}

// sweep deletes the folders in base whose runs have ended.
func sweep(base string) error {
	dirs, err := filepath.Glob(filepath.Join(base, "run-*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		fd, err := lockDir(dir, false)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, os.ErrNotExist) {
			continue // in use, or just deleted by its own run
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

// lockDir locks a folder for as long as this process lives, or until the
// descriptor is closed. It is a bare descriptor because an os.File would be
// closed by the garbage collector.
func lockDir(dir string, wait bool) (int, error) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		if err = syscall.Flock(fd, how); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		syscall.Close(fd)
		return 0, err
	}
	return fd, nil
}
