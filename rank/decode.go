package rank

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"leaderboard"
)

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

// consistent says whether total is what the counts say.
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
		return last > 0 && im.counts[last] == 0 // others are not counted yet, or have gone since
	}
	return sum == im.at.Total
}

// reader takes an encoded index apart. Once it is bad it reads zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) image() *image {
	flags := r.bytes(1)
	im := &image{partial: !r.bad && flags[0] == flagPartial}
	r.bad = r.bad || flags[0] > flagPartial
	im.target = r.number()
	im.at.History = r.signed()
	im.at.Seq = r.number()
	im.at.AsOf = leaderboard.Micros(r.signed())
	im.at.Total = r.number()
	n := r.number()
	// A bucket takes 3 bytes at least, so that a short input cannot ask for much memory.
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
		// Ascending: either longer than the boundary before, or greater where it goes on differently.
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

// number reads a varint that fits into an int64 and is not negative.
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

// bytes reads n bytes, of which there are none when the input is too short.
func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.bad = true
		return make([]byte, n)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}
