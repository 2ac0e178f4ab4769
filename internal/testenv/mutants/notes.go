package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// What becomes of a test.
const (
	verdictRed   = "red"
	verdictGreen = "GREEN" // of a broken program: the mutant survived
	verdictNone  = "NONE"  // the test program did not get to the test, or cannot be built
)

// verdict is what became of a mutant, or of the tests of an unbroken package.
type verdict struct {
	mutant
	key  string // of the unbroken test program of the package
	what string
	took time.Duration
}

// id tells mutants and test programs apart.
func (v *verdict) id() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{v.key, v.name, v.file, v.old, v.new, v.test}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func (v *verdict) line() string {
	return fmt.Sprintf("%s  %-5s %6s  %s: %s", time.Now().Format(time.TimeOnly), v.what, v.took.Round(100*time.Millisecond), v.test, v.name)
}

// notes is the file of verdicts, a line each: id, verdict, duration, name, separated by tabs.
type notes struct {
	file  *os.File
	found map[string]verdict
}

// openNotes reads what is noted; add appends to it.
func openNotes(path string) (*notes, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	n := &notes{file: file, found: map[string]verdict{}}
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 4 {
			continue // a line that a killed process did not finish
		}
		if took, err := time.ParseDuration(field[2]); err == nil {
			n.found[field[0]] = verdict{what: field[1], took: took}
		}
	}
	return n, nil
}

// find completes a verdict that is noted. One that is not good is found out again.
func (n *notes) find(v *verdict) (verdict, bool) {
	found, ok := n.found[v.id()]
	full := *v
	full.what, full.took = found.what, found.took
	return full, ok && (found.what == verdictRed || v.promise == "")
}

func (n *notes) add(v *verdict) error {
	n.found[v.id()] = *v
	_, err := fmt.Fprintf(n.file, "%s\t%s\t%s\t%s\n", v.id(), v.what, v.took.Round(time.Millisecond), v.name)
	return err
}

func (n *notes) close() { _ = n.file.Close() }
