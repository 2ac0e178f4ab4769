package devserver

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Release is a server program of a release of a distribution.
type Release struct {
	Distribution string // "debian" or "ubuntu"
	Suite        string // as in bookworm
	Package      string // as in redis-server; several are separated by spaces
	Program      string // in the package, as in usr/bin/redis-server
}

func (r Release) String() string { return r.Package + " of " + r.Distribution + " " + r.Suite }

// Fetch returns the path of the release's program, in a root with everything it needs, which it fetches unless it was
// fetched before. archives has the addresses of archives by distribution; the machine's own distribution may be left out.
// dir is the folder for fetched programs; empty means the user's cache folder.
func Fetch(ctx context.Context, dir string, r Release, archives map[string]string, log func(string, ...any)) (string, error) {
	c, err := openCache(dir)
	if err != nil {
		return "", err
	}
	root, err := c.once(ctx, filepath.Join("programs", strings.ReplaceAll(r.Package, " ", "+")+"-"+r.Suite), func(ctx context.Context, dir string) error {
		log("fetching %s into %s", r, c.dir)
		began := time.Now()
		sources, err := c.releaseSources(ctx, r, archives)
		if err != nil {
			return err
		}
		if err := c.fetchPackages(ctx, apt{dir: filepath.Join(c.dir, "apt-"+r.Suite), sources: sources}, []string{r.Package}, dir); err != nil {
			return err
		}
		log("fetched %s in %s", r, time.Since(began).Round(100*time.Millisecond))
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", r, err)
	}
	path := filepath.Join(root, r.Program)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the packages of %s hold no %s: %w", r, r.Program, err)
	}
	return path, nil
}

// Version returns the version of the program at path, such as a program of Fetch.
func Version(ctx context.Context, path string) (string, error) {
	p := inRoot(program{path: path})
	kind, version, err := p.readVersion(ctx)
	if err == nil && kind == "" {
		err = fmt.Errorf("%s is no server that is known here: %q", path, version)
	}
	return version, err
}

// releaseSources is the sources.list of a release. The keys of the other distribution's archive come from a package of
// the machine's own.
func (c cache) releaseSources(ctx context.Context, r Release, archives map[string]string) (string, error) {
	release, targets, err := machineArchives(ctx)
	if err != nil {
		return "", err
	}
	own := ownArchive(release, targets)
	archive := archives[r.Distribution]
	if archive == "" {
		archive = own[r.Distribution]
	}
	if archive == "" {
		return "", fmt.Errorf("it is in the archive of %s: say its address", r.Distribution)
	}
	keys, pkg := debianKeys, "debian-archive-keyring"
	lines := []string{r.Suite + " main"}
	if r.Distribution == "ubuntu" {
		keys, pkg = ubuntuKeys, "ubuntu-keyring"
		lines = []string{r.Suite + " main universe", r.Suite + "-updates main universe"}
	}
	if _, err := os.Stat(keys); err != nil {
		root, err := c.once(ctx, filepath.Join("programs", pkg), func(ctx context.Context, dir string) error {
			return c.fetchPackages(ctx, apt{dir: filepath.Join(c.dir, "apt")}, []string{pkg}, dir)
		})
		if err != nil {
			return "", fmt.Errorf("keys of the archive of %s: %w", r.Distribution, err)
		}
		keys = filepath.Join(root, keys)
	}
	for i, line := range lines {
		lines[i] = fmt.Sprintf("deb [signed-by=%s] %s %s\n", keys, archive, line)
	}
	return strings.Join(lines, ""), nil
}

// ownArchive returns the address of the archive of the machine's own distribution, by the name of that.
func ownArchive(release map[string]string, targets []string) map[string]string {
	if !isUbuntu(release) {
		archive, _ := debianArchive(release, targets) // a missing archive is reported where it is needed
		return map[string]string{"debian": archive}
	}
	archives := slices.Sorted(maps.Keys(ubuntuArchives(ubuntuCodename(release), targets)))
	return map[string]string{"ubuntu": append(archives, "")[0]}
}
