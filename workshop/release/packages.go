package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// linuxPackage is the metadata of a package for the package manager of a system.
type linuxPackage struct {
	name, version, machine string
	scripts                []string          // that run when it is installed or removed
	files                  map[string]packed // by their places, as in /usr/bin/leaderboard
}

// packed is a file of a package.
type packed struct {
	mode   fs.FileMode // permissions
	owner  string
	config bool // people's changes there are kept
}

// packageFormats are the formats of packages, each with how it is read.
func packageFormats() map[string]func(file []byte) (*linuxPackage, error) {
	return map[string]func([]byte) (*linuxPackage, error){".deb": readDeb, ".rpm": readRPM}
}

// packageTargets are the systems that have packages, out of targets.
func packageTargets() []string {
	return slices.DeleteFunc(targets(), func(target string) bool { return !strings.HasPrefix(target, "linux/") })
}

// checkPackages reads the packages of a release: each format for each machine.
func checkPackages(folder, version string) error {
	for format, read := range packageFormats() {
		for _, target := range packageTargets() {
			name := fmt.Sprintf("leaderboard_%s_%s%s", strings.TrimPrefix(version, "v"), strings.ReplaceAll(target, "/", "_"), format)
			content, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				return err
			}
			found, err := read(content)
			if err == nil {
				err = found.check(format, version, path.Base(target))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fmt.Printf("%s: %s %s for %s, %d files\n", name, found.name, found.version, found.machine, len(found.files))
		}
	}
	return nil
}

// check returns the faults of a package for a format, a version and a machine of Go.
func (p *linuxPackage) check(format, version, machine string) error {
	machines := map[string]string{".rpm amd64": "x86_64", ".rpm arm64": "aarch64"} // Debian's are called as Go's
	if m := machines[format+" "+machine]; m != "" {
		machine = m
	}
	if want := packageVersion(format, version); p.name != programName || p.version != want || p.machine != machine {
		return fmt.Errorf("it is %s %s for %s, want %s %s for %s", p.name, p.version, p.machine, programName, want, machine)
	}
	if len(p.scripts) != 3 {
		return fmt.Errorf("it has the scripts %q, want three: after it is installed, before and after it is removed", p.scripts)
	}
	want := inEveryPackage(format)
	for place, file := range p.files {
		if want[place] != file {
			return fmt.Errorf("%s is %+v, want %+v", place, file, want[place])
		}
	}
	for place := range want {
		if _, ok := p.files[place]; !ok {
			return fmt.Errorf("it lacks %s", place)
		}
	}
	return nil
}

// packageVersion is a version in the order of a package manager: a snapshot is before its release.
func packageVersion(format, version string) string {
	version = strings.Replace(strings.TrimPrefix(version, "v"), "-", "~", 1)
	if format == ".rpm" { // which takes no other -
		version = strings.ReplaceAll(version, "-", "_")
	}
	return version
}

// inEveryPackage are the files of a package of a format.
func inEveryPackage(format string) map[string]packed {
	file := packed{mode: 0o644, owner: "root"}
	functions := map[string]string{".deb": "vendor-completions", ".rpm": "site-functions"}[format]
	return map[string]packed{
		"/usr/bin/leaderboard":                                  {mode: 0o755, owner: "root"},
		"/etc/leaderboard/leaderboard.yaml":                     {mode: 0o600, owner: "root", config: true},
		"/usr/lib/systemd/system/leaderboard.service":           file,
		"/usr/share/man/man1/leaderboard.1":                     file,
		"/usr/share/bash-completion/completions/leaderboard":    file,
		"/usr/share/fish/vendor_completions.d/leaderboard.fish": file,
		"/usr/share/zsh/" + functions + "/_leaderboard":         file,
		"/usr/share/doc/leaderboard/copyright":                  file,
		"/usr/share/doc/leaderboard/CHANGELOG.md":               file,
		"/usr/share/doc/leaderboard/THIRD-PARTY-LICENSES.txt":   file,
	}
}

// readDeb reads a package of Debian: an archive of ar with two archives of tar, one of them about the package.
func readDeb(file []byte) (*linuxPackage, error) {
	const magic, headerSize = "!<arch>\n", 60
	if !bytes.HasPrefix(file, []byte(magic)) {
		return nil, errors.New("no archive of ar")
	}
	p := &linuxPackage{files: map[string]packed{}}
	for rest := file[len(magic):]; len(rest) > 0; {
		if len(rest) < headerSize {
			return nil, io.ErrUnexpectedEOF
		}
		name := strings.TrimSuffix(strings.TrimSpace(string(rest[:16])), "/")
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || size < 0 || size > len(rest)-headerSize {
			return nil, fmt.Errorf("%s: a size of %q: %w", name, rest[48:58], err)
		}
		content := rest[headerSize : headerSize+size]
		switch name {
		case "control.tar.gz":
			err = eachFile(content, p.readControl)
		case "data.tar.gz":
			err = eachFile(content, func(header *tar.Header, _ []byte) error {
				place := path.Join("/", header.Name)
				p.files[place] = packed{fs.FileMode(header.Mode).Perm(), header.Uname, p.files[place].config}
				return nil
			})
		case "debian-binary":
		default:
			err = fmt.Errorf("an unknown part %s", name)
		}
		if err != nil {
			return nil, err
		}
		rest = rest[min(headerSize+size+size%2, len(rest)):]
	}
	return p, nil
}

