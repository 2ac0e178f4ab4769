package feed

import (
	"cmp"
	"sync"
	"time"

	"leaderboard/leaderboard"
)

// Tail is the end of the change log, as far as this process has written it. Copies that follow the log take from it the
// commits after their revision, each at its own pace; when they are not in it, the copy reads the log. All methods may be
// called concurrently.
type Tail struct {
	memory int64
	now    func() time.Time

	mu     sync.Mutex // guards the fields below
	next   map[commitStart]*held
	oldest *held // of a list in the order of Add
	newest *held
	bytes  int64
}

// commitStart is where a commit starts from.
type commitStart struct {
	period int64
	leaderboard.Revision
}

// held is a commit in memory.
type held struct {
	commit leaderboard.Commit
	at     time.Time
	bytes  int64
	next   *held // that was added after it
}

const (
	// tailBytes is the default of the memory that a tail takes at most.
	tailBytes = 32 << 20
	// tailAge is how long a commit stays. A follower takes it within milliseconds, or reads the log later.
	tailAge = 5 * time.Second
	// changeBytes is the size of a change without the id of its member: the change and two entries.
	changeBytes = 200
)

// NewTail returns a Tail that takes at most a number of bytes, 32 MiB if 0.
func NewTail(memory int64) *Tail {
	return &Tail{memory: cmp.Or(memory, tailBytes), now: time.Now, next: map[commitStart]*held{}}
}

// Add adds a commit, unless it is there already. A commit that starts where another one did replaces it: the database has
// lost that one, with a failover or a restore.
func (t *Tail) Add(commit leaderboard.Commit) {
	h := &held{commit: commit, at: t.now(), bytes: int64(len(commit.Changes)) * changeBytes}
	for i := range commit.Changes {
		h.bytes += int64(len(commit.Changes[i].Member))
	}
	at := commitStart{commit.PeriodID, commit.From()}
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.oldest != nil && h.at.Sub(t.oldest.at) > tailAge {
		t.drop()
	}
	if known := t.next[at]; known != nil && known.commit.To() == commit.To() {
		return
	}
	if t.next[at] = h; t.newest == nil {
		t.oldest = h
	} else {
		t.newest.next = h
	}
	t.newest = h
	t.bytes += h.bytes
	for t.oldest != nil && t.bytes > t.memory {
		t.drop()
	}
}

// Forget forgets the commits of a period that has diverged from them.
func (t *Tail) Forget(period int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at := range t.next {
		if at.period == period {
			delete(t.next, at)
		}
	}
}

// drop forgets the oldest commit. It is called with mu held.
func (t *Tail) drop() {
	h := t.oldest
	if at := (commitStart{h.commit.PeriodID, h.commit.From()}); t.next[at] == h {
		delete(t.next, at)
	}
	t.bytes -= h.bytes
	if t.oldest = h.next; t.oldest == nil {
		t.newest = nil
	}
}

// After returns the commits that follow a revision of a period without a gap, up to about a number of changes; it
// returns none when the first of them is not in memory.
func (t *Tail) After(period int64, from leaderboard.Revision, changes int) []leaderboard.Commit {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	var out []leaderboard.Commit
	for changes > 0 {
		h, ok := t.next[commitStart{period, from}]
		if !ok || now.Sub(h.at) > tailAge {
			break
		}
		out, from, changes = append(out, h.commit), h.commit.To(), changes-max(1, len(h.commit.Changes))
	}
	return out
}

// Bytes returns about how much memory the commits take.
func (t *Tail) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}
