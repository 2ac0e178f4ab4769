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

// progress is a bar on a terminal and nothing elsewhere. A total of -1 is not known: it turns in place.
func (p *program) progress(total int64, what string, options ...progressbar.Option) *progress {
	out := io.Discard
	if f, ok := p.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		out = p.err
	}
	if total == 0 {
		total = 1 // of nothing there is no bar
	}
	return &progress{progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65 * time.Millisecond),
	}, options...)...)}
}

// progress is a progress bar. What it cannot show, more than the total for instance, is no reason to fail.
type progress struct{ bar *progressbar.ProgressBar }

func (p *progress) setTotal(n int64) { p.bar.ChangeMax64(max(1, n)) }

func (p *progress) add(n int64) { _ = p.bar.Add64(n) }
func (p *progress) set(n int64) { _ = p.bar.Set64(n) }
func (p *progress) end()        { _ = p.bar.Finish() }