// readControl reads a file about a package of Debian. They come before the files of the package.
func (p *linuxPackage) readControl(header *tar.Header, content []byte) error {
	switch name := path.Base(header.Name); name {
	case "control":
		for line := range strings.Lines(string(content)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "Package":
				p.name = value
			case "Version":
				p.version = value
			case "Architecture":
				p.machine = value
			}
		}
	case "conffiles":
		for place := range strings.Lines(string(content)) {
			p.files[strings.TrimSpace(place)] = packed{config: true}
		}
	case "postinst", "prerm", "postrm", "preinst":
		p.scripts = append(p.scripts, name)
	}
	return nil
}

// eachFile calls a function with each file of a compressed archive of tar.
func eachFile(archive []byte, do func(*tar.Header, []byte) error) error {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	files := tar.NewReader(zipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(files)
		if err != nil || header.Typeflag == tar.TypeDir {
			continue
		}
		if err := do(header, content); err != nil {
			return err
		}
	}
}

// Tags of the header of an rpm package, and the flags of its files.
const (
	rpmTagName, rpmTagVersion, rpmTagArch           = 1000, 1001, 1022
	rpmTagModes, rpmTagFlags, rpmTagOwners          = 1030, 1037, 1039
	rpmTagDirIndexes, rpmTagBaseNames, rpmTagDirs   = 1116, 1117, 1118
	rpmTagPostIn, rpmTagPreUn, rpmTagPostUn         = 1024, 1025, 1026
	rpmFlagConfig, rpmFlagNoReplace, rpmTypeOfDir   = 1, 16, 0o040000
	rpmTypeInt16, rpmTypeInt32, rpmMaskOfType       = 3, 4, 0o170000
	rpmLeadSize, rpmHeaderSize, rpmIndexSize, rpmUp = 96, 16, 16, 8
)

// readRPM reads the header of a package of rpm: after a lead and a header of signatures, an index of tags and their values.
func readRPM(file []byte) (*linuxPackage, error) {
	if len(file) < rpmLeadSize || !bytes.HasPrefix(file, []byte("\xed\xab\xee\xdb")) {
		return nil, errors.New("no package of rpm")
	}
	_, rest, err := rpmHeader(file[rpmLeadSize:])
	if err != nil {
		return nil, err
	}
	taken := len(file) - len(rest)
	h, _, err := rpmHeader(file[min((taken+rpmUp-1)/rpmUp*rpmUp, len(file)):])
	if err != nil {
		return nil, err
	}
	p := &linuxPackage{files: map[string]packed{}}
	for tag, to := range map[uint32]*string{rpmTagName: &p.name, rpmTagVersion: &p.version, rpmTagArch: &p.machine} {
		*to = strings.Join(h.texts[tag], "")
	}
	for _, tag := range []uint32{rpmTagPostIn, rpmTagPreUn, rpmTagPostUn} {
		p.scripts = append(p.scripts, h.texts[tag]...)
	}
	names, modes, owners, flags := h.texts[rpmTagBaseNames], h.numbers[rpmTagModes], h.texts[rpmTagOwners], h.numbers[rpmTagFlags]
	dirs, indexes := h.texts[rpmTagDirs], h.numbers[rpmTagDirIndexes]
	for i, name := range names {
		if i >= len(modes) || i >= len(owners) || i >= len(flags) || i >= len(indexes) || indexes[i] >= len(dirs) {
			return nil, io.ErrUnexpectedEOF
		}
		if modes[i]&rpmMaskOfType != rpmTypeOfDir {
			p.files[dirs[indexes[i]]+name] = packed{
				fs.FileMode(modes[i]).Perm(), owners[i], flags[i] == rpmFlagConfig|rpmFlagNoReplace,
			}
		}
	}
	return p, nil
}

// rpmValues are the values of a header, by their tags.
type rpmValues struct {
	texts   map[uint32][]string
	numbers map[uint32][]int
}

// rpmHeader reads a header and returns the rest.
func rpmHeader(data []byte) (*rpmValues, []byte, error) {
	if len(data) < rpmHeaderSize || !bytes.HasPrefix(data, []byte("\x8e\xad\xe8\x01")) {
		return nil, nil, errors.New("no header of rpm")
	}
	tags, size := int(binary.BigEndian.Uint32(data[8:])), int(binary.BigEndian.Uint32(data[12:]))
	end := rpmHeaderSize + tags*rpmIndexSize
	if tags < 0 || size < 0 || end+size > len(data) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	store := data[end : end+size]
	h := &rpmValues{map[uint32][]string{}, map[uint32][]int{}}
	for i := range tags {
		entry := data[rpmHeaderSize+i*rpmIndexSize:]
		tag, kind := binary.BigEndian.Uint32(entry), binary.BigEndian.Uint32(entry[4:])
		at, count := int(binary.BigEndian.Uint32(entry[8:])), int(binary.BigEndian.Uint32(entry[12:]))
		if at < 0 || at > size || count < 0 || count > size {
			return nil, nil, io.ErrUnexpectedEOF
		}
		if err := h.add(tag, kind, count, store[at:]); err != nil {
			return nil, nil, err
		}
	}
	return h, data[end+size:], nil
}

// add reads the values of a tag.
func (h *rpmValues) add(tag, kind uint32, count int, values []byte) error {
	width := map[uint32]int{rpmTypeInt16: 2, rpmTypeInt32: 4}[kind]
	if count*width > len(values) {
		return io.ErrUnexpectedEOF
	}
	for range count {
		switch width {
		case 2:
			h.numbers[tag] = append(h.numbers[tag], int(binary.BigEndian.Uint16(values)))
		case 4:
			h.numbers[tag] = append(h.numbers[tag], int(binary.BigEndian.Uint32(values)))
		default: // a text, of whatever kind
			text, rest, _ := bytes.Cut(values, []byte{0})
			h.texts[tag], values = append(h.texts[tag], string(text)), rest
		}
		values = values[width:]
	}
	return nil
}
