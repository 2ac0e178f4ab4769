package program

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIdentity: a change of the program, or of the tests that are chosen, is another program.
func TestIdentity(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.test")
	seen := map[string]bool{}
	for _, text := range []string{"a", "b"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, tests := range []string{"", "TestA"} {
			id, err := identify(tests, []string{path})
			again, err2 := identify(tests, []string{path})
			if err != nil || err2 != nil || id != again || seen[id] {
				t.Errorf("%s of %q: %s, then %s, %v, %v", tests, text, id, again, err, err2)
			}
			seen[id] = true
		}
	}
}
