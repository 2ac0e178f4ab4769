package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestPackageContents compares the files that goreleaser puts into packages with the files that the check of a release
// requires.
func TestPackageContents(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		NFPMs []struct {
			Formats  []string
			MTime    string
			Bindir   string
			RPM      struct{ Buildhost string }
			Scripts  map[string]string
			Contents []struct {
				Src, Dst, Type, Packager string
				Info                     struct {
					Mode                fs.FileMode
					Owner, Group, Mtime string
				} `yaml:"file_info"`
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.NFPMs) != 1 {
		t.Fatalf("%d kinds of packages, want one", len(config.NFPMs))
	}
	packages := config.NFPMs[0]
	if packages.MTime == "" || packages.RPM.Buildhost == "" {
		t.Error("packages have the time or the name of the machine that makes them")
	}
	var formats []string
	for _, format := range packages.Formats {
		formats = append(formats, "."+format)
		found := map[string]packed{packages.Bindir + "/leaderboard": {mode: 0o755, owner: "root"}}
		for _, c := range packages.Contents {
			if c.Packager == "" || c.Packager == format {
				found[c.Dst] = packed{c.Info.Mode, c.Info.Owner, c.Type == "config|noreplace"}
			}
			if c.Info.Group == "" || c.Info.Mtime == "" {
				t.Errorf("%s has the time or the group that it has here", c.Dst)
			}
			exists(t, c.Src)
		}
		if want := inEveryPackage("." + format); !maps.Equal(found, want) {
			t.Errorf("%s: packages have\n%v, want\n%v", format, found, want)
		}
	}
	if want := slices.Sorted(maps.Keys(packageFormats())); !slices.Equal(slices.Sorted(slices.Values(formats)), want) {
		t.Errorf("packages are %q, and those that are read %q", formats, want)
	}
	for _, script := range packages.Scripts {
		exists(t, script)
	}
}

// exists checks that a file of the repository is there; bin has built files.
func exists(t *testing.T, name string) {
	t.Helper()
	if strings.HasPrefix(name, "bin/") {
		return
	}
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		t.Error(err)
	}
}

// TestPackages reads a package of each format, made here, and a package with a fault of each kind.
func TestPackages(t *testing.T) {
	t.Parallel()
	for format, make := range map[string]func(*testing.T, *linuxPackage) []byte{".deb": makeDeb, ".rpm": makeRPM} {
		good := func() *linuxPackage {
			machine := map[string]string{".deb": "amd64", ".rpm": "x86_64"}[format]
			version := map[string]string{".deb": "1.2.3~snapshot-abc", ".rpm": "1.2.3~snapshot_abc"}[format]
			return &linuxPackage{programName, version, machine, []string{"postinst", "prerm", "postrm"}, inEveryPackage(format)}
		}
		for fault, change := range map[string]func(*linuxPackage){
			"":                         func(*linuxPackage) {},
			"want leaderboard 1.2.3~s": func(p *linuxPackage) { p.version = "1.2.3" },
			"for arm64":                func(p *linuxPackage) { p.machine = "arm64" },
			"want three":               func(p *linuxPackage) { p.scripts = p.scripts[:2] },
			"it lacks /usr/bin":        func(p *linuxPackage) { delete(p.files, "/usr/bin/leaderboard") },
			"/etc/passwd is":           func(p *linuxPackage) { p.files["/etc/passwd"] = packed{mode: 0o644, owner: "root"} },
			"/etc/leaderboard/leaderboard.yaml is {mode:420 ": func(p *linuxPackage) {
				p.files["/etc/leaderboard/leaderboard.yaml"] = packed{0o644, "root", true}
			},
			"config:false}, want": func(p *linuxPackage) { p.files["/etc/leaderboard/leaderboard.yaml"] = packed{0o600, "root", false} },
			"owner:ada":           func(p *linuxPackage) { p.files["/usr/bin/leaderboard"] = packed{0o755, "ada", false} },
		} {
			p := good()
			change(p)
			found, err := packageFormats()[format](make(t, p))
			if err != nil {
				t.Fatal(err)
			}
			switch err := found.check(format, "v1.2.3-snapshot-abc", "amd64"); {
			case fault == "" && err != nil:
				t.Errorf("%s: %v", format, err)
			case fault != "" && (err == nil || !strings.Contains(err.Error(), fault)):
				t.Errorf("%s: %v, want %q", format, err, fault)
			}
		}
		whole := make(t, good())
		for n := range len(whole) - 1 { // a part of a package (its last byte may be of no file) is no package, and nothing that ends the check
			if found, err := packageFormats()[format](whole[:n]); err == nil && found.check(format, "v1.2.3-snapshot-abc", "amd64") == nil {
				t.Fatalf("%s: its first %d of %d bytes are taken", format, n, len(whole))
			}
		}
	}
}

