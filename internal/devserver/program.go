package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// program is a server program that this machine can run.
type program struct {
	kind    Kind
	path    string // the program itself
	root    string // the folder with its unpacked packages; empty for a program on PATH
	version string // as in 8.4.3; see parseVersion
}

// command returns the way to run p: directly, or through the loader and libraries in its root, which are newer than the
// machine's. The locale is C: Redis ends at once when the environment's locale is not installed, as in many containers that are
// reached by ssh.
func (p program) command(args ...string) (*exec.Cmd, error) {
	name := p.path
	if p.root != "" {
		loader, libs, err := rootLoader(p.root)
		if err != nil {
			return nil, err
		}
		name, args = loader, append([]string{"--library-path", libs, p.path}, args...)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	return cmd, nil
}

// rootLoader finds the dynamic loader and the library folder below root.
func rootLoader(root string) (loader, libs string, err error) {
	triplet, name := "x86_64-linux-gnu", "ld-linux-x86-64.so.2"
	if runtime.GOARCH == "arm64" {
		triplet, name = "aarch64-linux-gnu", "ld-linux-aarch64.so.1"
	}
	// Older distributions have the loader below /lib, newer ones below /usr/lib.
	for _, lib := range []string{"usr/lib", "lib"} {
		loader = filepath.Join(root, lib, triplet, name)
		if _, err = os.Stat(loader); err == nil {
			libs = filepath.Join(root, "usr/lib", triplet) + ":" + filepath.Join(root, "lib", triplet)
			return loader, libs, nil
		}
	}
	return "", "", fmt.Errorf("loader of %s: %w", root, err)
}

// probe fills in p.version and checks the kind of p: mysqld on PATH is MariaDB on many machines.
func (p program) probe(ctx context.Context) (program, error) {
	kind, version, err := p.readVersion(ctx)
	if err != nil {
		return p, err
	}
	if kind != p.kind {
		return p, fmt.Errorf("%s is not %s but %q", p.path, p.kind, version)
	}
	p.version = version
	return p, nil
}

// readVersion runs p --version.
func (p program) readVersion(ctx context.Context) (kind Kind, version string, err error) {
	cmd, err := p.command("--version")
	if err != nil {
		return "", "", err
	}
	out, err := runCommand(ctx, cmd)
	if err != nil {
		return "", "", fmt.Errorf("%s --version: %w", p.path, err)
	}
	kind, version = parseVersion(out)
	return kind, version, nil
}

// programAt returns the program at path, which is of the kind that was asked for or stands in for it.
func programAt(ctx context.Context, asked Kind, path string) (program, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return program{}, err
	}
	p := inRoot(program{path: path})
	if p.kind, p.version, err = p.readVersion(ctx); err != nil {
		return program{}, err
	}
	if !p.kind.standsInFor(asked) {
		return program{}, fmt.Errorf("%s is not %s but %q", path, asked, p.version)
	}
	return p, nil
}

// inRoot fills in the root of the packages that p was unpacked with: the nearest folder above it with a dynamic loader,
// unless that is the machine's.
func inRoot(p program) program {
	for dir := filepath.Dir(p.path); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if _, _, err := rootLoader(dir); err == nil {
			p.root = dir
			return p
		}
	}
	return p
}

// standsInFor reports whether programs of kind k may be given where another kind is asked for: SQL servers for each other.
func (k Kind) standsInFor(asked Kind) bool {
	return k != "" && (k == KindRedis) == (asked == KindRedis)
}

// parseVersion reads the output of --version:
//
//	/usr/sbin/mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)
//	mysqld  Ver 11.4.2-MariaDB for Linux on x86_64
//	Redis server v=8.0.6 sha=00000000:0 malloc=jemalloc-5.3.1 bits=64 build=...
//
// The path before Ver may contain any word, so only the rest identifies the product.
func parseVersion(out string) (kind Kind, version string) {
	line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if before, version, ok := strings.Cut(line, "server v="); ok {
		if name := strings.TrimSpace(before); name == "Redis" || name == "Valkey" {
			version, _, _ = strings.Cut(version, " ")
			return KindRedis, name + " " + version
		}
		return "", line
	}
	if _, version, ok := strings.Cut(line, " Ver "); ok {
		version, _, _ = strings.Cut(version, " ")
		return sqlKind(version), version
	}
	return "", line
}

// sqlKind distinguishes MariaDB from MySQL by a version as in SELECT VERSION().
func sqlKind(version string) Kind {
	if strings.Contains(version, "MariaDB") {
		return KindMariaDB
	}
	return KindMySQL
}

// programNames lists the names that programs of a kind go by.
func programNames(kind Kind) []string {
	switch kind {
	case KindMySQL:
		return []string{"mysqld"}
	case KindMariaDB:
		return []string{"mariadbd", "mysqld"}
	case KindRedis:
		return []string{"redis-server", "valkey-server"}
	}
	return nil
}

// searchPath returns PATH and, for the SQL servers, the folders where distributions
// put them and which an ordinary user's PATH leaves out.
func searchPath(kind Kind) []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	if kind != KindRedis {
		dirs = append(dirs, "/usr/local/sbin", "/usr/sbin")
	}
	return dirs
}

// lookPath finds a program of the kind.
func lookPath(ctx context.Context, kind Kind) (program, error) {
	var failed []error
	for _, name := range programNames(kind) {
		for _, dir := range searchPath(kind) {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
				continue
			}
			p, err := program{kind: kind, path: path}.probe(ctx)
			if err == nil {
				return p, nil
			}
			failed = append(failed, err)
		}
	}
	if len(failed) == 0 {
		return program{}, fmt.Errorf("no %s on PATH", strings.Join(programNames(kind), " or "))
	}
	return program{}, errors.Join(failed...)
}

// base returns the installation prefix of p, "/usr" for /usr/sbin/mysqld.
func (p program) base() string {
	path := p.path
	if real, err := filepath.EvalSymlinks(path); err == nil && p.root == "" {
		path = real
	}
	return filepath.Dir(filepath.Dir(path))
}
