package rank

import (
	"encoding/binary"
	"hash/crc32"
)

// The encoded form of an index. Numbers are varints as in encoding/binary, unsigned but for as_of and history:
//
//	"LBRI"  version (2)  flags (1 byte)
//	target  history  seq  as_of  total  buckets
//	count of the first bucket
//	for each other bucket: bytes shared with the boundary before, bytes that follow, these bytes, count
//	CRC-32C of all that, 4 bytes big endian
//
// Boundaries near each other share score and tiebreak more often than not, so a bucket takes about 20 bytes.
// With flagPartial it is a build under way: the last bucket has the count 0 and starts where the build goes on.
const (
	encodeMagic = "LBRI\x02"
	flagPartial = 1
	crcLen      = 4
)

// image is what is encoded.
type image struct {
	partial bool
	at      State
	target  int64
	bounds  []Key
	counts  []int64
}

// AppendBinary appends the encoded index, a few dozen bytes per bucket, which Decode reads. The bytes depend on
// nothing but state, target, boundaries and counts. The error is ErrDamaged or nil.
func (x *Index) AppendBinary(b []byte) ([]byte, error) {
	if x.damaged {
		return nil, ErrDamaged
	}
	im := image{at: x.at, target: x.target, bounds: x.bounds, counts: x.counts}
	return im.appendTo(b), nil
}

// AppendBinary appends the encoded build, which Resume reads. The error is ErrUnfinished while there is no bucket yet
// or commits up to the newest one are missing, or ErrDamaged.
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
	b = binary.AppendVarint(b, im.at.History)
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
