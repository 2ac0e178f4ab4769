package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// packagesOf lists the packages that carry a kind, best first; distributions
// name them differently.
func packagesOf(kind Kind) []string {
	switch kind {
	case KindMySQL:
		return []string{"mysql-server-core", "mysql-server-core-8.4", "mysql-server-core-8.0"}
	case KindMariaDB:
		return []string{"mariadb-server-core"}
	case KindRedis:
		return []string{"redis-server", "valkey-server"}
	}
	return nil
}

// programsIn lists where packages put the programs, relative to their root.
func programsIn(kind Kind) []string {
	switch kind {
	case KindMySQL:
		return []string{"usr/sbin/mysqld"}
	case KindMariaDB:
		return []string{"usr/sbin/mariadbd"}
	case KindRedis:
		return []string{"usr/bin/redis-server", "usr/bin/valkey-server"}
	}
	return nil
}

// fetcher returns a finder that fetches the distribution's packages, unless
// they were fetched before.
func (c cache) fetcher(log func(string, ...any)) func(context.Context, Kind) (program, error) {
	return func(ctx context.Context, kind Kind) (program, error) {
		root, err := c.once(ctx, filepath.Join("programs", string(kind)), func(ctx context.Context, dir string) error {
			log("fetching %s from this machine's package archive into %s", kind, c.dir)
			began := time.Now()
			if err := c.fetch(ctx, kind, dir); err != nil {
				return err
			}
			log("fetched %s in %s", kind, time.Since(began).Round(100*time.Millisecond))
			return nil
		})
		if err != nil {
			return program{}, fmt.Errorf("fetch packages of %s: %w", kind, err)
		}
		p, err := unpacked(kind, root)
		if err != nil {
			return program{}, err
		}
		return p.probe(ctx)
	}
}

// unpacked finds the program of kind below root.
func unpacked(kind Kind, root string) (program, error) {
	for _, name := range programsIn(kind) {
		p := program{kind: kind, path: filepath.Join(root, name), root: root}
		if _, err := os.Stat(p.path); err == nil {
			return p, nil
		}
	}
	return program{}, fmt.Errorf("the packages in %s hold no %s", root, kind)
}

// fetch downloads the packages of kind and all they need, libc included, and
// unpacks them into dir.
func (c cache) fetch(ctx context.Context, kind Kind, dir string) error {
	if err := c.fetchPackages(ctx, apt{dir: filepath.Join(c.dir, "apt")}, packagesOf(kind), dir); err != nil {
		return err
	}
	_, err := unpacked(kind, dir)
	return err
}

// fetchPackages unpacks the first of the packages that the archive has, and all it needs, into dir: of packages of the
// machine's own release all but the C library, which is the machine's.
func (c cache) fetchPackages(ctx context.Context, a apt, packages []string, dir string) error {
	debs, done, err := c.download(ctx, a, packages)
	if err != nil {
		return err
	}
	defer done()
	for _, deb := range debs {
		if name := filepath.Base(deb); a.own && (strings.HasPrefix(name, "libc6_") || strings.HasPrefix(name, "libc-bin_")) {
			continue
		}
		if err := unpack(ctx, deb, dir); err != nil {
			return err
		}
	}
	return slim(dir)
}

// download gets the files of the first of the packages that the archive has, and of all it needs. They are there until
// done is called.
func (c cache) download(ctx context.Context, a apt, packages []string) (debs []string, done func(), err error) {
	for _, tool := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, nil, fmt.Errorf("this works on Debian and Ubuntu only: %w", err)
		}
	}
	// One fetch at a time: they share the package lists.
	lock, err := lockFile(ctx, filepath.Join(c.dir, "apt.lock"))
	if err != nil {
		return nil, nil, err
	}
	if debs, err = a.closure(ctx, packages); err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	return debs, func() {
		_ = a.tidy() // leftovers do no harm
		_ = lock.Close()
	}, nil
}

// unpack puts the files of a package below dir, which it makes.
func unpack(ctx context.Context, deb, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := runCommand(ctx, exec.Command("dpkg-deb", "-x", deb, dir)); err != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(deb), err)
	}
	return nil
}

// slim deletes what no server reads.
func slim(root string) error {
	var errs []error
	for _, name := range strings.Fields("doc info lintian locale man perl gcc gdb") {
		errs = append(errs, os.RemoveAll(filepath.Join(root, "usr/share", name)))
	}
	return errors.Join(errs...)
}
