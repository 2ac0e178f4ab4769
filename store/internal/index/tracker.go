package index

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Tracker keeps the rank index of one period, see Indexes for how answers come from it.
type Tracker struct {
	ref     leaderboard.PeriodRef
	target  int64         // entries that a bucket is meant to have, at least 1
	reading chan struct{} // holds a value while a goroutine reads the log: only one may

	used       atomic.Int64 // when it was last asked, in ticks of the indexes
	maintained atomic.Bool  // a goroutine splits and saves

	mu      sync.RWMutex // guards the fields below
	index   *rank.Index
	past    history
	ahead   rank.State // the newest state that a commit was seen to lead to
	broken  error      // why the index has become unusable
	unsaved int64      // changes folded since it was saved
	savedAt time.Time
	entries int64 // that it had when it was saved, -1 before the first time
	usedAt  int64 // used, when a commit was folded last
	unused  int64 // changes folded since used was another
}

// newTracker takes over an index that is saved. unsaved is the number of changes since.
func newTracker(ref leaderboard.PeriodRef, index *rank.Index, unsaved int64) *Tracker {
	return &Tracker{
		ref: ref, target: index.Target(), index: index, past: history{start: index.At()}, unsaved: unsaved, entries: index.At().Total,
		reading: make(chan struct{}, 1), savedAt: time.Now(),
	}
}

// At returns the state that the index has been folded to.
func (t *Tracker) At() rank.State {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.index.At()
}

// Find returns the buckets of keys, and the state at which that is true.
func (t *Tracker) Find(keys []rank.Key) ([]rank.Span, rank.State, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.broken != nil {
		return nil, rank.State{}, t.broken
	}
	spans := make([]rank.Span, len(keys))
	for i, k := range keys {
		spans[i] = t.index.Find(k)
	}
	return spans, t.index.At(), nil
}

// Nth returns the last bucket that begins at most n entries after the first entry of the period at state m, as far as the
// index shows, and the number of entries ahead of the bucket at m.
func (t *Tracker) Nth(n int64, m rank.State) (rank.Key, int64, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	shift, err := t.shiftTo(m)
	if err != nil {
		return "", 0, err
	}
	for guess := min(n, t.index.At().Total-1); guess >= 0; {
		span, ok := t.index.Nth(guess)
		if !ok {
			break
		}
		before := span.Before + shift(span.From)
		if before <= n {
			return span.From, before, nil
		}
		guess = min(guess-(before-n), span.Before-1)
	}
	return "", 0, nil
}

// Until returns a place that at least n entries are ahead of at state m, not far after that many; "" for the end.
func (t *Tracker) Until(n int64, m rank.State) (rank.Key, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	shift, err := t.shiftTo(m)
	if err != nil {
		return "", err
	}
	for guess := max(n-1, 0); ; {
		span, ok := t.index.Nth(guess)
		if !ok || span.To == "" {
			return "", nil
		}
		end := span.Before + span.Count
		if end+shift(span.To) >= n {
			return span.To, nil
		}
		guess = end // the bucket after it
	}
}

// shiftTo returns a function that returns, for a key, the entries ahead of it at state m minus the entries ahead of it at
// the index's state. It is called with mu held.
func (t *Tracker) shiftTo(m rank.State) (func(rank.Key) int64, error) {
	if t.broken != nil {
		return nil, t.broken
	}
	p, err := t.past.path(t.index.At(), m)
	if err != nil {
		return nil, err
	}
	if len(p.steps) == 0 {
		return func(rank.Key) int64 { return 0 }, nil
	}
	return func(k rank.Key) int64 { return p.deltas([]rank.Key{k})[0] }, nil
}

// Span returns the bucket with the entry that has n others ahead of it; bucket returns the bucket of a key. Both are at the
// present state of the index, and serve to choose where to look.
func (t *Tracker) Span(n int64) (rank.Span, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.index.Nth(n)
}

func (t *Tracker) Bucket(k rank.Key) rank.Span {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.index.Find(k)
}

// Rebase returns by how much the number of entries ahead of each key differs between two states.
func (t *Tracker) Rebase(keys []rank.Key, from, to rank.State) ([]int64, error) {
	t.mu.RLock()
	p, err := t.past.path(from, to)
	t.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return p.deltas(keys), nil
}

// fold folds one commit into the index. A commit that it already has changes nothing, rank.ErrGap leaves the index
// unchanged, and after other errors the index is unusable.
func (t *Tracker) fold(s step) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return t.broken
	}
	at := t.index.At()
	if s.commit.LastSeq > t.ahead.Seq {
		t.ahead = s.to()
	}
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
	n := int64(len(s.commit.Changes))
	t.unsaved += n
	if used := t.used.Load(); used != t.usedAt {
		t.usedAt, t.unused = used, 0
	}
	t.unused += n
	t.forget()
	t.index.Compact()
	return nil
}

