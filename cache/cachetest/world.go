// Package cachetest has a period in memory that remembers every state it was ever in, to test caches against.
package cachetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// World is a period in memory that remembers every state it was ever in, can be set back to a backup as an operator
// would, and answers for any of its states by counting. It is the topn.Log of the copies and the oracle of the tests.
type World struct {
	Ref leaderboard.PeriodRef

	mu       sync.Mutex
	clock    leaderboard.Micros
	cur      Backup
	states   map[leaderboard.Revision][]leaderboard.Entry // best first
	failure  error
	snapshot *leaderboard.Revision // when set, what Snapshot answers instead of the present state
	reads    int                   // of Period
}

// Backup is everything that a backup of the database holds.
type Backup struct {
	period  leaderboard.Period
	entries map[string]leaderboard.Entry
	log     []leaderboard.Commit
}

// Incarnation is the incarnation of the period in a World, until it changes.
const Incarnation = 0x5eed

// Ref returns a reference to the period with an id.
func Ref(id int64) leaderboard.PeriodRef {
	return leaderboard.PeriodRef{ID: id, Incarnation: Incarnation, BoardID: 1, Board: "b", Window: leaderboard.WindowAllTime, Name: "all_time"}
}

// NewWorld makes an empty period.
func NewWorld(id int64, rules leaderboard.Rules) *World {
	w := &World{
		clock: 1534429133e6, states: map[leaderboard.Revision][]leaderboard.Entry{},
		Ref: Ref(id),
	}
	w.Ref.Rules = &rules
	w.cur.entries = map[string]leaderboard.Entry{}
	w.cur.period = leaderboard.Period{ID: id, Incarnation: Incarnation, BoardID: 1, Window: leaderboard.WindowAllTime, EndsAt: leaderboard.Forever, Committed: w.tick()}
	w.remember()
	return w
}

func (w *World) tick() leaderboard.Micros {
	w.clock++
	return w.clock
}

func (w *World) remember() {
	sorted := slices.SortedFunc(maps.Values(w.cur.entries), w.Ref.Rules.Compare)
	w.states[w.cur.period.Revision()] = sorted
}

// Edit is a change to be committed.
type Edit struct {
	member          string
	score, tiebreak int64
	remove          bool
}

// Put gives a member a new entry, with a new created_time.
func Put(member string, score int64) Edit { return PutTiebreak(member, score, 0) }

// PutTiebreak is Put with a tiebreak.
func PutTiebreak(member string, score, tiebreak int64) Edit {
	return Edit{member: member, score: score, tiebreak: tiebreak}
}

// Remove removes the entry of a member, if any.
func Remove(member string) Edit { return Edit{member: member, remove: true} }

// Fill commits members m1 to mn with the scores n to 1.
func (w *World) Fill(n int) {
	var edits []Edit
	for i := range n {
		edits = append(edits, Put(fmt.Sprint("m", i+1), int64(n-i)))
	}
	w.Commit(edits...)
}

// Commit makes one commit of all edits that change something.
func (w *World) Commit(edits ...Edit) leaderboard.Commit {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.cur.period
	c := leaderboard.Commit{PeriodID: p.ID, Incarnation: p.Incarnation, FirstSeq: p.LastSeq + 1, PrevCommittedAt: p.Committed}
	for _, e := range edits {
		change := leaderboard.Change{Seq: p.LastSeq + 1, Member: e.member}
		if old, ok := w.cur.entries[e.member]; ok {
			change.Old = &old
		}
		switch {
		case !e.remove:
			change.New = &leaderboard.Entry{Member: e.member, Score: e.score, Tiebreak: e.tiebreak, CreatedTime: w.tick()}
			w.cur.entries[e.member] = *change.New
		case change.Old == nil:
			continue
		default:
			delete(w.cur.entries, e.member)
		}
		c.Changes = append(c.Changes, change)
		p.LastSeq++
	}
	if len(c.Changes) == 0 {
		return c
	}
	c.LastSeq, c.EntryCount, c.CommittedAt = p.LastSeq, int64(len(w.cur.entries)), w.tick()
	p.Committed, p.EntryCount = c.CommittedAt, c.EntryCount
	w.cur.log = append(w.cur.log, c)
	w.remember()
	return c
}

