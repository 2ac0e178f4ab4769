package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
)

const (
	// maxRecord bounds a record of an import, in bytes; a record of valid values has less than 2 KiB.
	maxRecord = 64 << 10
	byteOrder = "\ufeff" // the mark that some programs put ahead of UTF-8
)

// source is an input that is read once, a window at a time. Bytes that are taken are hashed, counted and dropped.
type source struct {
	in         io.Reader
	hash       hash.Hash // of the seed and the bytes taken, without lineEnd
	lineEnd    string    // at the end of the bytes taken; not hashed yet, since the last line of a file may get its end later
	buf        []byte
	start, end int // of the bytes in buf that are not taken
	eof        bool
	offset     int64 // bytes taken
	line       int64 // number of the next line, from 1
}

// newSource begins to read and takes a byte order mark.
func newSource(in io.Reader, seeded hash.Hash) (*source, error) {
	s := &source{in: in, hash: seeded, buf: make([]byte, 4*maxRecord), line: 1}
	head, err := s.window()
	if err != nil {
		return nil, err
	}
	if kind := otherKind(head); kind != "" {
		return nil, errors.New("it is " + kind)
	}
	if bytes.HasPrefix(head, []byte(byteOrder)) {
		s.skip(len(byteOrder))
	}
	return s, nil
}

// otherKind describes the kind of a file that begins with head and is not UTF-8 text, with a remedy; "" for all other
// files.
func otherKind(head []byte) string {
	for _, kind := range []struct{ begins, says string }{
		{"\xff\xfe", "UTF-16, want UTF-8"},
		{"\xfe\xff", "UTF-16, want UTF-8"},
		{"\x1f\x8b", "compressed with gzip: zcat FILE | leaderboard import BOARD -"},
		{"\x28\xb5\x2f\xfd", "compressed with zstd: zstdcat FILE | leaderboard import BOARD -"},
		{"PK\x03\x04", "a zip archive, as a workbook of a spreadsheet (.xlsx, .ods) is too: save the sheet as CSV in UTF-8, with commas"},
		{"\xd0\xcf\x11\xe0", "a workbook of a spreadsheet (.xls): save the sheet as CSV in UTF-8, with commas"},
	} {
		if bytes.HasPrefix(head, []byte(kind.begins)) {
			return kind.says
		}
	}
	return ""
}

// window returns the bytes that follow: one more than the longest record has, fewer only at the end of the input.
func (s *source) window() ([]byte, error) {
	const want = maxRecord + 1
	if !s.eof && s.end-s.start < want {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
		for !s.eof && s.end < want {
			n, err := s.in.Read(s.buf[s.end:])
			s.end += n
			if s.eof = errors.Is(err, io.EOF); err != nil && !s.eof {
				return nil, fmt.Errorf("read it: %w", err)
			}
		}
	}
	return s.buf[s.start:min(s.end, s.start+want)], nil
}

// skip passes over the first n bytes of the window.
func (s *source) skip(n int) {
	if n == 0 {
		return
	}
	b := s.buf[s.start : s.start+n]
	s.hashLines(b)
	s.line += int64(bytes.Count(b, []byte{'\n'}))
	s.offset += int64(n)
	s.start += n
}

// hashLines hashes b and keeps back the line end at its end. The hash does not depend on where the input is cut.
func (s *source) hashLines(b []byte) {
	if s.lineEnd == "\r" && string(b) == "\n" {
		s.lineEnd = "\r\n"
		return
	}
	io.WriteString(s.hash, s.lineEnd)
	text := bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
	s.hash.Write(text)
	s.lineEnd = string(b[len(text):])
}

// skipLineEnd skips the rest of the line if only its line end follows, and reports whether it did.
func (s *source) skipLineEnd() (bool, error) {
	b, err := s.window()
	switch {
	case err != nil:
		return false, err
	case len(b) == 0 || s.offset == 0 || s.lineEnd != "" && s.lineEnd != "\r":
		return true, nil
	case s.lineEnd == "\r" && b[0] == '\n':
		s.skip(1)
		return true, nil
	case s.lineEnd == "\r":
		return false, nil
	}
	n := emptyLine(b)
	s.skip(n)
	return n > 0, nil
}

// skipLine passes over everything to the end of the line.
func (s *source) skipLine() error {
	for {
		b, err := s.window()
		if err != nil || len(b) == 0 {
			return err
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			s.skip(i + 1)
			return nil
		}
		s.skip(len(b))
	}
}

// skipTo passes over everything before offset, and maybe the line end there. It reports whether the input is that long.
func (s *source) skipTo(offset int64) (bool, error) {
	for s.offset < offset {
		b, err := s.window()
		if err != nil || len(b) == 0 {
			return false, err
		}
		s.skip(int(min(int64(len(b)), offset-s.offset)))
	}
	return s.offset-int64(len(s.lineEnd)) <= offset, nil
}
