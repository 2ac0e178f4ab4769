package rank

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"leaderboard/leaderboard"
)

// The encoded form of an index. Numbers are varints as in encoding/binary, unsigned but for as_of and incarnation:
//
//	"LBRI"  version (2)  flags (1 byte)
//	target  incarnation  seq  as_of  total  buckets
//	count of the first bucket
//	for each other bucket: bytes shared with the boundary before, bytes that follow, these bytes, count
//	CRC-32C of all that, 4 bytes big endian
//
// Neighbouring boundaries usually share score and tiebreak, so a bucket takes about 20 bytes. flagPartial marks a build
// under way: the last bucket has the count 0 and starts where the build continues.
const (
	pieceBytes = 1 << 16 // of boundaries that are kept together

	encodeMagic = "LBRI\x02"
	flagPartial = 1
	crcLen      = 4
)

// image is the content of an encoded index.
type image struct {
	partial bool
	at      State
	target  int64
	bounds  []Key
	counts  []int64
}

// AppendBinary appends the encoded index, a few dozen bytes per bucket, which Decode reads. The bytes depend only on
// state, target, boundaries and counts. The error is ErrDamaged or nil.
func (x *Index) AppendBinary(b []byte) ([]byte, error) {
	if x.damaged {
		return nil, ErrDamaged
	}
	im := image{at: x.at, target: x.target, bounds: x.bounds, counts: x.counts}
	return im.appendTo(b), nil
}

// AppendBinary appends the encoded build, which Resume reads. The error is ErrUnfinished while there is no bucket yet
// or commits up to the newest bucket are missing, or ErrDamaged.
func (b *Builder) AppendBinary(to []byte) ([]byte, error) {
	if err := b.level(); err != nil {
		return nil, err
	}
	im := image{at: b.at, target: b.target, bounds: b.bounds, counts: b.counts}
	if !b.done {
		n := len(b.bounds)
		im.partial = true
		im.bounds = append(b.bounds[:n:n], b.next)
		im.counts = append(b.counts[:n:n], 0)
	}
	return im.appendTo(to), nil
}

func (im *image) appendTo(b []byte) []byte {
	start := len(b)
	b = append(b, encodeMagic...)
	var flags byte
	if im.partial {
		flags |= flagPartial
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(im.target))
	b = binary.AppendVarint(b, im.at.Incarnation)
	b = binary.AppendUvarint(b, uint64(im.at.Seq))
	b = binary.AppendVarint(b, int64(im.at.AsOf))
	b = binary.AppendUvarint(b, uint64(im.at.Total))
	b = binary.AppendUvarint(b, uint64(len(im.bounds)))
	b = binary.AppendUvarint(b, uint64(im.counts[0]))
	for i, bound := range im.bounds[1:] {
		shared := sharedPrefix(im.bounds[i], bound)
		b = binary.AppendUvarint(b, uint64(shared))
		b = binary.AppendUvarint(b, uint64(len(bound)-shared))
		b = append(b, bound[shared:]...)
		b = binary.AppendUvarint(b, uint64(im.counts[i+1]))
	}
	return binary.BigEndian.AppendUint32(b, checksum(b[start:]))
}

func sharedPrefix(a, b Key) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Decode reads the bytes of Index.AppendBinary, in O(bytes). Other bytes, a build under way and another version
// included, are ErrDamaged: the index is then built from scratch.
func Decode(data []byte) (*Index, error) {
	im, err := decode(data)
	if err != nil {
		return nil, err
	}
	if im.partial {
		return nil, fmt.Errorf("%w: it is a build under way", ErrDamaged)
	}
	return newIndex(im.at, im.target, im.bounds, im.counts), nil
}

// Resume reads the bytes of Builder.AppendBinary; the build continues at Next. A whole index is a build with nothing
// left to append. Other bytes are ErrDamaged.
func Resume(data []byte) (*Builder, error) {
	im, err := decode(data)
	if err != nil {
		return nil, err
	}
	b := &Builder{target: im.target, at: im.at, newest: im.at, done: !im.partial}
	if im.partial {
		last := len(im.bounds) - 1
		b.next = im.bounds[last]
		im.bounds, im.counts = im.bounds[:last], im.counts[:last]
	}
	b.bounds, b.counts, b.seqs = im.bounds, im.counts, make([]int64, len(im.counts))
	for i := range b.seqs {
		b.seqs[i] = im.at.Seq
	}
	return b, nil
}

func decode(data []byte) (*image, error) {
	body := len(data) - crcLen
	switch {
	case body < len(encodeMagic)+1 || !strings.HasPrefix(string(data[:len(encodeMagic)]), encodeMagic):
		return nil, fmt.Errorf("%w: not an encoded index of this version", ErrDamaged)
	case checksum(data[:body]) != binary.BigEndian.Uint32(data[body:]):
		return nil, fmt.Errorf("%w: wrong checksum", ErrDamaged)
	}
	r := reader{rest: data[len(encodeMagic):body]}
	im := r.image()
	if r.bad || len(r.rest) > 0 || !im.consistent() {
		return nil, fmt.Errorf("%w: the encoded index contradicts itself", ErrDamaged)
	}
	return im, nil
}

// consistent reports whether total agrees with the counts.
func (im *image) consistent() bool {
	var sum int64
	for _, n := range im.counts {
		if n > math.MaxInt64-sum {
			return false
		}
		sum += n
	}
	if im.partial {
		last := len(im.counts) - 1
		return last > 0 && im.counts[last] == 0 // the others are not counted yet, or were removed since
	}
	return sum == im.at.Total
}

// reader parses an encoded index. After the first error it reads zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) image() *image {
	flags := r.bytes(1)
	im := &image{partial: !r.bad && flags[0] == flagPartial}
	r.bad = r.bad || flags[0] > flagPartial
	im.target = r.number()
	im.at.Incarnation = r.signed()
	im.at.Seq = r.number()
	im.at.AsOf = leaderboard.Micros(r.signed())
	im.at.Total = r.number()
	n := r.number()
	// A bucket takes at least 3 bytes, so a short input cannot demand much memory.
	if r.bad || im.target < 1 || im.target > maxTarget || n < 1 || n > int64(len(r.rest)/3)+1 {
		r.bad = true
		return im
	}
	r.buckets(im, int(n))
	return im
}

// buckets reads the boundaries into pieces of memory that never grow. Most boundaries are the head of a key.
func (r *reader) buckets(im *image, n int) {
	im.counts = append(make([]int64, 0, n), r.number())
	im.bounds = append(make([]Key, 0, n), "")
	var piece strings.Builder
	var last string
	for i := range n - 1 {
		shared, added := r.number(), r.number()
		if r.bad || shared > int64(len(last)) || added > maxBound-shared {
			r.bad = true
			return
		}
		suffix := r.bytes(int(added))
		// Boundaries ascend: each is longer than its predecessor, or greater at the first byte that differs.
		if string(suffix) <= last[shared:] {
			r.bad = true
			return
		}
		if size := int(shared + added); piece.Cap()-piece.Len() < size {
			piece.Reset()
			piece.Grow(max(size, min(pieceBytes, (n-1-i)*HeadLen)))
		}
		start := piece.Len()
		piece.WriteString(last[:shared])
		piece.Write(suffix)
		last = piece.String()[start:]
		im.bounds = append(im.bounds, Key(last))
		im.counts = append(im.counts, r.number())
	}
}

// number reads a varint that is a non-negative int64.
func (r *reader) number() int64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > math.MaxInt64 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return int64(v)
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// bytes reads n bytes, or none when the input is too short.
func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.bad = true
		return make([]byte, n)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}