// Backup returns the database in its present state.
func (w *World) Backup() Backup {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Backup{w.cur.period, maps.Clone(w.cur.entries), slices.Clone(w.cur.log)}
}

// Restore puts a backup in the place of the database.
func (w *World) Restore(b Backup) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cur = Backup{b.period, maps.Clone(b.entries), slices.Clone(b.log)}
}

// Replace replaces this period by another: the database was restored, and gave the id again. The result refers to the new
// period.
func (w *World) Replace() leaderboard.PeriodRef {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cur.period.Incarnation++
	w.cur.period.LastSeq, w.cur.period.EntryCount, w.cur.period.Committed = 0, 0, w.tick()
	w.cur.entries, w.cur.log = map[string]leaderboard.Entry{}, nil
	w.remember()
	ref := w.Ref
	ref.Incarnation = w.cur.period.Incarnation
	return ref
}

// Prune forgets the log up to a seq.
func (w *World) Prune(upTo int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cur.log = slices.DeleteFunc(w.cur.log, func(c leaderboard.Commit) bool { return c.LastSeq <= upTo })
}

// Fail makes everything that is read fail with err until it is nil.
func (w *World) Fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = err
}

// Failure returns the last argument of Fail.
func (w *World) Failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// SnapshotAt makes Snapshot answer with an earlier state, as a slow reader would; nil ends that.
func (w *World) SnapshotAt(name *leaderboard.Revision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.snapshot = name
}

// LeapTo sets the seq without a commit.
func (w *World) LeapTo(seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cur.period.LastSeq = seq
	w.remember()
}

// Reads returns how often Period was called.
func (w *World) Reads() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads
}

// Names returns all states that the period was ever in, in no order.
func (w *World) Names() []leaderboard.Revision {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.states))
}

// Remembers reports whether the present database was in a state once. It is false when the log is pruned.
func (w *World) Remembers(name leaderboard.Revision) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name == w.cur.period.Revision() {
		return true
	}
	return slices.ContainsFunc(w.cur.log, func(c leaderboard.Commit) bool {
		return c.From() == name
	})
}

// Name returns the present state.
func (w *World) Name() leaderboard.Revision {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cur.period.Revision()
}

// At returns the oracle of one state, false when the period was never in it.
func (w *World) At(name leaderboard.Revision) (Oracle, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sorted, ok := w.states[name]
	return Oracle{w.Ref.Rules, name, sorted}, ok
}

// Period implements topn.Log.
func (w *World) Period(context.Context, int64) (leaderboard.Period, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	return w.cur.period, w.failure
}

// Changes implements topn.Log.
func (w *World) Changes(_ context.Context, _, fromSeq int64, limit int) ([]leaderboard.Commit, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []leaderboard.Commit
	for _, c := range w.cur.log {
		if c.LastSeq > fromSeq && len(out) < limit {
			out = append(out, c)
		}
	}
	if w.cur.period.LastSeq > fromSeq && (len(out) == 0 || out[0].From().Seq != fromSeq) {
		return nil, leaderboard.ErrLogPruned
	}
	return out, w.failure
}

// Snapshot implements topn.Log.
func (w *World) Snapshot(_ context.Context, ref leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	name := w.Name()
	w.mu.Lock()
	if w.snapshot != nil {
		name = *w.snapshot
	}
	sorted, failure := w.states[name], w.failure
	w.mu.Unlock()
	if failure != nil {
		return failure
	}
	if name.Incarnation != ref.Incarnation {
		return leaderboard.ErrPeriodNotFound
	}
	if err := begin(leaderboard.State{Revision: name, Total: int64(len(sorted))}); err != nil {
		return err
	}
	codec := rank.CodecOf(w.Ref.Rules)
	var keys []rank.Key
	for _, e := range sorted[:min(limit, len(sorted))] {
		keys = append(keys, codec.Key(e))
	}
	for chunk := range slices.Chunk(keys, max(3, len(keys)/10)) { // several chunks also of a small board
		if err := rows(chunk); err != nil {
			return err
		}
	}
	return nil
}
