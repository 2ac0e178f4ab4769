package devserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// cacheVersion names the layout below the cache folder. Raise it when the set of fetched files or the way of making
// templates changes.
const cacheVersion = "servers-1"

// cache is the folder that keeps fetched programs (programs/<kind>) and initialised data folders (templates/<kind>-<hash>).
// Everything in it was made in a temporary folder and renamed when complete, under a lock, so any number of processes may
// use it at once and an incomplete part is made again.
type cache struct{ dir string }

func openCache(dir string) (cache, error) {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return cache{}, fmt.Errorf("folder for fetched servers: %w", err)
		}
		dir = filepath.Join(user, "leaderboard", cacheVersion)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return cache{}, fmt.Errorf("folder for fetched servers: %w", err)
	}
	return cache{dir: dir}, nil
}

// once makes the folder name, if absent, by filling a temporary folder next to it. The second caller waits for the first.
func (c cache) once(ctx context.Context, name string, fill func(ctx context.Context, dir string) error) (string, error) {
	path := filepath.Join(c.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	lock, err := lockFile(ctx, path+".lock")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	// A leftover is from a process that died: we hold the lock.
	tmp := path + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return "", err
	}
	if err := fill(ctx, tmp); err != nil {
		return "", errors.Join(err, os.RemoveAll(tmp))
	}
	if err := os.Rename(tmp, path); err != nil {
		return "", err
	}
	return path, nil
}

// cloneTemplate copies the initialised data folder of prog to dir, making the
// template first when this is the program's first use here.
func (c cache) cloneTemplate(ctx context.Context, prog program, dir string, initialise func(context.Context, program, string) error) error {
	sum := sha256.Sum256([]byte(prog.path + "\n" + prog.version))
	name := filepath.Join("templates", string(prog.kind)+"-"+hex.EncodeToString(sum[:6]))
	template, err := c.once(ctx, name, func(ctx context.Context, dir string) error {
		return initialise(ctx, prog, dir)
	})
	if err != nil {
		return err
	}
	tmp := dir + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.CopyFS(tmp, os.DirFS(template)); err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	return os.Rename(tmp, dir)
}
