package cache

import (
	"context"
	"maps"
	"slices"
	"sync"

	"leaderboard"
	"leaderboard/rank"
)

// world is a period in memory that remembers every state it was ever in, can be set back to a backup as an operator
// would, and answers for any of its states by counting. It is the log of the copies and the oracle of the tests.
type world struct {
	ref leaderboard.PeriodRef

	mu      sync.Mutex
	clock   leaderboard.Micros
	cur     backup
	states  map[stateName][]leaderboard.Entry // best first
	failure error
	// snapshots, when set, is what Snapshot answers instead of the present state.
	snapshot *stateName
	reads    int // of Period
}

// stateName names a state of the period across all histories.
type stateName struct {
	seq  int64
	asOf leaderboard.Micros
}

// backup is everything that a backup of the database holds.
type backup struct {
	period  leaderboard.Period
	entries map[string]leaderboard.Entry
	log     []leaderboard.Commit
}

func newWorld(id int64, rules leaderboard.Rules) *world {
	w := &world{
		clock: 1534429133e6, states: map[stateName][]leaderboard.Entry{},
		ref: leaderboard.PeriodRef{ID: id, BoardID: 1, Board: "b", Window: leaderboard.WindowAllTime, Name: "all_time", Rules: &rules},
	}
	w.cur.entries = map[string]leaderboard.Entry{}
	w.cur.period = leaderboard.Period{ID: id, BoardID: 1, Window: leaderboard.WindowAllTime, EndsAt: leaderboard.Forever, Committed: w.tick()}
	w.remember()
	return w
}

func (w *world) tick() leaderboard.Micros {
	w.clock++
	return w.clock
}

func (w *world) remember() {
	sorted := slices.SortedFunc(maps.Values(w.cur.entries), w.ref.Rules.Compare)
	w.states[stateName{w.cur.period.LastSeq, w.cur.period.Committed}] = sorted
}

// set is one change to be committed: the entry, or its removal when score is nil.
type set struct {
	member   string
	score    *int64
	tiebreak int64
}

func score(n int64) *int64 { return &n }

// commit makes one commit of all changes that change something.
func (w *world) commit(sets ...set) leaderboard.Commit {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.cur.period
	c := leaderboard.Commit{PeriodID: p.ID, FirstSeq: p.LastSeq + 1, PrevCommittedAt: p.Committed}
	for _, s := range sets {
		change := leaderboard.Change{Seq: p.LastSeq + 1, Member: s.member}
		if old, ok := w.cur.entries[s.member]; ok {
			change.Old = &old
		}
		switch {
		case s.score != nil:
			change.New = &leaderboard.Entry{Member: s.member, Score: *s.score, Tiebreak: s.tiebreak, CreatedTime: w.tick()}
			w.cur.entries[s.member] = *change.New
		case change.Old == nil:
			continue
		default:
			delete(w.cur.entries, s.member)
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

// backup is a copy of the database as it is.
func (w *world) backup() backup {
	w.mu.Lock()
	defer w.mu.Unlock()
	return backup{w.cur.period, maps.Clone(w.cur.entries), slices.Clone(w.cur.log)}
}

// restore puts a backup in the place of the database.
func (w *world) restore(b backup) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cur = backup{b.period, maps.Clone(b.entries), slices.Clone(b.log)}
}

// prune forgets the log up to a seq.
func (w *world) prune(upTo int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cur.log = slices.DeleteFunc(w.cur.log, func(c leaderboard.Commit) bool { return c.LastSeq <= upTo })
}

func (w *world) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = err
}

func (w *world) name() stateName {
	w.mu.Lock()
	defer w.mu.Unlock()
	return stateName{w.cur.period.LastSeq, w.cur.period.Committed}
}

// at is the oracle of one state.
func (w *world) at(name stateName) (oracle, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sorted, ok := w.states[name]
	return oracle{w.ref.Rules, name, sorted}, ok
}

func (w *world) Period(context.Context, int64) (leaderboard.Period, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	return w.cur.period, w.failure
}

func (w *world) Changes(_ context.Context, _, fromSeq int64, limit int) ([]leaderboard.Commit, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []leaderboard.Commit
	for _, c := range w.cur.log {
		if c.LastSeq > fromSeq && len(out) < limit {
			out = append(out, c)
		}
	}
	if w.cur.period.LastSeq > fromSeq && (len(out) == 0 || out[0].FromSeq() != fromSeq) {
		return nil, leaderboard.ErrLogPruned
	}
	return out, w.failure
}

func (w *world) Snapshot(_ context.Context, _ leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	name := w.name()
	w.mu.Lock()
	if w.snapshot != nil {
		name = *w.snapshot
	}
	sorted, failure := w.states[name], w.failure
	w.mu.Unlock()
	if failure != nil {
		return failure
	}
	if err := begin(leaderboard.State{Seq: name.seq, AsOf: name.asOf, Total: int64(len(sorted))}); err != nil {
		return err
	}
	codec := rank.CodecOf(w.ref.Rules)
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
