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
	"time"
)

// listsAge is the age up to which downloaded package lists are used: MySQL, MariaDB and Redis are usually fetched one after
// another.
const listsAge = time.Hour

// apt is a private apt: its own sources, lists, cache and an empty list of
// installed packages, so that a package's closure is complete.
type apt struct {
	dir     string
	own     bool   // packages of the machine's own release, whatever that has
	sources string // the content of sources.list; empty means the machine's own
}

func (a apt) at(name string) string { return filepath.Join(a.dir, name) }

// options make apt-get use the private state. On the command line they win over the machine's own files, which may switch the
// package cache off; the machine's proxy and certificate settings stay in force.
func (a apt) options() []string {
	return []string{
		"Dir::Etc::SourceList=" + a.at("sources.list"),
		"Dir::Etc::SourceParts=" + a.at("none"),
		"Dir::Etc::Preferences=" + a.at("none/preferences"),
		"Dir::Etc::PreferencesParts=" + a.at("none"),
		"Dir::State=" + a.dir,
		"Dir::State::Status=" + a.at("status"),
		"Dir::State::Lists=" + a.at("lists"),
		"Dir::Cache=" + a.at("cache"),
		"Dir::Cache::pkgcache=pkgcache.bin",
		"Dir::Cache::srcpkgcache=srcpkgcache.bin",
		"Dir::Log=" + a.at("none"),
		"APT::Install-Recommends=false",
		"APT::Keep-Downloaded-Packages=true",
		"APT::Sandbox::User=",
		"APT::Update::Post-Invoke=",
		"APT::Update::Post-Invoke-Success=",
		"Acquire::GzipIndexes=true",
		"Acquire::Languages=none",
		"Acquire::Retries=3",
		"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		"Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false",
	}
}

// get runs apt-get with the private state.
func (a apt) get(ctx context.Context, args ...string) error {
	var opts []string
	for _, o := range a.options() {
		opts = append(opts, "-o", o)
	}
	cmd := exec.Command("apt-get", append(opts, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	if _, err := runCommand(ctx, cmd); err != nil {
		return fmt.Errorf("apt-get %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// closure downloads one of the packages, the first that the archive has (several
// in one string go together), and all it needs; it returns the files. Lists that turn out to be out of date are
// read again.
func (a apt) closure(ctx context.Context, packages []string) ([]string, error) {
	fresh, err := a.setUp(ctx)
	if err != nil {
		return nil, err
	}
	debs, err := a.download(ctx, packages)
	if err == nil || fresh {
		return debs, err
	}
	if err := a.update(ctx); err != nil {
		return nil, err
	}
	return a.download(ctx, packages)
}

// setUp writes the private configuration. It reads the package lists, and reports true, unless recent lists of the same
// sources are present.
func (a apt) setUp(ctx context.Context) (updated bool, err error) {
	for _, d := range []string{"lists/partial", "cache/archives/partial", "none"} {
		if err := os.MkdirAll(a.at(d), 0o755); err != nil {
			return false, err
		}
	}
	sources := a.sources
	if sources == "" {
		if sources, err = machineSources(ctx, a.own); err != nil {
			return false, err
		}
	}
	old, _ := os.ReadFile(a.at("sources.list")) // without a file the sources differ
	stamp, err := os.Stat(a.at("updated"))
	if err == nil && string(old) == sources && time.Since(stamp.ModTime()) < listsAge {
		return false, nil
	}
	for name, text := range map[string]string{"sources.list": sources, "status": ""} {
		if err := os.WriteFile(a.at(name), []byte(text), 0o644); err != nil {
			return false, err
		}
	}
	return true, a.update(ctx)
}

// update reads the package lists and notes when.
func (a apt) update(ctx context.Context) error {
	if err := a.get(ctx, "update"); err != nil {
		return err
	}
	return os.WriteFile(a.at("updated"), nil, 0o644)
}

// download tries the packages in turn. apt-get continues an interrupted download, and checks every file against the signed
// lists. Another kind's leftovers do no harm, but old versions would.
func (a apt) download(ctx context.Context, packages []string) ([]string, error) {
	if err := a.get(ctx, "autoclean", "-qq"); err != nil {
		return nil, err
	}
	var failed []error
	for _, pkg := range packages {
		if err := a.get(ctx, append([]string{"install", "-y", "-qq", "--download-only"}, strings.Fields(pkg)...)...); err != nil {
			failed = append(failed, err)
			continue
		}
		debs, err := filepath.Glob(a.at("cache/archives/*.deb"))
		if err == nil && len(debs) == 0 {
			err = fmt.Errorf("apt-get downloaded nothing for %s", pkg)
		}
		slices.Sort(debs)
		return debs, err
	}
	return nil, errors.Join(failed...)
}

// tidy deletes downloaded packages and apt's large work files.
func (a apt) tidy() error {
	var errs []error
	for _, pattern := range []string{"cache/archives/*.deb", "cache/*.bin"} {
		files, err := filepath.Glob(a.at(pattern))
		errs = append(errs, err)
		for _, f := range files {
			errs = append(errs, os.Remove(f))
		}
	}
	return errors.Join(errs...)
}

// machineSources derives the private sources.list from where this machine gets
// its own packages.
func machineSources(ctx context.Context, own bool) (string, error) {
	release, targets, err := machineArchives(ctx)
	if err != nil {
		return "", err
	}
	return sourcesList(release, targets, own)
}

// machineArchives returns the description of this machine's distribution, and the archives of its packages, in lines of
// "URI release component".
func machineArchives(ctx context.Context) (release map[string]string, targets []string, err error) {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("apt-get", "indextargets", "--no-release-info",
		"--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Identifier: Packages")
	out, err := runCommand(ctx, cmd)
	if err != nil {
		return nil, nil, fmt.Errorf("apt-get indextargets: %w", err)
	}
	return osRelease(string(text)), strings.Split(out, "\n"), nil
}
