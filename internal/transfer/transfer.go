// Package transfer moves whole boards between a server and files: CSV and JSON lines, in little memory. An import can be
// continued after a kill, and counts each line once; an export is whole, or there is no file.
package transfer

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"leaderboard/client"
)

// FormatOf returns the format of a file: the given one, else the one of its name, else CSV.
func FormatOf(given, file string) string {
	if given != "" {
		return given
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".jsonl", ".ndjson", ".json":
		return client.FormatJSONL
	}
	return client.FormatCSV
}

// writeWhole writes FILE.part, and renames it to FILE when it is whole and on the disk.
func writeWhole(name string, write func(io.Writer) error) error {
	part := name + ".part"
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	if err = write(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// inEntries makes a bar count entries and show their rate and the time that remains.
func inEntries() []progressbar.Option {
	return []progressbar.Option{progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("entries")}
}

// Rate returns how many of n there were per second.
func Rate(n int64, took time.Duration) float64 { return float64(n) / max(took.Seconds(), 1e-3) }
