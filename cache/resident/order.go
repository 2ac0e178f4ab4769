package resident

import (
	"math/bits"
	"slices"
	"unsafe"

	"leaderboard/internal/fenwick"
	"leaderboard/rank"
)

const (
	blockLen  = 512 // records of a block at most
	blockFill = 384 // of a block that is filled in order, and at most of two that are made one
	blockLow  = 96  // a block with fewer is merged with a neighbour

	blockBytes = int64(unsafe.Sizeof(block{}))
)

// block is a run of consecutive entries.
type block struct {
	n  int
	id uint32 // its records say it
	// groups has a bit for each entry whose (score, tiebreak) differs from its predecessor's.
	groups  [blockLen / 64]uint64
	records [blockLen]uint32 // numbers, in the order of the period
}

// order is the order of a period, counted: every entry, and every group of entries that are tied with each other.
type order struct {
	slab   *slab
	blocks []*block // in order, never empty
	// last has the head of each block's last entry, side by side, so that a search for a block stays in the processor's
	// cache.
	last    []rank.Head
	index   []uint32 // by the id of a block: which it is
	free    []uint32 // ids
	entries fenwick.Tree
	groups  fenwick.Tree
}

// position is where an entry is, or would be put: at n of a block. The end of the order is {len(blocks), 0}.
type position struct{ block, n int }

// less reports whether an entry, given by its head and the number of its record, is ranked before a bound.
type less func(head *rank.Head, record uint32) bool

