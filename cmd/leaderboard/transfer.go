package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// The forms of a file that is exported or imported.
const (
	formatCSV   = "csv"
	formatJSONL = "jsonl"
)

// formatOf is the form of a file: the one given, else what its name says, else CSV.
func formatOf(given, file string) string {
	if given != "" {
		return given
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".jsonl", ".ndjson", ".json":
		return formatJSONL
	}
	return formatCSV
}

// inEntries makes a bar count entries and show their rate and the time that remains.
func inEntries() []progressbar.Option {
	return []progressbar.Option{progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("entries")}
}

// progress is a bar on a terminal and nothing elsewhere. Without a total (-1) it turns in place.
func (p *program) progress(total int64, what string, options ...progressbar.Option) *progressbar.ProgressBar {
	out := io.Discard
	if f, ok := p.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		out = p.err
	}
	return progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65 * time.Millisecond),
	}, options...)...)
}
