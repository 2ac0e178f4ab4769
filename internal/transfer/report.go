package transfer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"leaderboard/internal/terminal"
)

// rejectedLine is a line that was not imported, and the reason.
type rejectedLine struct {
	line   int64
	code   string // of the problem, malformed-line when the line was not sent
	detail string
}

const (
	codeMalformedLine = "malformed-line"
	reportHead        = "line,code,detail"
)

// importReport takes refused lines: as a CSV file of line, code and detail, or as text on w. The file is made for the first
// of them.
type importReport struct {
	name string // "" for w
	w    io.Writer
	file *os.File
	size int64 // bytes of the file that belong to this import
}

// open begins an empty report (size 0), or continues after the first size bytes of the present one. A file with other
// content is left alone.
func (r *importReport) open(size int64) error {
	if r.name == "" {
		return nil
	}
	head, length, err := headOf(r.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read the report of refused lines: %w", err)
	case length > 0 && head != reportHead:
		return fmt.Errorf("%s is there and is no report of refused lines; name another file with --refused", r.name)
	}
	if r.size = min(size, length); r.size > 0 {
		return nil
	}
	if err := os.Remove(r.name); err != nil {
		return fmt.Errorf("begin the report of refused lines: %w", err)
	}
	return nil
}

// headOf returns the beginning of a file, as long as the head of a report, and its length.
func headOf(name string) (head string, length int64, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", 0, err
	}
	b := make([]byte, len(reportHead))
	n, err := io.ReadFull(file, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(b[:n]), info.Size(), err
}

// add reports refused lines.
func (r *importReport) add(refused []rejectedLine) error {
	if len(refused) == 0 {
		return nil
	}
	if r.name == "" {
		for _, x := range refused {
			fmt.Fprintf(r.w, "line %d: %s\n", x.line, terminal.Printable(x.detail))
		}
		return nil
	}
	if err := r.write(refused); err != nil {
		return fmt.Errorf("write the report of refused lines: %w", err)
	}
	return nil
}

func (r *importReport) write(refused []rejectedLine) (err error) {
	if r.file == nil {
		if r.file, err = os.OpenFile(r.name, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
			return err
		}
		if err := r.file.Truncate(r.size); err != nil {
			return err
		}
		if _, err := r.file.Seek(r.size, io.SeekStart); err != nil {
			return err
		}
	}
	w := csv.NewWriter(r.file)
	if r.size == 0 {
		_ = w.Write(strings.Split(reportHead, ",")) // Error returns the error of all writes
	}
	for _, x := range refused {
		_ = w.Write([]string{strconv.FormatInt(x.line, 10), x.code, x.detail})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	r.size, err = r.file.Seek(0, io.SeekCurrent)
	return err
}

func (r *importReport) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
