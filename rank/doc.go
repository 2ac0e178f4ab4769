// Package rank is the arithmetic of ranks: the sort key, the numbering of ties, and the index that finds any rank at
// any depth. It is pure: no I/O, no clock, no locks.
//
// # The sort key
//
// A Key is an order-preserving code of an entry (design promise P1). Plain byte comparison of two keys of one period
// is the order of the period, the best entry first:
//
//	bytes  0– 8  score         big endian, oriented so that better is smaller
//	bytes  8–16  tiebreak      the same, in its own direction
//	bytes 16–24  created_time  µs since 1970, big endian, sign bit flipped: earlier is smaller
//	bytes 24–    member        as it is
//
// So that, for all entries a, b of a period:
//
//	key(a) < key(b)        ⇔  a is ranked before b (strict)
//	key(a)[:16] < key(b)[:16]  ⇔  a has a better (score, tiebreak)
//	decode(key(a)) = a
//
// The one structure "set of keys ordered by bytes" therefore yields the strict rank of an entry (keys before its key)
// and its tied rank (keys before its 16-byte prefix). It is the member of the Redis zset, the cursor of a page and the
// boundary of a bucket. The technique is that of rsc.io/ordered; the layout is fixed by golden bytes in the tests.
package rank
