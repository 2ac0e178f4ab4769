package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const version = "v1.2.3"

// TestInstalled makes a version of the renamed module known to a proxy, and uses it as others do: `go install` of the
// program, and `go get` of the client, for which a program fetches only this module.
func TestInstalled(t *testing.T) {
	root := copied(t)
	if _, err := rename(root, path); err != nil {
		t.Fatal(err)
	}
	proxy := published(t, root)
	// The fetched files go into a separate folder: the next run's zip has the same name. Others' modules come from their
	// present place, or from the proxy of this machine.
	others := "file://" + filepath.Join(run(t, root, "env", "GOMODCACHE"), "cache", "download") + "," + run(t, root, "env", "GOPROXY")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw -trimpath") // a cleaner can delete it; files built in another folder are used again
	t.Setenv("GOSUMDB", "off")

	t.Setenv("GOPROXY", proxy+","+others)
	bin := t.TempDir()
	t.Setenv("GOBIN", bin)
	run(t, t.TempDir(), "install", path+"/cmd/leaderboard@"+version)
	if said := run(t, bin, "version", "-m", "leaderboard"); !strings.Contains(said, "\tmod\t"+path+"\t"+version) {
		t.Errorf("the program is of another version:\n%s", said)
	}

	t.Setenv("GOPROXY", proxy) // no other module can be had
	game := t.TempDir()
	write(t, filepath.Join(game, "main.go"), `package main

import (
	"fmt"

	"`+path+`/leaderboard"
	"`+path+`/client"
)

func main() {
	api, err := client.New("http://127.0.0.1:8080")
	fmt.Println(api, err, leaderboard.PolicyBest)
}
`)
	run(t, game, "mod", "init", "example.org/game")
	run(t, game, "get", path+"/client@"+version)
	run(t, game, "vet", ".")
	run(t, game, "mod", "vendor")
	vendored, err := os.ReadFile(filepath.Join(game, "vendor", "modules.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for line := range strings.Lines(string(vendored)) {
		if !strings.HasPrefix(line, "#") {
			packages = append(packages, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(packages, []string{path + "/api", path + "/client", path + "/leaderboard"}) {
		t.Errorf("a program with the client takes %q", packages)
	}
}

// published returns the address of a proxy that has the module in a folder as a version.
func published(t *testing.T, root string) string {
	t.Helper()
	proxy := t.TempDir()
	versions := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	definition, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(versions, "list"), version+"\n")
	write(t, filepath.Join(versions, version+".info"), fmt.Sprintf("{\"Version\":%q}\n", version))
	write(t, filepath.Join(versions, version+".mod"), string(definition))
	file, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := zip.CreateFromDir(file, module.Version{Path: path, Version: version}, root); err != nil {
		t.Fatal(err)
	}
	return "file://" + proxy
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
