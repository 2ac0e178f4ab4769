// Package rules holds the tests of the whole tree: imports, documents, names, and layers inside of packages.
package rules

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests at the top of the tree.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
