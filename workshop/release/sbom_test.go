package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestSBOM makes the document of an archive with the program, and holds it against what the program says that it was
// built from (promise G6).
func TestSBOM(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, programName)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/leaderboard") // as other tests do, so that it is in the cache
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	archive, file := filepath.Join(dir, "leaderboard_1.2.3_linux_amd64.tar.gz"), filepath.Join(dir, "sbom.json")
	pack(t, program, archive)
	found := mustParts(t)
	list, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceFolder(filepath.Join(dir, "files"), map[string][]byte{partsFile: list}); err != nil {
		t.Fatal(err)
	}
	if err := writeSBOM(filepath.Join(dir, "files"), archive, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document cdx.BOM
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&document); err != nil {
		t.Fatal(err)
	}
	if got := document.Metadata.Component; got.Version != "v1.2.3" || len((*got.Hashes)[0].Value) != 64 {
		t.Errorf("the program is %+v", got)
	}
	versions := map[string]string{}
	for _, c := range *document.Components {
		versions[c.Name] = c.Version
		if len(*c.Licenses) == 0 || !regexp.MustCompile(`^pkg:(golang|npm)/\S+@\S+$`).MatchString(c.PackageURL) {
			t.Errorf("%s: licenses %v, address %s", c.Name, c.Licenses, c.PackageURL)
		}
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if versions[m.Path] != m.Version {
			t.Errorf("the program contains %s %s, the document says %q", m.Path, m.Version, versions[m.Path])
		}
	}
	if versions["std"] == "" || versions["svelte"] == "" || len(versions) < len(info.Deps)+3 {
		t.Errorf("the document has only %v", versions)
	}
	info.Deps[0].Version = "v9.9.9"
	if _, err := sbom(info, found, "", nil); err == nil || !strings.Contains(err.Error(), "v9.9.9") {
		t.Errorf("a module with an unknown license: %v", err)
	}
}

func mustParts(t *testing.T) []part {
	t.Helper()
	found, err := parts(root)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// pack makes an archive with one file.
func pack(t *testing.T, name, archive string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	files := tar.NewWriter(zipped)
	if err := files.WriteHeader(&tar.Header{Name: "folder/" + filepath.Base(name), Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	_, err = files.Write(content)
	for _, close := range []func() error{files.Close, zipped.Close} {
		if err == nil {
			err = close()
		}
	}
	if err == nil {
		err = os.WriteFile(archive, out.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
