package resident

import (
	"bytes"
	"hash/maphash"
	"math"
	"math/bits"
	"sync/atomic"
)

// memberShards is the number of tables over which the members are spread. A full table is made again, larger, alone: at
// ten million members that takes as long as 40,000 look-ups.
const memberShards = 256

// members finds the record of a member: open addressing with linear probing, and on removal the entries after the hole
// move up (Knuth, The Art of Computer Programming 3, 6.4, Algorithm R), so that there are no tombstones.
type members struct {
	touched atomic.Uint64 // keeps the compiler from leaving out the reading ahead of findAll
	slab    *slab
	shards  [memberShards]memberShard
}

// seed is the seed of the hashes of all periods: a member that is looked up in many is hashed once.
var seed = maphash.MakeSeed()

type memberShard struct {
	slots []slot
	used  int
}

// slot is the number of a record + 1, 0 when free, and the hash of its member, so that a search hardly ever looks at another
// record.
type slot struct{ number, hash uint32 }

func newMembers(s *slab) *members { return &members{slab: s} }

// shard returns the shard of a hash, and the hash within it.
func (m *members) shard(hash uint64) (*memberShard, uint32) {
	return &m.shards[hash>>56], uint32(hash)
}

// home returns the slot where the search for a hash begins.
func (s *memberShard) home(hash uint32) int {
	hi, _ := bits.Mul32(hash, uint32(len(s.slots)))
	return int(hi)
}

// find returns the number of the member's record.
func (m *members) find(member []byte) (uint32, bool) {
	s, hash := m.shard(maphash.Bytes(seed, member))
	if s.used == 0 {
		return 0, false
	}
	_, number := m.search(s, hash, member)
	return number - 1, number != 0
}

// search returns the slot of a member in its shard, and the number in it; where the member is not there, the free slot for it and 0.
func (m *members) search(s *memberShard, hash uint32, member []byte) (at int, number uint32) {
	at, number = s.match(s.home(hash), hash)
	for number != 0 && !bytes.Equal(m.slab.member(m.slab.at(number-1)), member) {
		at, number = s.match(s.next(at), hash)
	}
	return at, number
}

// search is the search for a member: its present slot, and the number + 1 of the record there; 0: the slot is empty.
type search struct {
	shard  *memberShard
	hash   uint32
	at     int
	number uint32
}

// in returns the search for the member with a hash, before its first step.
func (m *members) in(of uint64) search {
	s, hash := m.shard(of)
	return search{shard: s, hash: hash}
}

// begin finds the first record that may be the member's.
func (w *search) begin() {
	if w.shard.used > 0 {
		w.at, w.number = w.shard.match(w.shard.home(w.hash), w.hash)
	}
}

// end continues until the record is the member's, or the slot is empty.
func (m *members) end(w *search, member string) {
	for w.number != 0 && string(m.slab.member(m.slab.at(w.number-1))) != member {
		w.at, w.number = w.shard.match(w.shard.next(w.at), w.hash)
	}
}

// findAll returns the number + 1 of each member's record, 0 for members without a record. It takes each step for all
// members, so that the processor waits for many memory accesses at a time.
func (m *members) findAll(members []string) []uint32 {
	searches, found := make([]search, len(members)), make([]uint32, len(members))
	for i, member := range members {
		searches[i] = m.in(maphash.String(seed, member))
		searches[i].begin()
	}
	heads, names := uint64(0), byte(0)
	for i := range searches {
		if n := searches[i].number; n != 0 {
			heads ^= uint64(m.slab.at(n - 1).name)
		}
	}
	for i := range searches {
		if n := searches[i].number; n != 0 {
			if name := m.slab.member(m.slab.at(n - 1)); len(name) > 0 {
				names ^= name[0]
			}
		}
	}
	m.touched.Store(heads ^ uint64(names))
	for i, member := range members {
		m.end(&searches[i], member)
		found[i] = searches[i].number
	}
	return found
}

// match returns the first slot from i on with a hash, and the number in it, or 0.
func (s *memberShard) match(i int, hash uint32) (at int, number uint32) {
	for s.slots[i].number != 0 && s.slots[i].hash != hash {
		i = s.next(i)
	}
	return i, s.slots[i].number
}

func (s *memberShard) next(i int) int {
	if i++; i < len(s.slots) {
		return i
	}
	return 0
}

// put adds a record, and reports whether it could: not when another record has its member.
func (m *members) put(n uint32) bool {
	member := m.slab.member(m.slab.at(n))
	s, hash := m.shard(maphash.Bytes(seed, member))
	if s.used+1 > len(s.slots)*4/5 {
		s.grow(len(s.slots)*4/3 + 1)
	}
	at, number := m.search(s, hash, member)
	if number == 0 {
		s.slots[at] = slot{n + 1, hash}
		s.used++
	}
	return number == 0
}

// expect makes room for a number of members, with a margin because hashes spread over the shards a little unevenly.
func (m *members) expect(n int64) {
	if n == 0 {
		return
	}
	each := float64(n) / memberShards
	for i := range m.shards {
		m.shards[i].grow(int((each + 4*math.Sqrt(each)) * 5 / 4))
	}
}

func (m *members) hash(n uint32) uint64 { return maphash.Bytes(seed, m.slab.member(m.slab.at(n))) }

func (s *memberShard) put(n, hash uint32) {
	i := s.home(hash)
	for s.slots[i].number != 0 {
		i = s.next(i)
	}
	s.slots[i] = slot{n + 1, hash}
	s.used++
}

// grow makes a shard larger.
func (s *memberShard) grow(slots int) {
	old := s.slots
	*s = memberShard{slots: make([]slot, max(8, slots))}
	for _, o := range old {
		if o.number != 0 {
			s.put(o.number-1, o.hash)
		}
	}
}

// remove takes a record out, before its member's bytes change.
func (m *members) remove(n uint32) {
	s, hash := m.shard(m.hash(n))
	i := s.home(hash)
	for s.slots[i].number != n+1 {
		i = s.next(i)
	}
	s.used--
	for hole := i; ; {
		s.slots[hole] = slot{}
		for {
			if i = s.next(i); s.slots[i].number == 0 {
				return
			}
			if home := s.home(s.slots[i].hash); !between(hole, home, i) {
				break
			}
		}
		s.slots[hole] = s.slots[i]
		hole = i
	}
}

// between reports whether home lies cyclically in (hole, i]: then the search for the record in slot i does not pass the
// hole.
func between(hole, home, i int) bool {
	if hole <= i {
		return hole < home && home <= i
	}
	return hole < home || home <= i
}

// bytes returns the memory that the tables take.
func (m *members) bytes() int64 {
	var n int64
	for i := range m.shards {
		n += int64(cap(m.shards[i].slots)) * 8
	}
	return n
}
