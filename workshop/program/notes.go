package program

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Note is the record of a run of a test program, without tabs and ends of lines.
type Note struct {
	ID   string // of the program, or of the tests that ran
	Name string
	Took time.Duration
	Said string
}

// Notes is the file of all runs, a line each: id, name, duration and text, separated by tabs.
type Notes struct {
	file *os.File
	runs map[string][]Note // by id
}

// OpenNotes reads the notes; Add appends a note.
func OpenNotes(path string) (*Notes, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	n := &Notes{file: file, runs: map[string][]Note{}}
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 4 {
			continue // a line that a killed process did not finish
		}
		if took, err := time.ParseDuration(field[2]); err == nil {
			n.runs[field[0]] = append(n.runs[field[0]], Note{field[0], field[1], took, field[3]})
		}
	}
	return n, nil
}

// Of returns the runs with an id.
func (n *Notes) Of(id string) []Note { return n.runs[id] }

// Add notes a run.
func (n *Notes) Add(r Note) error {
	n.runs[r.ID] = append(n.runs[r.ID], r)
	_, err := fmt.Fprintf(n.file, "%s\t%s\t%s\t%s\n", r.ID, r.Name, r.Took.Round(time.Millisecond), r.Said)
	return err
}

// Close closes the file.
func (n *Notes) Close() { _ = n.file.Close() }
