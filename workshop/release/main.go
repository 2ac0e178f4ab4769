// Command release makes the files of a release's archives other than the program, and the files next to the archives.
//
//	release prepare PROGRAM FOLDER     third-party licenses, scripts for shells; in the root of the repository
//	release sbom FOLDER ARCHIVE FILE   the parts of the program in an archive, as a CycloneDX document
//	release check FOLDER FOLDER        whether two releases are equal, and the archive for this machine works
//
// .goreleaser.yaml runs the first two, make dist KIND=check the last one.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run carries the arguments out.
func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "prepare":
		return prepare(args[1], args[2])
	case len(args) == 4 && args[0] == "sbom":
		return writeSBOM(args[1], args[2], args[3])
	case len(args) == 3 && args[0] == "check":
		return check(args[1], args[2])
	}
	return errors.New("usage: release prepare PROGRAM FOLDER | sbom FOLDER ARCHIVE FILE | check FOLDER FOLDER")
}
