package rank

import (
	"errors"
	"fmt"

	"leaderboard/leaderboard"
)

// ErrUnfinished means that a build lacks buckets or commits.
var ErrUnfinished = errors.New("rank: the index is not finished")

// Builder makes an Index while the period changes, without an open snapshot: every bucket is counted at its own state,
// and a commit is folded only into buckets with older states.
//
//	for from, more := b.Next(); more; from, more = b.Next() {
//		// in one snapshot: the state, and the key Target entries from from on ("": fewer are left)
//		b.Append(state, to, count)
//		// now and then, at the latest at the end: b.Fold(codec, each commit after b.At())
//	}
//	index, err := b.Finish()
//
// The states must not go back: a bucket that is appended must have been read after the commits that were folded. A
// Builder is not safe for concurrent use.
type Builder struct {
	target int64
	at     State // folded up to here
	newest State // the newest state that a bucket was counted at; the log must get there
	next   Key   // where the next bucket starts
	done   bool  // the last bucket is there
	bounds []Key
	counts []int64
	seqs   []int64 // the state that each bucket was counted at

	damaged bool
}

// NewBuilder starts an index with about target entries per bucket.
func NewBuilder(target int) *Builder {
	return &Builder{target: min(max(int64(target), 1), maxTarget)}
}

// Target returns the number of entries that a bucket is meant to have.
func (b *Builder) Target() int64 { return b.target }

// Next returns where the next bucket starts, "" for the first; false when the last bucket has been appended.
func (b *Builder) Next() (Key, bool) { return b.next, !b.done }

// At returns the state up to which commits have been folded; at first, the state of the first bucket.
func (b *Builder) At() State { return b.at }

// Counted returns the number of entries in the buckets so far.
func (b *Builder) Counted() int64 {
	var n int64
	for _, c := range b.counts {
		n += c
	}
	return n
}

// Append adds the bucket of the entries from Next up to, but not including, to; at names the state at which it had
// count entries. A to of "" makes it the last bucket. Errors: ErrCut for a to that is not after Next or after the last
// bucket, ErrGap when at is older than At, ErrDiverged.
func (b *Builder) Append(at State, to Key, count int64) error {
	switch {
	case b.damaged:
		return ErrDamaged
	case b.done:
		return fmt.Errorf("%w: the last bucket was there already", ErrCut)
	case to != "" && to <= b.next, len(to) > maxBound, count < 0:
		return fmt.Errorf("%w: %d entries from %x to %x", ErrCut, count, b.next, to)
	case len(b.bounds) == 0:
		b.at, b.newest = at, at
	case at.differs(b.at), at.differs(b.newest):
		return fmt.Errorf("%w at seq %d", ErrDiverged, at.Seq)
	case at.Seq < b.at.Seq:
		return fmt.Errorf("%w: folded up to seq %d, a bucket counted at %d", ErrGap, b.at.Seq, at.Seq)
	case at.Seq > b.newest.Seq:
		b.newest = at
	}
	b.bounds = append(b.bounds, b.next)
	b.counts = append(b.counts, count)
	b.seqs = append(b.seqs, at.Seq)
	b.next, b.done = to, to == ""
	return nil
}

// Fold applies a commit to the buckets that are older than it. codec is the board's codec. It ignores a commit that is
// folded already. Errors: ErrGap when commits between At and c are missing, ErrDiverged, ErrDamaged; after the last two
// a new build must start.
func (b *Builder) Fold(codec Codec, c *leaderboard.Commit) error {
	switch {
	case b.damaged:
		return ErrDamaged
	case len(b.bounds) == 0:
		return fmt.Errorf("%w: no bucket yet", ErrUnfinished)
	}
	if news, err := b.at.Follows(c); err != nil || !news {
		return err
	}
	if StateOf(c).differs(b.newest) {
		return fmt.Errorf("%w at seq %d", ErrDiverged, c.LastSeq)
	}
	for i := range c.Changes {
		err := eachSide(codec, &c.Changes[i], func(key Key, delta int64) error {
			return b.count(key, delta, c.LastSeq)
		})
		if err != nil {
			b.damaged = true
			return fmt.Errorf("folding seq %d: %w", c.Changes[i].Seq, err)
		}
	}
	b.at = StateOf(c)
	return nil
}

// count adds delta to the bucket of key, unless the bucket was counted at seq or later or does not exist yet: then its
// count will include the change.
func (b *Builder) count(key Key, delta, seq int64) error {
	if !b.done && key >= b.next {
		return nil
	}
	i := search(b.bounds, key)
	if seq <= b.seqs[i] {
		return nil
	}
	if b.counts[i] += delta; b.counts[i] < 0 {
		return fmt.Errorf("%w: a removed entry was never counted", ErrDamaged)
	}
	return nil
}

// Finish returns the index at the state At. Errors: ErrUnfinished while the last bucket or commits up to the newest
// bucket are missing, ErrDamaged when the counts do not add up to the entries of that state. The builder must not be
// used after success.
func (b *Builder) Finish() (*Index, error) {
	if !b.done {
		return nil, fmt.Errorf("%w: the last bucket is missing", ErrUnfinished)
	}
	if err := b.level(); err != nil {
		return nil, err
	}
	if n := b.Counted(); n != b.at.Total {
		return nil, fmt.Errorf("%w: %d entries counted at seq %d, the log says %d", ErrDamaged, n, b.at.Seq, b.at.Total)
	}
	x := newIndex(b.at, b.target, b.bounds, b.counts)
	b.bounds, b.counts = nil, nil // the index owns them now
	return x, nil
}

// level returns nil when all buckets are at one state.
func (b *Builder) level() error {
	switch {
	case b.damaged:
		return ErrDamaged
	case len(b.bounds) == 0:
		return fmt.Errorf("%w: no bucket yet", ErrUnfinished)
	case b.at.Seq < b.newest.Seq:
		return fmt.Errorf("%w: folded up to seq %d, a bucket was counted at %d", ErrUnfinished, b.at.Seq, b.newest.Seq)
	}
	return nil
}
