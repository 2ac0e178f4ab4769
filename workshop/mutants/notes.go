package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"leaderboard/workshop/program"
)

// The outcomes of a test.
const (
	verdictRed   = "red"
	verdictGreen = "GREEN" // of a broken program: the mutant survived
	verdictNone  = "NONE"  // the test program did not get to the test, or cannot be built
)

// verdict is the outcome of a mutant, or of the tests of an unbroken package.
type verdict struct {
	mutant
	key  string // of the unbroken test program of the package
	what string
	took time.Duration
}

// id identifies mutants and test programs.
func (v *verdict) id() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{v.key, v.name, v.file, v.old, v.new, v.test}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func (v *verdict) line() string {
	return fmt.Sprintf("%s  %-5s %6s  %s: %s", time.Now().Format(time.TimeOnly), v.what, v.took.Round(100*time.Millisecond), v.test, v.name)
}

// notes are the verdicts so far: a verdict is the name of its note.
type notes struct{ *program.Notes }

func openNotes(path string) (notes, error) {
	n, err := program.OpenNotes(path)
	return notes{n}, err
}

// find completes a verdict that is noted. A verdict that is not good is made again.
func (n notes) find(v *verdict) (verdict, bool) {
	full := *v
	for _, found := range n.Of(v.id()) {
		full.what, full.took = found.Name, found.Took
	}
	return full, full.what == verdictRed || full.what != "" && v.promise == ""
}

func (n notes) add(v *verdict) error {
	return n.Add(program.Note{ID: v.id(), Name: v.what, Took: v.took, Said: v.name})
}
