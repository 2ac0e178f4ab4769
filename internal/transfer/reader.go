package transfer

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// importReader reads the entries of a file, one after another, in little memory.
type importReader struct {
	*source
	format  string
	raw     bool     // Import.Raw
	columns []string // of a CSV
	fields  [][]byte // of the last record; its memory is used again
	began   int64    // line at which the last record began
}

// newImportReader begins to read. In CSV the first line has the names of the columns.
func newImportReader(src *source, format string) (*importReader, error) {
	r := &importReader{source: src, format: format}
	if format != client.FormatCSV {
		return r, nil
	}
	head, err := r.window()
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(strings.TrimLeft(string(head), "\r\n"), "\n")
	fields, fault, err := r.csv()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty: its first line has to name the columns, such as member,score")
	case err != nil:
		return nil, err
	case fault != "" && wrongMark(first) != nil:
		return nil, wrongMark(first)
	case fault != "":
		return nil, errors.New("its first line, the names of the columns, " + fault)
	}
	for _, name := range fields {
		r.columns = append(r.columns, string(name))
	}
	return r, checkColumns(r.columns)
}

// next reads an entry and the number of its first line. A fault describes the error in the entry. The error is io.EOF at
// the end.
func (r *importReader) next() (e leaderboard.Submission, line int64, fault string, err error) {
	if r.format == client.FormatJSONL {
		return r.jsonl()
	}
	fields, fault, err := r.csv()
	if fault == "" && err == nil {
		e, fault = entryOfRecord(r.columns, fields, r.raw)
	}
	return e, r.began, fault, err
}

// jsonl reads the next line that is not blank.
func (r *importReader) jsonl() (e leaderboard.Submission, line int64, fault string, err error) {
	for {
		b, err := r.window()
		if err == nil && len(b) == 0 {
			err = io.EOF
		}
		if err != nil {
			return e, 0, "", err
		}
		line = r.line
		size := bytes.IndexByte(b, '\n') + 1
		if size == 0 {
			size = len(b)
		}
		if size > maxRecord {
			return e, line, faultTooLong, r.skipLine()
		}
		text := bytes.TrimSpace(b[:size])
		if len(text) > 0 {
			e, fault = entryOfLine(text)
		}
		r.skip(size)
		if len(text) > 0 {
			return e, line, fault, nil
		}
	}
}

// csv reads the next record that is not an empty line. If its quotes are wrong, only its first line is taken: its end cannot be
// known, and the lines after it must not be lost.
func (r *importReader) csv() (fields [][]byte, fault string, err error) {
	for {
		b, err := r.window()
		if err == nil && len(b) == 0 {
			err = io.EOF
		}
		if err != nil {
			return nil, "", err
		}
		r.began = r.line
		if n := emptyLine(b); n > 0 {
			r.skip(n)
			continue
		}
		if bytes.HasPrefix(b, []byte(byteOrder)) {
			return nil, "begins with a byte order mark, in the middle of the file", r.skipLine()
		}
		fields, size, fault := csvRecord(b, len(b) <= maxRecord, r.fields)
		if fault == "" && size > maxRecord {
			fault = faultTooLong
		}
		if fault != "" {
			return nil, fault, r.skipLine()
		}
		r.fields = fields
		r.skip(size)
		return fields, "", nil
	}
}

// emptyLine returns the length of the line end that b begins with, 0 when it begins with something else.
func emptyLine(b []byte) int {
	switch {
	case b[0] == '\n', string(b) == "\r":
		return 1
	case bytes.HasPrefix(b, []byte("\r\n")):
		return 2
	}
	return 0
}
