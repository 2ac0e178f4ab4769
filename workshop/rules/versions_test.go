package rules

import (
	"regexp"
	"testing"
)

// TestVersions: the workshop builds the product with the versions of the product's go.mod, so its tests are about what users run.
func TestVersions(t *testing.T) {
	t.Parallel()
	product, shared := versions(t, "go.mod"), 0
	for name, version := range versions(t, "workshop/go.mod") {
		if want, ok := product[name]; ok {
			if shared++; version != want {
				t.Errorf("workshop/go.mod has %s %s, go.mod has %s", name, version, want)
			}
		}
	}
	if shared < 20 {
		t.Errorf("found %d modules in both, the search is broken", shared)
	}
}

// versions returns the versions that a go.mod requires, by module.
func versions(t *testing.T, file string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\t(\\S+) (v\\S+)").FindAllStringSubmatch(readDoc(t, file), -1) {
		found[m[1]] = m[2]
	}
	return found
}
