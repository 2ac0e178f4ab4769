// Package varint writes and reads the small binary formats of rows: numbers as varints, texts after their length.
package varint

import "encoding/binary"

// AppendText appends a text after its length in bytes.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Reader reads the rest of a text. After a failure the rest is empty, and zero values are returned.
type Reader struct {
	Left   []byte
	Failed bool
}

// Fail notes that the text is damaged, or of another format.
func (r *Reader) Fail() { r.Left, r.Failed = nil, true }

// Done reports whether everything was read without a failure.
func (r *Reader) Done() bool { return !r.Failed && len(r.Left) == 0 }

// Int reads a signed varint.
func (r *Reader) Int() int64 {
	v, n := binary.Varint(r.Left)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Left = r.Left[n:]
	return v
}

// Count reads an unsigned varint that is at most a given number.
func (r *Reader) Count(most int) int {
	v, n := binary.Uvarint(r.Left)
	if n <= 0 || v > uint64(most) {
		r.Fail()
		return 0
	}
	r.Left = r.Left[n:]
	return int(v)
}

// Text reads a text after its length.
func (r *Reader) Text() string {
	n := r.Count(len(r.Left))
	if n > len(r.Left) {
		r.Fail()
		return ""
	}
	s := string(r.Left[:n])
	r.Left = r.Left[n:]
	return s
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.Left) == 0 {
		r.Fail()
		return 0
	}
	c := r.Left[0]
	r.Left = r.Left[1:]
	return c
}
