package rank

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"leaderboard"
)

// Key is the sort key of an entry: 24 bytes and the member.
type Key string

const (
	// ScoreLen is the length of the score, the first part of a key.
	ScoreLen = 8
	// PrefixLen is the length of the part of a key that tied entries share.
	PrefixLen = 16
	// HeadLen is the length of a key without the member.
	HeadLen = 24

	signBit = 1 << 63
)

// ErrKey means that a key has no valid form.
var ErrKey = errors.New("rank: not a sort key")

// Codec converts entries of one board to keys and back. Its zero value is for a board that is descending in score and
// tiebreak. Each field is XORed into the stored value: 0 where higher is better, -1 (all bits) where lower is.
type Codec struct {
	score, tiebreak int64
}

// CodecOf returns the codec of a board with these rules.
func CodecOf(r *leaderboard.Rules) Codec {
	var c Codec
	if r.Order == leaderboard.OrderAsc {
		c.score = -1
	}
	if r.Tiebreak.Order == leaderboard.OrderAsc {
		c.tiebreak = -1
	}
	return c
}

// Stored returns the form of score and tiebreak in MySQL, where higher is always better; it is its own inverse.
func (c Codec) Stored(score, tiebreak int64) (int64, int64) {
	return score ^ c.score, tiebreak ^ c.tiebreak
}

// Key returns the sort key of an entry.
func (c Codec) Key(e leaderboard.Entry) Key {
	var room [HeadLen + leaderboard.MaxMember]byte // keeps the one allocation to the result
	b := c.appendPrefix(room[:0], e.Score, e.Tiebreak)
	b = binary.BigEndian.AppendUint64(b, uint64(e.CreatedTime)^signBit)
	return Key(append(b, e.Member...))
}

// Prefix returns the part of the key that all entries with this score and tiebreak share.
func (c Codec) Prefix(score, tiebreak int64) Key {
	var room [PrefixLen]byte
	return Key(c.appendPrefix(room[:0], score, tiebreak))
}

func (c Codec) appendPrefix(b []byte, score, tiebreak int64) []byte {
	s, t := c.Stored(score, tiebreak)
	b = binary.BigEndian.AppendUint64(b, ^(uint64(s) ^ signBit))
	return binary.BigEndian.AppendUint64(b, ^(uint64(t) ^ signBit))
}

// Entry decodes a key.
func (c Codec) Entry(k Key) (leaderboard.Entry, error) {
	if !k.Valid() {
		return leaderboard.Entry{}, ErrKey
	}
	s := int64(^beUint64(k[0:8]) ^ signBit)
	t := int64(^beUint64(k[8:16]) ^ signBit)
	e := leaderboard.Entry{Member: string(k[HeadLen:]), CreatedTime: leaderboard.Micros(beUint64(k[16:24]) ^ signBit)}
	e.Score, e.Tiebreak = c.Stored(s, t)
	return e, nil
}

// Valid reports whether k has the form of a key: a head and a member of 1 to 64 bytes.
func (k Key) Valid() bool { return len(k) > HeadLen && len(k) <= HeadLen+leaderboard.MaxMember }

// Prefix returns the part that tied entries share.
func (k Key) Prefix() Key { return k[:PrefixLen] }

// Member returns the member at the end of the key.
func (k Key) Member() string { return string(k[HeadLen:]) }

// Tied reports whether two keys have the same score and tiebreak.
func Tied(a, b Key) bool { return a[:PrefixLen] == b[:PrefixLen] }

func beUint64(k Key) uint64 {
	_ = k[7]
	return uint64(k[0])<<56 | uint64(k[1])<<48 | uint64(k[2])<<40 | uint64(k[3])<<32 |
		uint64(k[4])<<24 | uint64(k[5])<<16 | uint64(k[6])<<8 | uint64(k[7])
}

// Head is a Key without the member, as three numbers: score, tiebreak and created_time, each such that less is better.
// Heads of one board compare like the first HeadLen bytes of keys.
type Head [3]uint64

// Head returns the head of an entry's key.
func (c Codec) Head(e *leaderboard.Entry) Head {
	s, t := c.Stored(e.Score, e.Tiebreak)
	return Head{^(uint64(s) ^ signBit), ^(uint64(t) ^ signBit), uint64(e.CreatedTime) ^ signBit}
}

// HeadOf returns the head of a key of at least HeadLen bytes.
func HeadOf(k Key) Head {
	return Head{beUint64(k[0:8]), beUint64(k[8:16]), beUint64(k[16:24])}
}

// Decode returns the entry of a head, without its member.
func (c Codec) Decode(h Head) leaderboard.Entry {
	e := leaderboard.Entry{CreatedTime: leaderboard.Micros(h[2] ^ signBit)}
	e.Score, e.Tiebreak = c.Stored(int64(^h[0]^signBit), int64(^h[1]^signBit))
	return e
}

// Compare returns -1 when h is ranked before o, 1 when after, and 0 when the member decides.
func (h *Head) Compare(o *Head) int {
	if h[0] != o[0] {
		return cmp.Compare(h[0], o[0])
	}
	if h[1] != o[1] {
		return cmp.Compare(h[1], o[1])
	}
	return cmp.Compare(h[2], o[2])
}

// Tied reports whether two heads have the same score and tiebreak.
func (h *Head) Tied(o *Head) bool { return h[0] == o[0] && h[1] == o[1] }

// AppendTo appends the first HeadLen bytes of the key.
func (h *Head) AppendTo(b []byte) []byte {
	for _, v := range h {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// The encoded form of an index. Numbers are varints as in encoding/binary, unsigned but for as_of and incarnation:
//
//	"LBRI"  version (2)  flags (1 byte)
//	target  incarnation  seq  as_of  total  buckets
//	count of the first bucket
//	for each other bucket: bytes shared with the boundary before, bytes that follow, these bytes, count
//	CRC-32C of all that, 4 bytes big endian
//
// Neighbouring boundaries usually share score and tiebreak, so a bucket takes about 20 bytes. flagPartial marks a build
// under way: the last bucket has the count 0 and starts where the build goes on.
const (
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

// Decode reads what Index.AppendBinary wrote, in O(bytes). Anything else, a build under way and another version
// included, is ErrDamaged: the index is then built from scratch.
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

// Resume reads what Builder.AppendBinary wrote; the build goes on at Next. A whole index is a build with nothing left
// to append. Anything else is ErrDamaged.
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

// buckets reads the boundaries into one piece of memory and then cuts that into keys.
func (r *reader) buckets(im *image, n int) {
	im.counts = append(make([]int64, 0, n), r.number())
	ends := append(make([]int, 0, n), 0)
	var all, last []byte
	for range n - 1 {
		shared, added := r.number(), r.number()
		if r.bad || shared > int64(len(last)) || added > maxBound-shared {
			r.bad = true
			return
		}
		suffix := r.bytes(int(added))
		// Boundaries ascend: each is longer than the one before, or greater at the first byte that differs.
		if more := last[shared:]; string(suffix) <= string(more) {
			r.bad = true
			return
		}
		start := len(all)
		all = append(append(all, last[:shared]...), suffix...)
		last = all[start:]
		ends = append(ends, len(all))
		im.counts = append(im.counts, r.number())
	}
	keys := Key(all)
	im.bounds = append(make([]Key, 0, n), "")
	for i := 1; i < n; i++ {
		im.bounds = append(im.bounds, keys[ends[i-1]:ends[i]])
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
