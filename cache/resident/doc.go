// Package resident keeps whole periods in memory, so that every question about them is answered without a round trip:
// strict, tied and dense ranks at any depth, pages, slices around a member, the rank of a score, a histogram.
//
// Read it bottom up. A Period is one period at one state, without I/O and without a clock: slab keeps the entries,
// members finds one by its member, order counts them, query and combined answer. Periods are all periods that are in
// memory or may be loaded: candidate is one of them, choose decides which are worth their memory, load reads one, and
// periods has the goroutines that load periods and fold commits: commits of this process by Committed, commits of other
// servers from the change log once the feed has shown that a period moved. A period in memory is exact at the state
// that it names; the reader judges whether that is new enough.
//
// An entry with an id of 13 bytes takes about 65 bytes:
//
//	slab      32 of the record and 16 of the name; chunks without pointers, which the garbage collector passes over
//	members    10 to 13 of an open table, 256 of them so that growing one is short
//	order      4 of the record's number, in blocks of up to 512 that are 67 to 75 % full; a bit for tied entries
//
// Two Fenwick trees over the blocks count entries and groups of tied entries: a rank is a binary search over the
// blocks, one within a block, and a prefix sum. Dense ranks are prefix sums over groups, so they cost what strict ranks
// do.
package resident
