package pages

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written writes files into a folder, and returns it.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestReadFolder: each file of a folder is a setting of the pages' look and may be missing. A file with another name is refused.
func TestReadFolder(t *testing.T) {
	logo := string(encoded(t, 20, 10, asPNG))
	whole := map[string]string{
		"title.txt": "The arcade\n", "accent.txt": "#3151d3\n", "header.txt": "manual, Shop https://shop.example/", "footer.txt": "Imprint", "language.txt": "de\n", "logo.png": logo, "font.ttf": "x",
		"logos/a.png": logo, ".hidden": "x",
	}
	folder := written(t, whole)
	got, err := ReadFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	if f := got.Face; f.Title != "The arcade" || f.Accent != (rgb{0x31, 0x51, 0xd3}) || f.Footer != "Imprint" || f.Header != "manual, Shop https://shop.example/" || f.Logo == nil || f.Logos["a.png"] == nil ||
		got.Language != "de" || got.Font != filepath.Join(folder, "font.ttf") {
		t.Errorf("read %+v", got)
	}
	if got, err := ReadFolder(t.TempDir()); err != nil || got.Face.Title != "" || got.Face.Logo != nil || got.Language != "" || got.Font != "" {
		t.Errorf("of an empty folder: %+v, %v", got, err)
	}
	for name, content := range map[string]string{
		"title.txt": "two\nlines", "accent.txt": "red", "header.txt": "manual, Shop", "footer.txt": strings.Repeat("x", maxSiteFooter+1), "language.txt": "tlh", "logo.png": "<svg/>",
		"logo.webp": logo, "font.otf": "x", "logos/A.png": logo, "readme.txt": "", "title": "The arcade", "logos/b": "",
	} {
		files := maps.Clone(whole)
		files[name] = content
		if _, err := ReadFolder(written(t, files)); err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("with %s: %v", name, err)
		}
	}
	if _, err := ReadFolder(filepath.Join(folder, "nowhere")); err == nil {
		t.Error("a folder that is not there is read")
	}
}
