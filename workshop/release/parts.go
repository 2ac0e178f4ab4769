package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// part is something of others in the program: a Go module, Go's standard library, or an npm package in the pages.
type part struct {
	Kind     string   `json:"kind"` // golang or npm, as in the address of a package (purl)
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Licenses []string `json:"licenses"` // SPDX identifiers, sorted
	text     string   // of the licenses and notices
}

// The kinds of parts.
const (
	kindGo  = "golang"
	kindNPM = "npm"
)

// standardLibrary is the name of the part that is Go itself.
const standardLibrary = "std"

// targets are the systems that a release is built for; .goreleaser.yaml has the same.
func targets() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}
}

// allowed are the licenses that parts may have: licenses that require no more than their text and, for MPL-2.0, a place of
// the unchanged sources, which name and version are.
func allowed() []string {
	return []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}
}

// parts finds all foreign parts in the program of the module in the folder root, on any of the targets, by kind and name. A
// part without an allowed license is an error.
func parts(root string) ([]part, error) {
	dirs := map[string]map[string]bool{} // folders with packages of the program by module@version
	for _, target := range targets() {
		if err := listModules(root, target, dirs); err != nil {
			return nil, err
		}
	}
	std, err := goItself()
	if err != nil {
		return nil, err
	}
	found := []part{std}
	for _, module := range slices.Sorted(maps.Keys(dirs)) {
		name, version, _ := strings.Cut(module, "@")
		p := part{Kind: kindGo, Name: name, Version: version}
		if p.text, err = licenseTexts(slices.Sorted(maps.Keys(dirs[module]))); err != nil {
			return nil, fmt.Errorf("%s: %w", module, err)
		}
		found = append(found, p)
	}
	npm, err := npmParts(filepath.Join(root, "features", "pages", "built", "licenses.json"))
	if err != nil {
		return nil, err
	}
	found = append(found, npm...)
	for i := range found {
		if err := found[i].identify(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// listModules adds the modules that the program is built of on a target, each with the folders from the module down to each
// of its packages.
func listModules(root, target string, dirs map[string]map[string]bool) error {
	system, machine, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/leaderboard")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list the packages for %s: %w", target, err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue
		}
		module, top, dir := fields[0], fields[1], fields[2]
		if dirs[module] == nil {
			dirs[module] = map[string]bool{top: true}
		}
		for ; len(dir) > len(top); dir = filepath.Dir(dir) {
			dirs[module][dir] = true
		}
	}
	return nil
}

// goItself returns Go's runtime and standard library.
func goItself() (part, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return part{}, fmt.Errorf("ask for GOROOT: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "LICENSE"))
	if err != nil {
		return part{}, fmt.Errorf("license of Go: %w", err)
	}
	return part{Kind: kindGo, Name: standardLibrary, Version: strings.TrimPrefix(runtime.Version(), "go"), text: string(text)}, nil
}

// licenseFile matches the names of files that licenses and notices are in.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|copyright|notice|patents)([-._].*)?$`)

// licenseTexts returns the licenses and notices in folders, each text once.
func licenseTexts(dirs []string) (string, error) {
	var texts []string
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, f := range files {
			if f.IsDir() || !licenseFile.MatchString(f.Name()) || filepath.Ext(f.Name()) == ".go" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return "", err
			}
			if s := clean(string(text)); !slices.Contains(texts, s) {
				texts = append(texts, s)
			}
		}
	}
	if len(texts) == 0 {
		return "", errors.New("there is no license")
	}
	return strings.Join(texts, "\n\n"), nil
}

// clean returns a text with the line ends of Unix and nothing around it.
func clean(text string) string {
	return strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

// npmParts reads vite's list of the packages that are in the pages.
func npmParts(file string) ([]part, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("what the pages are made of: %w", err)
	}
	var packages []struct{ Name, Version, Text string }
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&packages); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	var found []part
	for _, p := range packages {
		found = append(found, part{Kind: kindNPM, Name: p.Name, Version: p.Version, text: clean(p.Text)})
	}
	return found, nil
}

// patentGrant is licensecheck's name for the file PATENTS of the Go project, which takes no right that a license gives.
const patentGrant = "GooglePatentsFile"

// minCoverage is how much of a text, in percent, its license must be; the rest names the owner of the copyright.
const minCoverage = 60

// identify names the licenses of a part.
func (p *part) identify() error {
	scan := licensecheck.Scan([]byte(p.text))
	for _, m := range scan.Match {
		if !m.IsURL && m.ID != patentGrant && !slices.Contains(p.Licenses, m.ID) {
			p.Licenses = append(p.Licenses, m.ID)
		}
	}
	slices.Sort(p.Licenses)
	for _, id := range p.Licenses {
		if !slices.Contains(allowed(), id) {
			return fmt.Errorf("%s %s has the license %s, which parts may not have", p.Name, p.Version, id)
		}
	}
	if len(p.Licenses) == 0 || scan.Percent < minCoverage {
		return fmt.Errorf("%s %s: %.0f %% of its license are known, as %q", p.Name, p.Version, scan.Percent, p.Licenses)
	}
	return nil
}

// writeLicenses writes the texts of all licenses, under the names of the parts that have them.
func writeLicenses(w io.Writer, found []part) error {
	var b strings.Builder
	b.WriteString("The program leaderboard contains what is listed here, under these licenses. The sources of each Go module are\n" +
		"what `go mod download NAME@VERSION` gets, those of npm packages what `npm pack NAME@VERSION` gets, unchanged.\n\n")
	for i := range found {
		fmt.Fprintf(&b, "  %s\n", found[i].title())
	}
	rule := "\n" + strings.Repeat("=", 100) + "\n"
	for i := range found {
		fmt.Fprintf(&b, "%s%s%s%s\n", rule, found[i].title(), rule+"\n", found[i].text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// title is a line that names a part and its licenses.
func (p *part) title() string {
	name := p.Name
	switch {
	case p.Kind == kindNPM:
		name = "npm: " + name
	case name == standardLibrary:
		name = "Go's runtime and standard library"
	}
	return fmt.Sprintf("%s %s (%s)", name, p.Version, strings.Join(p.Licenses, ", "))
}
