package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// programName is the name of the program in an archive.
const programName = "leaderboard"

// writeSBOM writes the list of the parts of the program in an archive, as the program itself reports them, with the
// licenses that prepare found and left in a folder.
func writeSBOM(folder, archive, file string) error {
	list, err := os.ReadFile(filepath.Join(folder, partsFile))
	if err != nil {
		return err
	}
	var found []part
	if err := json.Unmarshal(list, &found); err != nil {
		return fmt.Errorf("read the parts: %w", err)
	}
	program, err := unpacked(archive, programName)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("read what %s was built from: %w", archive, err)
	}
	document, err := sbom(info, found, versionOf(archive), program)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	var out bytes.Buffer
	encoder := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(document, cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// versionOf returns the version in the name of an archive: leaderboard_0.1.0_linux_amd64.tar.gz.
func versionOf(archive string) string {
	if fields := strings.Split(path.Base(archive), "_"); len(fields) > 2 {
		return "v" + fields[1]
	}
	return ""
}

// unpacked returns a file of an archive.
func unpacked(archive, name string) ([]byte, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", archive, err)
	}
	files := tar.NewReader(zipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s has no %s", archive, name)
		}
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", archive, err)
		}
		if path.Base(header.Name) == name && header.Typeflag == tar.TypeReg {
			return io.ReadAll(files)
		}
	}
}

// sbom makes the document of a program. It has neither a time nor a random number: a program always has the same document.
func sbom(info *debug.BuildInfo, found []part, version string, program []byte) (*cdx.BOM, error) {
	byName := map[string]*part{}
	for i := range found {
		byName[found[i].Kind+" "+found[i].Name] = &found[i]
	}
	std := byName[kindGo+" "+standardLibrary]
	if want := "go" + std.Version; info.GoVersion != want {
		return nil, fmt.Errorf("it was built with %s, and the license is that of %s", info.GoVersion, want)
	}
	components := []cdx.Component{std.component("")}
	for _, m := range info.Deps {
		p := byName[kindGo+" "+m.Path]
		if m.Replace != nil || p == nil || p.Version != m.Version {
			return nil, fmt.Errorf("it contains %s %s, of which no license was found", m.Path, m.Version)
		}
		components = append(components, p.component(m.Sum))
	}
	for i := range found {
		if found[i].Kind == kindNPM {
			components = append(components, found[i].component(""))
		}
	}
	sum := sha256.Sum256(program)
	subject := cdx.Component{
		BOMRef: "program", Type: cdx.ComponentTypeApplication, Name: programName, Version: version,
		PackageURL: "pkg:golang/" + info.Main.Path + "@" + version,
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
	}
	var refs []string
	for i := range components {
		refs = append(refs, components[i].BOMRef)
	}
	document := cdx.NewBOM()
	document.Metadata = &cdx.Metadata{Component: &subject, Properties: settings(info)}
	document.Components = &components
	document.Dependencies = &[]cdx.Dependency{{Ref: subject.BOMRef, Dependencies: &refs}}
	document.Compositions = &[]cdx.Composition{{Aggregate: cdx.CompositionAggregateComplete, Assemblies: &[]cdx.BOMReference{cdx.BOMReference(subject.BOMRef)}}}
	return document, nil
}

// settings returns how a program was built.
func settings(info *debug.BuildInfo) *[]cdx.Property {
	var all []cdx.Property
	for _, s := range info.Settings {
		all = append(all, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	return &all
}

// component returns a part as the document has it, with the sum that go.sum has of a module.
func (p *part) component(sum string) cdx.Component {
	version := p.Version
	address := "pkg:" + p.Kind + "/" + p.Name + "@" + version
	var licenses cdx.Licenses
	for _, id := range p.Licenses {
		licenses = append(licenses, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	c := cdx.Component{BOMRef: address, Type: cdx.ComponentTypeLibrary, Name: p.Name, Version: version, PackageURL: address, Licenses: &licenses}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}