// forget shortens the history when nobody needs it: no reader came for maxHistory changes, and no bucket is being split. A
// reader that comes now begins at a state that is not older. It is called with mu held.
func (t *Tracker) forget() {
	if t.unused > maxHistory && t.used.Load() == t.usedAt && !t.maintained.Load() {
		t.past = history{start: t.index.At()}
	}
}

// rest is called when the maintenance of the tracker ends.
func (t *Tracker) rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
}

// invalidate ends the use of the index.
func (t *Tracker) invalidate(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil {
		t.broken = err
	}
}

// wantsWork reports whether the index can still be used, and whether it has work: much of the log to read, buckets to split, or
// to be saved.
func (t *Tracker) wantsWork(saveEvery int64) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.broken == nil && (t.isFarBehind() || t.isSaveDue(saveEvery) || len(t.index.Overgrown()) > 0)
}

// wantsSave reports whether the index can still be used, and must be saved.
func (t *Tracker) wantsSave(saveEvery int64) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.broken == nil && t.isSaveDue(saveEvery)
}

// isSaveDue reports whether an index was never saved, has saveEvery changes since, or has become twice as large, so that another
// process reads little of the log that leads to a young one. It is called with mu held.
func (t *Tracker) isSaveDue(saveEvery int64) bool {
	return t.entries < 0 || t.unsaved >= saveEvery || t.unsaved > 0 && t.index.At().Total >= 2*max(t.entries, t.target)
}

// lags returns the newest state that a commit was seen to lead to, and whether the index is so far behind it that the log
// should be read before the next reader comes.
func (t *Tracker) lags() (ahead rank.State, much bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.ahead, t.isFarBehind()
}

// isFarBehind is called with mu held.
func (t *Tracker) isFarBehind() bool { return t.ahead.Seq-t.index.At().Seq > maxHistory }

// farFrom reports whether the index will soon no longer remember the first state at which cuttings were counted.
func (t *Tracker) farFrom(cuttings []cutting) bool {
	return len(cuttings) > 0 && t.At().Seq-cuttings[0].state.Seq > maxHistory/2
}

// bytes is about how much memory the index takes.
func (t *Tracker) bytes() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	const (
		itself    = 1024
		perBucket = 56  // two counts, a boundary that is the head of a key, and its header
		perChange = 300 // with its entries
	)
	return itself + int64(t.index.Len())*perBucket + int64(t.past.changes)*perChange
}

// RankState returns the state that an answer of the database is true at.
func RankState(s leaderboard.State) rank.State {
	return rank.State{Revision: s.Revision, Total: s.Total}
}

// check compares the index with the total that the database has at the same state.
func (t *Tracker) check(m rank.State) error {
	if at := t.At(); at.Incarnation != m.Incarnation || at.Seq == m.Seq && at != m {
		if at.Revision != m.Revision {
			return fmt.Errorf("%w: at seq %d", rank.ErrDiverged, m.Seq)
		}
		return fmt.Errorf("%w: %d entries at seq %d, the database has %d", rank.ErrDamaged, at.Total, m.Seq, m.Total)
	}
	return nil
}

// unsavedFor returns how long ago an index that has changed was saved.
func (t *Tracker) unsavedFor() time.Duration {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.unsaved == 0 {
		return 0
	}
	return time.Since(t.savedAt)
}

// cutting is a place where an overgrown bucket must be cut, and how many entries lie between from and that place at a
// state.
type cutting struct {
	span  rank.Span // the bucket
	from  rank.Key  // where the bucket, or the cutting before in it, begins
	at    rank.Key
	left  int64
	state rank.State
}

// overgrown returns at most n of the buckets to be split.
func (t *Tracker) overgrown(n int) []rank.Span {
	t.mu.RLock()
	defer t.mu.RUnlock()
	spans := t.index.Overgrown()
	return spans[:min(n, len(spans))]
}

// cut rebases the counts to the state of the index, and splits there.
func (t *Tracker) cut(cuttings []cutting) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return t.broken
	}
	at := t.index.At()
	var cuts []rank.Cut
	for _, c := range cuttings {
		if t.index.Find(c.span.From).From != c.span.From {
			continue // merged with its neighbour since
		}
		p, err := t.past.path(c.state, at)
		if err != nil {
			return err
		}
		deltas := p.deltas([]rank.Key{c.from, c.at})
		cuts = append(cuts, rank.Cut{At: c.at, Left: c.left + deltas[1] - deltas[0]})
	}
	err := t.index.Split(at.Seq, cuts)
	if err != nil && !isGap(err) {
		t.broken = err
	}
	return err
}

var (
	// ErrTooOld is a state that a history no longer reaches back to.
	ErrTooOld = errors.New("store: a state before the remembered history")
	// ErrBehind is a state that an index has not been folded to.
	ErrBehind = errors.New("store: a state ahead of the index")
)

