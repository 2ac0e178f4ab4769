package metadata

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/internal/bounded"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/commit"
)

// known is the metadata of entries of periods in memory, so that MySQL is not asked for it again. The metadata found for an
// entry is valid from a revision of its period until a commit changes the entry; it is shown in answers at revisions
// between the two. The entry alone does not identify it: an equal entry may come back with other metadata, since a
// submission can give the time of an entry. All methods may be called concurrently.
type known struct {
	within  atomic.Int64                            // bytes; 0: nothing is kept
	holds   atomic.Pointer[func(period int64) bool] // whether a period is in memory
	bodies  *bounded.Map[memberKey, fact]
	periods sync.Map // int64 → *commitRange
}

// memberKey is a member in a period.
type memberKey struct {
	period int64
	member string
}

// fact is the metadata of an entry, from a revision on.
type fact struct {
	entry leaderboard.Entry
	body  string // "": none
	from  leaderboard.Revision
}

// factBytes is the size of a fact without its texts.
const factBytes = 260

// commitRange is the knowledge about the commits of a period.
type commitRange struct {
	mu        sync.RWMutex
	left      bool                 // the period is no longer in memory
	began, to leaderboard.Revision // every commit between them was heard of
	// changed has when members last changed after since, which is began or later.
	since   leaderboard.Revision
	changed map[string]leaderboard.Revision
}

// maxChanged bounds commitRange.changed: a statement during which more changes come is not learned from.
const maxChanged = 4096

func newKnown() *known { return &known{bodies: bounded.New[memberKey, fact](math.MaxInt, 0)} }

