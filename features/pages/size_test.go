package pages

import (
	"encoding/json"
	"io/fs"
	"path"
	"testing"
)

// sizeLimit is how much a board's page may load, compressed, with all that it loads later.
const sizeLimit = 120 << 10

// TestSize: a board's page is light on phones.
func TestSize(t *testing.T) {
	site, err := Load(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for name := range loadedBy(t, "src/board/main.ts") {
		a := site.assets.files[name]
		if a == nil {
			t.Fatalf("the manifest has %s, which is not built", name)
		}
		if a.gzipped != nil {
			size += len(a.gzipped)
		} else {
			size += len(a.plain)
		}
	}
	t.Logf("a board's page loads %d bytes", size)
	if size > sizeLimit || size < 10<<10 {
		t.Errorf("a board's page loads %d bytes, of %d at most", size, sizeLimit)
	}
}

// loadedBy returns the files that an entry loads, at once or later.
func loadedBy(t *testing.T, entry string) map[string]bool {
	t.Helper()
	body, err := fs.ReadFile(built, "built/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]struct {
		File                         string
		CSS, Imports, DynamicImports []string
	}
	if err := json.Unmarshal(body, &manifest); err != nil {
		t.Fatal(err)
	}
	files, names := map[string]bool{}, []string{entry}
	for i := 0; i < len(names); i++ {
		c := manifest[names[i]]
		if files[c.File] {
			continue
		}
		files[c.File] = true
		for _, css := range c.CSS {
			files[css] = true
		}
		names = append(append(names, c.Imports...), c.DynamicImports...)
	}
	return files
}

// TestManifest: every page has its script, and the pages load every built file.
func TestManifest(t *testing.T) {
	site, err := Load(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range []string{"home", "board", "console"} {
		e := site.assets.entries[name]
		for _, file := range append(append([]string{e.Script}, e.Styles...), e.Preload...) {
			if site.assets.files[path.Base(file)] == nil {
				t.Errorf("%s loads %q, which is not built", name, file)
			}
		}
		for file := range loadedBy(t, "src/"+name+"/main.ts") {
			known[file] = true
		}
	}
	for file := range site.assets.files {
		if !known[file] {
			t.Errorf("%s is built, and no page loads it", file)
		}
	}
}