// find returns the first place whose entry is not less; the end when all are.
func (o *order) find(less less) position {
	low, high := 0, len(o.blocks)
	for low < high { // the first block whose last entry is not less
		mid := int(uint(low+high) >> 1)
		b := o.blocks[mid]
		if less(&o.last[mid], b.records[b.n-1]) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(o.blocks) {
		return position{block: low}
	}
	b := o.blocks[low]
	from, to := 0, b.n
	for from < to {
		mid := int(uint(from+to) >> 1)
		if n := b.records[mid]; less(&o.slab.at(n).head, n) {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return position{low, from}
}

// place returns where a record is. The record has the id of its block, and scanning the numbers of that takes less time than
// a search that looks at an entry, somewhere in memory, at each step.
func (o *order) place(record uint32) position {
	i := o.blockOf(o.slab.at(record))
	return position{i, o.blocks[i].find(record)}
}

// blockOf returns which block a record is in.
func (o *order) blockOf(r *record) int { return int(o.index[r.block()]) }

// find returns where a record of the block is in it. It compares several numbers at each step, which takes half the time of one by one.
func (b *block) find(record uint32) int {
	const step = 8
	i := 0
	for ; i+step <= b.n; i += step {
		r := (*[step]uint32)(b.records[i:])
		if r[0] == record || r[1] == record || r[2] == record || r[3] == record || r[4] == record || r[5] == record || r[6] == record || r[7] == record {
			break
		}
	}
	for ; i < b.n; i++ {
		if b.records[i] == record {
			return i
		}
	}
	return -1
}

// nth returns the place with n entries ahead of it.
func (o *order) nth(n int64) position {
	i, before := o.entries.Search(n)
	return position{i, int(n - before)}
}

// ahead returns the number of entries ahead of a place.
func (o *order) ahead(p position) int64 { return o.entries.Sum(p.block) + int64(p.n) }

// record returns the number at a place, false at the end.
func (o *order) record(p position) (uint32, bool) {
	if p.block == len(o.blocks) {
		return 0, false
	}
	return o.blocks[p.block].records[p.n], true
}

// next returns the place after p, which is not the end.
func (o *order) next(p position) position {
	if p.n++; p.n == o.blocks[p.block].n {
		return position{block: p.block + 1}
	}
	return p
}

// group returns how many groups begin ahead of or at the place of an entry, and the number of entries ahead of the
// group that it is in.
func (o *order) group(p position) (groups, ahead int64) {
	groups = o.groups.Sum(p.block) + int64(o.blocks[p.block].begun(p.n))
	i, before := o.groups.Search(groups - 1)
	return groups, o.entries.Sum(i) + int64(o.blocks[i].nthGroup(int(groups-1-before)))
}

// begun returns how many groups begin at the first n+1 entries.
func (b *block) begun(n int) int {
	count := 0
	for _, word := range b.groups[:n/64] {
		count += bits.OnesCount64(word)
	}
	return count + bits.OnesCount64(b.groups[n/64]<<(63-n%64))
}

// nthGroup returns the entry at which group n of the block begins.
func (b *block) nthGroup(n int) int {
	for i, word := range b.groups {
		if c := bits.OnesCount64(word); n >= c {
			n -= c
			continue
		}
		for ; n > 0; n-- {
			word &= word - 1
		}
		return i*64 + bits.TrailingZeros64(word)
	}
	return -1
}

func (b *block) begins(n int) bool { return b.groups[n/64]>>(n%64)&1 == 1 }

// setBegins sets whether a group begins at entry n, and returns by how many the groups have increased.
func (b *block) setBegins(n int, begins bool) int64 {
	bit := uint64(1) << (n % 64)
	switch was := b.begins(n); {
	case begins && !was:
		b.groups[n/64] |= bit
		return 1
	case !begins && was:
		b.groups[n/64] &^= bit
		return -1
	}
	return 0
}

// insert puts a record before the record at a place.
func (o *order) insert(p position, record uint32) {
	switch {
	case len(o.blocks) == 0:
		o.blocks = append(o.blocks, o.newBlock())
		o.recount()
	case p.block == len(o.blocks): // after the last
		p = position{p.block - 1, o.blocks[p.block-1].n}
	}
	if o.blocks[p.block].n == blockLen {
		p = o.split(p)
	}
	b := o.blocks[p.block]
	copy(b.records[p.n+1:b.n+1], b.records[p.n:b.n])
	b.records[p.n] = record
	o.slab.at(record).setBlock(b.id)
	insertBit(&b.groups, p.n)
	b.n++
	o.setLast(p.block)
	o.entries.Add(p.block, 1)
	o.regroup(p)
	o.regroup(o.next(p))
}

// remove takes out the record at a place.
func (o *order) remove(p position) {
	b := o.blocks[p.block]
	if b.setBegins(p.n, false) != 0 {
		o.groups.Add(p.block, -1)
	}
	copy(b.records[p.n:b.n-1], b.records[p.n+1:b.n])
	removeBit(&b.groups, p.n)
	b.n--
	o.entries.Add(p.block, -1)
	if b.n > 0 {
		o.setLast(p.block)
	}
	if b.n < blockLow {
		p = o.join(p)
	}
	if p.block < len(o.blocks) && p.n == o.blocks[p.block].n {
		p = position{block: p.block + 1}
	}
	o.regroup(p)
}

// regroup determines again whether a group begins at a place, which may be the end.
func (o *order) regroup(p position) {
	n, ok := o.record(p)
	if !ok {
		return
	}
	before := p
	if before.n--; before.n < 0 {
		if before.block--; before.block >= 0 {
			before.n = o.blocks[before.block].n - 1
		}
	}
	begins := before.block < 0
	if !begins {
		last, _ := o.record(before)
		begins = !o.slab.at(last).head.Tied(&o.slab.at(n).head)
	}
	if delta := o.blocks[p.block].setBegins(p.n, begins); delta != 0 {
		o.groups.Add(p.block, delta)
	}
}

// split cuts the full block of a place in two and returns where the place is then.
func (o *order) split(p position) position {
	b, half := o.blocks[p.block], o.newBlock()
	const cut = blockLen / 2
	half.n = copy(half.records[:], b.records[cut:])
	o.claim(half)
	copy(half.groups[:], b.groups[cut/64:])
	b.n = cut
	o.blocks = slices.Insert(o.blocks, p.block+1, half)
	o.recount()
	if p.n > cut {
		p = position{p.block + 1, p.n - cut}
	}
	return p
}

// join makes a small block and a neighbour one, if that is not too large, and returns where the place is then. A block
// without entries goes in any case.
func (o *order) join(p position) position {
	left := p.block - 1
	if left < 0 || o.blocks[left].n+o.blocks[p.block].n > blockFill {
		left = p.block
	}
	right := left + 1
	switch {
	case right < len(o.blocks) && o.blocks[left].n+o.blocks[right].n <= blockFill:
		a, b := o.blocks[left], o.blocks[right]
		if right == p.block {
			p = position{left, a.n + p.n}
		}
		for i, record := range b.records[:b.n] {
			a.records[a.n] = record
			a.setBegins(a.n, b.begins(i))
			a.n++
		}
		o.claim(a)
	case o.blocks[p.block].n == 0:
		right = p.block
		p = position{block: p.block}
	default:
		return p
	}
	o.free = append(o.free, o.blocks[right].id)
	o.blocks = slices.Delete(o.blocks, right, right+1)
	o.recount()
	return p
}

// newBlock returns an empty block that is in no order yet.
func (o *order) newBlock() *block {
	if last := len(o.free) - 1; last >= 0 {
		id := o.free[last]
		o.free = o.free[:last]
		return &block{id: id}
	}
	o.index = append(o.index, 0)
	return &block{id: uint32(len(o.index) - 1)}
}

// claim writes the id of a block into all of its records.
func (o *order) claim(b *block) {
	for _, record := range b.records[:b.n] {
		o.slab.at(record).setBlock(b.id)
	}
}

// setLast notes the head of the last entry of a block, which is not empty.
func (o *order) setLast(i int) {
	b := o.blocks[i]
	o.last[i] = o.slab.at(b.records[b.n-1]).head
}

// recount computes the sums over the list of blocks again: some ten microseconds for a million entries, once in some
// hundred changes.
func (o *order) recount() {
	entries, groups := make([]int64, len(o.blocks)), make([]int64, len(o.blocks))
	o.last = slices.Grow(o.last[:0], len(o.blocks))[:len(o.blocks)]
	for i, b := range o.blocks {
		o.index[b.id] = uint32(i)
		if b.n > 0 {
			entries[i], groups[i] = int64(b.n), int64(b.begun(b.n-1))
			o.setLast(i)
		}
	}
	o.entries, o.groups = fenwick.New(entries), fenwick.New(groups)
}

// add puts a record after the last. The trees do not count it before recount.
func (o *order) add(record uint32) {
	last := len(o.blocks) - 1
	if last < 0 || o.blocks[last].n >= blockFill {
		o.blocks = append(o.blocks, o.newBlock())
		last++
	}
	b := o.blocks[last]
	begins := last == 0 && b.n == 0
	if !begins {
		before := b
		if b.n == 0 {
			before = o.blocks[last-1]
		}
		begins = !o.slab.at(before.records[before.n-1]).head.Tied(&o.slab.at(record).head)
	}
	b.records[b.n] = record
	o.slab.at(record).setBlock(b.id)
	b.setBegins(b.n, begins)
	b.n++
}

// bytes returns the memory that the order takes.
func (o *order) bytes() int64 { return int64(len(o.blocks)) * (blockBytes + 8 + 16 + 24 + 4) }

// insertBit moves the bits from n on up by one; bit n is 0 then.
func insertBit(words *[blockLen / 64]uint64, n int) {
	i := n / 64
	low := uint64(1)<<(n%64) - 1
	carry := words[i] >> 63
	words[i] = words[i]&low | (words[i]&^low)<<1
	for i++; i < len(words); i++ {
		carry, words[i] = words[i]>>63, words[i]<<1|carry
	}
}

// removeBit takes bit n out and moves the bits above it down by one.
func removeBit(words *[blockLen / 64]uint64, n int) {
	i := n / 64
	low := uint64(1)<<(n%64) - 1
	words[i] = words[i]&low | (words[i]>>1)&^low
	for ; i+1 < len(words); i++ {
		words[i] |= words[i+1] << 63
		words[i+1] >>= 1
	}
}
