package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

var (
	// errMoved: the statements of one answer saw states that cannot be brought together. Asking again helps.
	errMoved = errors.New("store: the period moved on while it was read")
	// errTooOld is a state that a history no longer reaches back to.
	errTooOld = errors.New("store: a state before the remembered history")
	// errBehind is a state that an index has not been folded to.
	errBehind = errors.New("store: a state ahead of the index")
)

// tracker keeps the rank index of one period, see indexes for how answers come from it.
type tracker struct {
	ref    leaderboard.PeriodRef
	target int64         // entries that a bucket is meant to have, at least 1
	turn   chan struct{} // holds a value while somebody reads the log: one at a time

	used       atomic.Int64 // when it was last asked, in ticks of the keeper
	maintained atomic.Bool  // somebody splits and saves

	mu      sync.RWMutex // guards the fields below
	index   *rank.Index
	past    history
	broken  error // why the index is of no more use
	unsaved int64 // changes folded since it was saved
	savedAt time.Time
}

// newTracker takes the index over. unsaved is the number of changes since it was saved.
func newTracker(ref leaderboard.PeriodRef, index *rank.Index, unsaved int64) *tracker {
	return &tracker{
		ref: ref, target: index.Target(), index: index, past: history{start: index.At()}, unsaved: unsaved,
		turn: make(chan struct{}, 1), savedAt: time.Now(),
	}
}

// at is the state that the index has been folded to.
func (t *tracker) at() rank.Mark {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.index.At()
}

// find are the buckets of keys, and the state at which that is true.
func (t *tracker) find(keys []rank.Key) ([]rank.Span, rank.Mark, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.broken != nil {
		return nil, rank.Mark{}, t.broken
	}
	spans := make([]rank.Span, len(keys))
	for i, k := range keys {
		spans[i] = t.index.Find(k)
	}
	return spans, t.index.At(), nil
}

// nth is a bucket that begins at most n entries after the first entry of the period at state m, as near to it as it
// gets, and the number of entries ahead of the bucket at m; without m, at the state that is returned.
func (t *tracker) nth(n int64, m *rank.Mark) (rank.Key, int64, rank.Mark, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	at := t.index.At()
	if t.broken != nil {
		return "", 0, at, t.broken
	}
	for guess := min(n, at.Total-1); guess >= 0; {
		span, ok := t.index.Nth(guess)
		if !ok {
			break
		}
		before := span.Before
		if m != nil {
			p, err := t.past.path(at, *m)
			if err != nil {
				return "", 0, at, err
			}
			before += p.shifts([]rank.Key{span.From})[0]
		}
		if before <= n {
			if m != nil {
				at = *m
			}
			return span.From, before, at, nil
		}
		guess = min(guess-(before-n), span.Before-1)
	}
	return "", 0, at, nil
}

// until is a key that more than n entries are ahead of, at about the state of the index; "" when there are no more.
func (t *tracker) until(n int64) rank.Key {
	t.mu.RLock()
	defer t.mu.RUnlock()
	span, ok := t.index.Nth(n)
	if !ok {
		return ""
	}
	return span.To
}

// span is the bucket with the entry that n others are ahead of, and bucket the one that a key belongs to, at the state of
// the index, whichever that is: both are good for choosing where to look.
func (t *tracker) span(n int64) (rank.Span, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.index.Nth(n)
}

func (t *tracker) bucket(k rank.Key) rank.Span {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.index.Find(k)
}

// carry returns by how much the number of entries ahead of each key differs between two states.
func (t *tracker) carry(keys []rank.Key, from, to rank.Mark) ([]int64, error) {
	t.mu.RLock()
	p, err := t.past.path(from, to)
	t.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return p.shifts(keys), nil
}

// fold takes the index one commit further. A commit that it has seen is passed over, rank.ErrGap leaves it as it is,
// other errors are the end of it.
func (t *tracker) fold(s step) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return t.broken
	}
	at := t.index.At()
	if err := t.index.Fold(s.codec, s.commit); err != nil {
		if !errors.Is(err, rank.ErrGap) {
			t.broken = err
		}
		return err
	}
	if t.index.At() == at {
		return nil
	}
	t.past.push(s)
	t.unsaved += int64(len(s.commit.Changes))
	t.index.Compact()
	return nil
}

// spoil ends the use of the index.
func (t *tracker) spoil(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil {
		t.broken = err
	}
}

// state says whether the index is usable still, and whether it has work to be done on: buckets to split, or changes to
// save once there are saveEvery.
func (t *tracker) wantsWork(saveEvery int64) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.broken == nil && (t.unsaved >= saveEvery || len(t.index.Overgrown()) > 0)
}

// bytes is about how much memory the index takes.
func (t *tracker) bytes() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	const perBucket = 100 // two counts, a boundary of about 40 bytes and its header, spare room
	return int64(t.index.Len())*perBucket + int64(t.past.changes)*300
}

// markOf is the state that an answer of the database is true at.
func markOf(s leaderboard.State) rank.Mark {
	return rank.Mark{Seq: s.Seq, AsOf: s.AsOf, Total: s.Total}
}

// check compares the index with the total that the database has at the same state.
func (t *tracker) check(m rank.Mark) error {
	if at := t.at(); at.Seq == m.Seq && at != m {
		if at.AsOf != m.AsOf {
			return fmt.Errorf("%w: at seq %d", rank.ErrForked, m.Seq)
		}
		return fmt.Errorf("%w: %d entries at seq %d, the database has %d", rank.ErrDamaged, at.Total, m.Seq, m.Total)
	}
	return nil
}
