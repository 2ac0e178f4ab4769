package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// Exported is the outcome of an export.
type Exported struct {
	Board   string `json:"board"`
	File    string `json:"file"`
	Format  string `json:"format"`
	Entries int64  `json:"entries"`
	Seq     int64  `json:"seq"`
	AsOf    string `json:"as_of"`
	Took    string `json:"took"`

	took time.Duration
}

// Export is an export to make.
type Export struct {
	Client *client.Client
	Board  string
	Query  client.ExportQuery
	Format string // "": by the name of the file
	File   string // written as FILE.part until it is whole; "": Stdout
	Stdout io.Writer
	Stderr io.Writer // gets a progress bar
}

// Run writes all entries of a period.
func (e Export) Run(ctx context.Context) (out Exported, err error) {
	start := time.Now()
	out = Exported{Board: e.Board, File: e.File, Format: FormatOf(e.Format, e.File)}
	from, err := e.Client.Export(ctx, e.Board, out.Format, e.Query)
	if err != nil {
		return out, err
	}
	defer from.Body.Close()
	out.Entries, out.Seq, out.AsOf = from.Total, from.Seq, leaderboard.MicrosOf(from.AsOf).String()
	if e.File == "" {
		err = e.copy(e.Stdout, from.Body, &out)
	} else {
		err = writeWhole(e.File, func(file io.Writer) error { return e.copy(file, from.Body, &out) })
	}
	out.took = time.Since(start)
	out.Took = out.took.Round(time.Millisecond).String()
	return out, err
}

// Line returns the outcome as a line for people.
func (v *Exported) Line() string {
	return fmt.Sprintf("%d entries of %s at seq %d are in %s (%.0f per second)", v.Entries, v.Board, v.Seq, v.File, Rate(v.Entries, v.took))
}

// copy copies the entries and checks that all of them have come.
func (e *Export) copy(to io.Writer, from io.Reader, v *Exported) error {
	bar := terminal.NewProgress(e.Stderr, v.Entries, "exporting "+v.Board, inEntries()...)
	defer bar.End()
	count := recordCounter{quotes: v.Format == client.FormatCSV}
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
			bar.Set(min(max(count.records, 0), v.Entries))
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
	quotes  bool // it is CSV
	inside  bool // of quotes
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