// isGap reports whether err means that commits in between are missing.
func isGap(err error) bool { return errors.Is(err, rank.ErrGap) }

// isDamage reports whether an index that led to err was wrong, not merely old.
func isDamage(err error) bool {
	return errors.Is(err, rank.ErrDamaged) || errors.Is(err, rank.ErrDiverged)
}

// IsUseless reports whether err means that an index must be dropped.
func IsUseless(err error) bool {
	return isDamage(err) || isGap(err) || errors.Is(err, leaderboard.ErrLogPruned) || errors.Is(err, entries.ErrPayload)
}

// maxHistory is how many changes a history remembers: far more than happen while one answer is put together.
const maxHistory = 8192

// step is a commit, with the codec of its entries.
type step struct {
	codec  rank.Codec
	commit *leaderboard.Commit
}

func (s *step) to() rank.State {
	return rank.State{Revision: s.commit.To(), Total: s.commit.EntryCount}
}

// history is the last commits that an index has folded, so that a number known at one state can be rebased to another
// one nearby, forward or back. Steps handed out are never written to.
type history struct {
	start   rank.State // the state before the first step
	steps   []step
	changes int
}

// push appends the step that follows on the last one.
func (h *history) push(s step) {
	h.steps = append(h.steps, s)
	h.changes += len(s.commit.Changes)
	for len(h.steps) > 1 && h.changes > maxHistory {
		h.start = h.steps[0].to()
		h.changes -= len(h.steps[0].commit.Changes)
		h.steps = h.steps[1:]
	}
}

// position returns the number of steps up to a state. Errors: errTooOld, errBehind for a state that is newer than the last
// step, rank.ErrDiverged for a state of another incarnation.
func (h *history) position(m rank.State) (int, error) {
	i := sort.Search(len(h.steps), func(i int) bool { return h.steps[i].commit.LastSeq >= m.Seq })
	at := h.start
	switch {
	case m.Incarnation != h.start.Incarnation:
		return 0, fmt.Errorf("%w: at seq %d", rank.ErrDiverged, m.Seq)
	case m.Seq < h.start.Seq:
		return 0, fmt.Errorf("%w: seq %d, the oldest that is remembered is %d", ErrTooOld, m.Seq, h.start.Seq)
	case m.Seq == h.start.Seq:
		i = 0
	case i == len(h.steps):
		return 0, fmt.Errorf("%w: seq %d", ErrBehind, m.Seq)
	default:
		at = h.steps[i].to()
		i++
	}
	if at.Revision != m.Revision {
		return 0, fmt.Errorf("%w: at seq %d", rank.ErrDiverged, m.Seq)
	}
	return i, nil
}

// path is the steps from one state to another.
type path struct {
	steps []step
	back  bool // the steps must be undone
}

func (h *history) path(from, to rank.State) (path, error) {
	i, err := h.position(from)
	if err != nil {
		return path{}, err
	}
	j, err := h.position(to)
	if err != nil {
		return path{}, err
	}
	if i <= j {
		return path{steps: h.steps[i:j:j]}, nil
	}
	return path{steps: h.steps[j:i:i], back: true}, nil
}

// deltas is by how much the path changes the number of entries ahead of each key. keys need no order.
func (p path) deltas(keys []rank.Key) []int64 {
	out := make([]int64, len(keys))
	if len(p.steps) == 0 {
		return out
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return keys[order[a]] < keys[order[b]] })
	sums := make([]int64, len(keys)+1) // differences, summed up at the end
	add := func(c rank.Codec, e *leaderboard.Entry, delta int64) {
		if e == nil {
			return
		}
		k := c.Key(*e)
		sums[sort.Search(len(order), func(i int) bool { return keys[order[i]] > k })] += delta
	}
	one := int64(1)
	if p.back {
		one = -1
	}
	for i := range p.steps {
		for j := range p.steps[i].commit.Changes {
			c := &p.steps[i].commit.Changes[j]
			add(p.steps[i].codec, c.Old, -one)
			add(p.steps[i].codec, c.New, one)
		}
	}
	sum := int64(0)
	for i, at := range order {
		sum += sums[i]
		out[at] = sum
	}
	return out
}

// foldCommits is how many commits one statement reads from the log for an index.
const foldCommits = 100

// readSteps passes the commits after fromSeq to fold, at most limit, and returns how many there were. Their entries are in
// the stored form, which does not depend on the rules of the board.
func readSteps(ctx context.Context, d *mysql.DB, q mysql.Querier, periodID, fromSeq int64, limit int, fold func(step) error) (int, error) {
	commits, err := entries.ReadLog(ctx, d, q, periodID, fromSeq, limit, entries.DecodeStored)
	if err != nil {
		return 0, err
	}
	for i := range commits {
		if err := fold(step{commit: &commits[i]}); err != nil {
			return i, err
		}
	}
	return len(commits), nil
}
