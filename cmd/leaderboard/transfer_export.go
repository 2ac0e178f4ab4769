package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// exportView says what was exported.
type exportView struct {
	Board   string `json:"board"`
	File    string `json:"file"`
	Format  string `json:"format"`
	Entries int64  `json:"entries"`
	Seq     int64  `json:"seq"`
	AsOf    string `json:"as_of"`
	Took    string `json:"took"`
}

// export writes all entries of a period to a file or to standard output. A file is complete or not there.
func (p *program) export(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one board, as in: leaderboard export demo --output demo.csv")
	}
	if cfg.json && cfg.output == "" {
		return usagef("--json describes the file of --output; the form of the entries is --format")
	}
	start := time.Now()
	view := exportView{Board: args[0], File: cfg.output, Format: formatOf(cfg.format, cfg.output)}
	query := url.Values{"format": {view.Format}}
	if cfg.window != "" {
		query.Set("window", cfg.window)
	}
	if cfg.period != "" {
		query.Set("period", cfg.period)
	}
	answer, err := newClient(&cfg).stream(ctx, request{method: http.MethodGet, path: boardPath(args[0], "export"), query: query})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := view.readHeader(answer.Header); err != nil {
		return err
	}
	if cfg.output == "" {
		return p.exportTo(p.out, answer.Body, &view)
	}
	if err := p.exportFile(answer.Body, &view); err != nil {
		return err
	}
	took := time.Since(start)
	view.Took = took.Round(time.Millisecond).String()
	if cfg.json {
		return printJSON(p.out, view)
	}
	_, err = fmt.Fprintf(p.out, "%d entries of %s at seq %d are in %s (%.0f per second)\n", view.Entries, view.Board, view.Seq, view.File, rate(view.Entries, took))
	return err
}

func rate(n int64, took time.Duration) float64 { return float64(n) / max(took.Seconds(), 1e-3) }

// readHeader takes the state that the export is of.
func (v *exportView) readHeader(h http.Header) error {
	var err1, err2 error
	v.Entries, err1 = strconv.ParseInt(h.Get("Leaderboard-Total"), 10, 64)
	v.Seq, err2 = strconv.ParseInt(h.Get("Leaderboard-Seq"), 10, 64)
	v.AsOf = h.Get("Leaderboard-As-Of")
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("this is no export of a leaderboard server; is --url right? %w", err)
	}
	return nil
}

// exportFile writes FILE.part and gives it its name when it is whole and on the disk.
func (p *program) exportFile(from io.Reader, v *exportView) (err error) {
	part := v.File + ".part"
	file, err := os.Create(part)
	if err != nil {
		return fmt.Errorf("create the file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	err = p.exportTo(file, from, v)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err = os.Rename(part, v.File); err != nil {
		return fmt.Errorf("name the file: %w", err)
	}
	return nil
}

// exportTo copies the entries and checks that all of them have come.
func (p *program) exportTo(to io.Writer, from io.Reader, v *exportView) error {
	bar := p.progress(v.Entries, "exporting "+v.Board, inEntries()...)
	defer bar.end()
	count := recordCounter{quotes: v.Format == formatCSV}
	if count.quotes {
		count.records = -1 // the line of names
	}
	buf := make([]byte, 64<<10)
	for {
		n, rerr := from.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return fmt.Errorf("write the entries: %w", err)
			}
			count.add(buf[:n])
			bar.set(min(max(count.records, 0), v.Entries))
		}
		switch {
		case errors.Is(rerr, io.EOF) && count.records == v.Entries:
			return nil
		case errors.Is(rerr, io.EOF):
			rerr = io.ErrUnexpectedEOF
			fallthrough
		case rerr != nil:
			return fmt.Errorf("the export was broken off after %d of %d entries, try again: %w", max(count.records, 0), v.Entries, rerr)
		}
	}
}

// recordCounter counts the records in a stream: line feeds, of CSV those outside of quotes.
type recordCounter struct {
	quotes  bool // they have a meaning
	inside  bool // an odd number of quotes has gone by
	records int64
}

func (c *recordCounter) add(b []byte) {
	for _, ch := range b {
		switch {
		case ch == '"' && c.quotes:
			c.inside = !c.inside
		case ch == '\n' && !c.inside:
			c.records++
		}
	}
}