// makeDeb makes a package of Debian with empty files.
func makeDeb(t *testing.T, p *linuxPackage) []byte {
	t.Helper()
	control, data, conffiles := map[string]packed{}, p.files, ""
	for place, file := range p.files {
		if file.config {
			conffiles += place + "\n"
		}
	}
	contents := map[string]string{
		"control":   fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\n", p.name, p.version, p.machine),
		"conffiles": conffiles,
	}
	for _, name := range append(slices.Clone(p.scripts), "control", "conffiles") {
		control[name] = packed{}
	}
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, part := range []struct {
		name  string
		files map[string]packed
	}{{"debian-binary", nil}, {"control.tar.gz", control}, {"data.tar.gz", data}} {
		content := []byte("2.0\n")
		if part.files != nil {
			content = tarOf(t, part.files, contents)
		}
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", part.name, 0, 0, 0, "100644", len(content), content)
		if len(content)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// tarOf makes a compressed archive of files.
func tarOf(t *testing.T, files map[string]packed, contents map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for name, file := range files {
		content := contents[name]
		header := &tar.Header{Name: "." + name, Mode: int64(file.mode), Uname: file.owner, Size: int64(len(content))}
		if !strings.HasPrefix(name, "/") {
			header.Name = "./" + name
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// makeRPM makes the part of a package of rpm that is about its files.
func makeRPM(_ *testing.T, p *linuxPackage) []byte {
	var index, store []byte
	tags := uint32(0)
	add := func(tag, kind uint32, count int, values []byte) {
		for _, n := range []uint32{tag, kind, uint32(len(store)), uint32(count)} {
			index = binary.BigEndian.AppendUint32(index, n)
		}
		store, tags = append(store, values...), tags+1
	}
	texts := func(tag uint32, values ...string) {
		add(tag, 8, len(values), []byte(strings.Join(values, "\x00")+"\x00"))
	}
	texts(rpmTagName, p.name)
	texts(rpmTagVersion, p.version)
	texts(rpmTagArch, p.machine)
	for i := range p.scripts {
		texts([]uint32{rpmTagPostIn, rpmTagPreUn, rpmTagPostUn}[i], "#!/bin/sh")
	}
	var names, dirs, owners []string
	var modes, flags, indexes []byte
	for i, place := range slices.Sorted(maps.Keys(p.files)) {
		file, flag := p.files[place], uint32(0)
		if file.config {
			flag = rpmFlagConfig | rpmFlagNoReplace
		}
		names, dirs, owners = append(names, filepath.Base(place)), append(dirs, filepath.Dir(place)+"/"), append(owners, file.owner)
		modes = binary.BigEndian.AppendUint16(modes, uint16(file.mode)|0o100000)
		flags, indexes = binary.BigEndian.AppendUint32(flags, flag), binary.BigEndian.AppendUint32(indexes, uint32(i))
	}
	texts(rpmTagBaseNames, names...)
	texts(rpmTagDirs, dirs...)
	texts(rpmTagOwners, owners...)
	add(rpmTagModes, rpmTypeInt16, len(names), modes)
	add(rpmTagFlags, rpmTypeInt32, len(names), flags)
	add(rpmTagDirIndexes, rpmTypeInt32, len(names), indexes)

	out := slices.Concat([]byte("\xed\xab\xee\xdb"), make([]byte, rpmLeadSize-4))
	head := func(tags, size uint32) {
		out = append(out, "\x8e\xad\xe8\x01\x00\x00\x00\x00"...)
		out = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(out, tags), size)
	}
	head(0, 3) // signatures, whose end is no multiple of eight
	out = append(out, make([]byte, 8)...)
	head(tags, uint32(len(store)))
	return slices.Concat(out, index, store)
}
