package resident

import (
	"unsafe"

	"leaderboard/rank"
)

const (
	slabRecords = 1 << 13 // records of a chunk, 256 KiB
	slabNames   = 1 << 18 // bytes of a chunk of names; no name lies in two
	nameUnit    = 4       // names begin at multiples of it, so that 16 GiB of names can be addressed

	recordBytes = int64(unsafe.Sizeof(record{}))
)

// record is one entry: 32 bytes without a pointer.
type record struct {
	head rank.Head
	name uint32 // where the bytes of the member begin, in units
	// where is the id of the block that the record is in, and in the lowest 8 bits the length of the member.
	where uint32
}

func (r *record) length() uint32 { return r.where & 0xff }
func (r *record) block() uint32  { return r.where >> 8 }

func (r *record) setBlock(id uint32) { r.where = id<<8 | r.length() }

// slab keeps records and the bytes of their members in chunks that the garbage collector does not look into. A record
// is named by its number; numbers and names of removed records are used again.
type slab struct {
	records [][]record
	names   [][]byte
	used    uint32 // numbers given out so far
	end     uint32 // of the names, in units
	free    []uint32
	holes   [16 + 1][]uint32 // free names by their length in units
}

// at returns the record with a number.
func (s *slab) at(n uint32) *record { return &s.records[n/slabRecords][n%slabRecords] }

// member returns the bytes of a record's member. They change when the record is removed.
func (s *slab) member(r *record) []byte {
	chunk := s.names[r.name/(slabNames/nameUnit)]
	from := r.name % (slabNames / nameUnit) * nameUnit
	return chunk[from : from+r.length()]
}

// add makes a record.
func (s *slab) add(head rank.Head, member string) uint32 {
	n := s.used
	if last := len(s.free) - 1; last >= 0 {
		n, s.free = s.free[last], s.free[:last]
	} else {
		s.records = withRoom(s.records, int(n), 1, slabRecords)
		s.used++
	}
	r := s.at(n)
	*r = record{head: head, name: s.room(units(member)), where: uint32(len(member))}
	copy(s.member(r), member)
	return n
}

// remove gives up a record.
func (s *slab) remove(n uint32) {
	r := s.at(n)
	u := (r.length() + nameUnit - 1) / nameUnit
	s.holes[u] = append(s.holes[u], r.name)
	s.free = append(s.free, n)
}

// room finds a place for a name of u units.
func (s *slab) room(u uint32) uint32 {
	if last := len(s.holes[u]) - 1; last >= 0 {
		at := s.holes[u][last]
		s.holes[u] = s.holes[u][:last]
		return at
	}
	const chunk = slabNames / nameUnit
	if s.end%chunk+u > chunk {
		s.end = (s.end/chunk + 1) * chunk
	}
	s.names = withRoom(s.names, int(s.end)*nameUnit, int(u)*nameUnit, slabNames)
	s.end += u
	return s.end - u
}

// bytes returns the memory that the slab takes.
func (s *slab) bytes() int64 {
	b := int64(cap(s.free)) * 4
	for _, chunk := range s.records {
		b += int64(len(chunk)) * recordBytes
	}
	for _, chunk := range s.names {
		b += int64(len(chunk))
	}
	for _, h := range s.holes {
		b += int64(cap(h)) * 4
	}
	return b
}

// withRoom returns chunks in which the n items from at on, all of one chunk, have room. The first chunk begins small and
// doubles, so that a small period takes little.
func withRoom[T any](chunks [][]T, at, n, full int) [][]T {
	const small = 128
	i, end := at/full, at%full+n
	if i == len(chunks) {
		size := full
		if i == 0 {
			size = min(small, full)
		}
		chunks = append(chunks, make([]T, size))
	}
	for end > len(chunks[i]) {
		grown := make([]T, min(2*len(chunks[i]), full))
		copy(grown, chunks[i])
		chunks[i] = grown
	}
	return chunks
}

func units(member string) uint32 { return uint32(len(member)+nameUnit-1) / nameUnit }