// find copies the known metadata for a question's entries into out, and returns the places in out of the others.
func (k *known) find(q *leaderboard.MetadataQuery, out []leaderboard.EntryMetadata) (missing []int) {
	h := k.rangeOf(q.Period.ID)
	if h == nil || q.At == (leaderboard.Revision{}) {
		return all(len(q.Entries))
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.to.Covers(q.At) {
		return all(len(q.Entries))
	}
	for i := range q.Entries {
		f, ok := k.bodies.Get(memberKey{q.Period.ID, q.Entries[i].Member})
		if ok && f.entry == q.Entries[i] && f.from.Covers(h.began) && q.At.Covers(f.from) {
			out[i] = leaderboard.EntryMetadata{Body: f.body, Lasts: true}
		} else {
			missing = append(missing, i)
		}
	}
	return missing
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// rangeOf returns the knowledge about a period's commits, nil when nothing is kept.
func (k *known) rangeOf(period int64) *commitRange {
	if h, ok := k.periods.Load(period); ok {
		return h.(*commitRange)
	}
	return nil
}

// learn stores MySQL's metadata for the places of out, and for more entries of the period, at a revision.
func (k *known) learn(q *leaderboard.MetadataQuery, at leaderboard.Revision, places []int, out []leaderboard.EntryMetadata, more []fact) {
	for _, i := range places {
		out[i].Lasts = q.At == at && !out[i].Moved
	}
	if k.within.Load() == 0 || q.At == (leaderboard.Revision{}) {
		return
	}
	h := k.rangeOf(q.Period.ID)
	if h == nil {
		if holds := k.holds.Load(); holds == nil || !(*holds)(q.Period.ID) {
			return
		}
		made, _ := k.periods.LoadOrStore(q.Period.ID, &commitRange{began: at, to: at, since: at, changed: map[string]leaderboard.Revision{}})
		h = made.(*commitRange)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if at.Incarnation != h.to.Incarnation { // the database was restored
		k.begin(h, q.Period.ID, at)
	}
	if h.left || !at.Covers(h.since) {
		return
	}
	for _, i := range places {
		if f := (fact{entry: q.Entries[i], body: out[i].Body}); !out[i].Moved && k.add(h, q.Period.ID, at, &f) {
			out[i].Lasts = out[i].Lasts || q.At.Covers(f.from) && h.to.Covers(q.At)
		}
	}
	for i := range more {
		k.add(h, q.Period.ID, at, &more[i])
	}
}

// wrote stores the metadata that a batch has written for a period, if it has the texts.
func (k *known) wrote(p *commit.Period, list *rows) {
	h := k.rangeOf(p.ID())
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at := p.Revision()
	if h.left || !at.Covers(h.since) {
		return
	}
	for member, row := range list.now {
		if row == list.found[member] || row.body != nil && row.body.text == "" {
			continue
		}
		e, err := rank.Codec{}.Entry(row.key)
		if err != nil {
			continue // never: the key was made of an entry
		}
		e.Score, e.Tiebreak = p.Stored(e.Score, e.Tiebreak)
		f := fact{entry: e}
		if row.body != nil {
			f.body = strings.Clone(row.body.text) // of the body of a request
		}
		k.add(h, p.ID(), at, &f)
	}
}

// add keeps the metadata of an entry at a revision, unless it has changed since. It sets from.
func (k *known) add(h *commitRange, period int64, at leaderboard.Revision, f *fact) bool {
	f.from = at // ahead of the known commits
	if h.to.Covers(at) {
		f.from = h.since
		if last, ok := h.changed[f.entry.Member]; ok {
			f.from = last
		}
	}
	if !at.Covers(f.from) {
		return false
	}
	f.entry.Member = strings.Clone(f.entry.Member) // of a text of all of an answer, maybe
	k.bodies.Put(memberKey{period, f.entry.Member}, factBytes+len(f.entry.Member)+len(f.body), *f)
	return true
}

// ahead returns how many members after one it pays to read with it: none when it is missing because it has just changed, or when there is
// little room.
func (k *known) ahead(q *leaderboard.MetadataQuery, member string) int {
	const (
		most      = 100
		mostBytes = 32 << 10
	)
	h := k.rangeOf(q.Period.ID)
	if h == nil || q.Period.Rules.Metadata == nil {
		return 0
	}
	if _, bytes := k.bodies.Size(); int64(bytes) > k.within.Load()/4*3 {
		return 0
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if _, ok := h.changed[member]; ok || !h.to.Covers(q.At) {
		return 0
	}
	return min(most, mostBytes/max(1, q.Period.Rules.Metadata.MaxBytes))
}

// begin forgets the commits of a period before a revision, and the metadata found before it: a member may have been erased
// since.
func (k *known) begin(h *commitRange, period int64, at leaderboard.Revision) {
	h.began, h.since, h.to = at, at, at
	clear(h.changed)
	k.forget(period)
}

// forget drops the metadata found in a period.
func (k *known) forget(period int64) {
	k.bodies.DeleteFunc(func(p memberKey) bool { return p.period == period })
}

// folding hears of commits of a period in memory, or, without commits, that it leaves.
func (k *known) folding(period int64, commits []leaderboard.Commit) {
	h := k.rangeOf(period)
	if h == nil {
		return
	}
	if len(commits) == 0 {
		k.leave(h, period)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range commits {
		to := commits[i].To()
		switch {
		case h.to.Covers(to):
			continue
		case h.to != commits[i].From(): // some are missing, or it is another incarnation
			k.begin(h, period, to)
		default:
			for j := range commits[i].Changes {
				member := commits[i].Changes[j].Member
				h.changed[member] = to
				if f, ok := k.bodies.Get(memberKey{period, member}); ok && !f.from.Covers(to) {
					k.bodies.Delete(memberKey{period, member})
				}
			}
		}
		if h.to = to; len(h.changed) > maxChanged {
			h.since = to
			clear(h.changed)
		}
	}
}

// leave marks a period without kept metadata.
func (k *known) leave(h *commitRange, period int64) {
	h.mu.Lock()
	h.left = true
	h.mu.Unlock()
	k.periods.CompareAndDelete(period, h)
	k.forget(period)
}

// keep bounds the memory to a number of bytes, for periods in memory alone, and returns the bytes in use.
func (k *known) keep(within int64, inMemory func(period int64) bool) int64 {
	k.within.Store(within)
	k.holds.Store(&inMemory)
	k.periods.Range(func(period, value any) bool {
		if within > 0 && inMemory(period.(int64)) {
			return true
		}
		k.leave(value.(*commitRange), period.(int64))
		return true
	})
	k.bodies.Bound(int(within))
	_, bytes := k.bodies.Size()
	return int64(bytes)
}

// metric returns the metric of the memory in use.
func (k *known) metric() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_metadata_bytes", Help: "Memory that the metadata of entries takes, in addition to the periods kept whole.",
	}, func() float64 { _, bytes := k.bodies.Size(); return float64(bytes) })
}
