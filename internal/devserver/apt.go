package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packagesOf lists the packages that carry a kind, best first; distributions
// name them differently.
func packagesOf(kind Kind) []string {
	switch kind {
	case MySQL:
		return []string{"mysql-server-core", "mysql-server-core-8.4", "mysql-server-core-8.0"}
	case MariaDB:
		return []string{"mariadb-server-core"}
	case Redis:
		return []string{"redis-server", "valkey-server"}
	}
	return nil
}

// programsIn lists where packages put the programs, relative to their root.
func programsIn(kind Kind) []string {
	switch kind {
	case MySQL:
		return []string{"usr/sbin/mysqld"}
	case MariaDB:
		return []string{"usr/sbin/mariadbd"}
	case Redis:
		return []string{"usr/bin/redis-server", "usr/bin/valkey-server"}
	}
	return nil
}

// fetcher returns a finder that fetches the distribution's packages.
func (c cache) fetcher(log func(string, ...any)) func(context.Context, Kind) (program, error) {
	return func(ctx context.Context, kind Kind) (program, error) {
		root, err := c.once(ctx, filepath.Join("programs", string(kind)), func(ctx context.Context, dir string) error {
			log("fetching %s from this machine's package archive into %s", kind, c.dir)
			return c.fetch(ctx, kind, dir)
		})
		if err != nil {
			return program{}, fmt.Errorf("fetching packages of %s: %w", kind, err)
		}
		for _, name := range programsIn(kind) {
			p := program{kind: kind, path: filepath.Join(root, name), root: root}
			if _, err := os.Stat(p.path); err == nil {
				return p.probe(ctx)
			}
		}
		return program{}, fmt.Errorf("the packages in %s hold no %s", root, kind)
	}
}

// fetch downloads the packages of kind and all they need, libc included, and
// unpacks them into dir.
func (c cache) fetch(ctx context.Context, kind Kind, dir string) error {
	for _, tool := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("this works on Debian and Ubuntu only: %w", err)
		}
	}
	// One fetch at a time: they share the package lists.
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	lock, err := lockFile(ctx, filepath.Join(c.dir, "apt.lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	a := apt{dir: filepath.Join(c.dir, "apt")}
	if err := a.setUp(ctx); err != nil {
		return err
	}
	debs, err := a.download(ctx, packagesOf(kind))
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, deb := range debs {
		if _, err := runCommand(ctx, exec.Command("dpkg-deb", "-x", deb, dir)); err != nil {
			return fmt.Errorf("unpack %s: %w", filepath.Base(deb), err)
		}
	}
	return os.RemoveAll(a.archives())
}

// apt is a private apt: its own sources, lists, cache and an empty list of
// installed packages, so that a package's closure is complete.
type apt struct{ dir string }

func (a apt) archives() string { return filepath.Join(a.dir, "cache", "archives") }

// get runs apt-get with the private state. Options on the command line win
// over the machine's own files, which some images use to switch caches off;
// the machine's proxy and certificate settings stay in force.
func (a apt) get(ctx context.Context, args ...string) (string, error) {
	at := func(name string) string { return filepath.Join(a.dir, name) }
	var opts []string
	for _, o := range []string{
		"Dir::Etc::SourceList=" + at("sources.list"),
		"Dir::Etc::SourceParts=" + at("none"),
		"Dir::Etc::Preferences=" + at("none/preferences"),
		"Dir::Etc::PreferencesParts=" + at("none"),
		"Dir::State=" + a.dir,
		"Dir::State::Status=" + at("status"),
		"Dir::State::Lists=" + at("lists"),
		"Dir::Cache=" + at("cache"),
		"Dir::Cache::pkgcache=pkgcache.bin",
		"Dir::Cache::srcpkgcache=srcpkgcache.bin",
		"Dir::Log=" + at("none"),
		"APT::Install-Recommends=false",
		"APT::Keep-Downloaded-Packages=true",
		"APT::Sandbox::User=",
		"APT::Update::Post-Invoke=",
		"APT::Update::Post-Invoke-Success=",
		"Acquire::Languages=none",
		"Acquire::Retries=3",
		"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		"Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false",
	} {
		opts = append(opts, "-o", o)
	}
	cmd := exec.Command("apt-get", append(opts, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	out, err := runCommand(ctx, cmd)
	if err != nil {
		return out, fmt.Errorf("apt-get %s: %w", args[0], err)
	}
	return out, nil
}

// setUp writes the private configuration and reads the package lists.
func (a apt) setUp(ctx context.Context) error {
	for _, d := range []string{"lists/partial", "cache/archives/partial", "none"} {
		if err := os.MkdirAll(filepath.Join(a.dir, d), 0o755); err != nil {
			return err
		}
	}
	sources, err := machineSources(ctx)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"sources.list": sources, "status": ""} {
		if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	_, err = a.get(ctx, "update")
	return err
}

// download fetches the first of the packages that the archive has, with all it
// needs, and returns the files.
func (a apt) download(ctx context.Context, packages []string) ([]string, error) {
	var failed []error
	for _, pkg := range packages {
		// Leftovers of an earlier attempt may belong to another package.
		if err := removeDebs(a.archives()); err != nil {
			return nil, err
		}
		if _, err := a.get(ctx, "install", "-y", "-qq", "--download-only", pkg); err != nil {
			failed = append(failed, err)
			continue
		}
		debs, err := filepath.Glob(filepath.Join(a.archives(), "*.deb"))
		if err == nil && len(debs) == 0 {
			err = fmt.Errorf("apt-get downloaded nothing for %s", pkg)
		}
		slices.Sort(debs)
		return debs, err
	}
	return nil, errors.Join(failed...)
}

func removeDebs(dir string) error {
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, deb := range debs {
		if err := os.Remove(deb); err != nil {
			return err
		}
	}
	return nil
}

// machineSources derives the private sources.list from where this machine gets
// its own packages.
func machineSources(ctx context.Context) (string, error) {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("apt-get", "indextargets", "--no-release-info",
		"--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Identifier: Packages")
	out, err := runCommand(ctx, cmd)
	if err != nil {
		return "", fmt.Errorf("apt-get indextargets: %w", err)
	}
	return sourcesList(osRelease(string(release)), strings.Split(out, "\n"))
}
