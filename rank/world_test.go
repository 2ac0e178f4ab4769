package rank

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"leaderboard/leaderboard"
)

// world is a period in MySQL: its entries and its log. An index must agree with it.
type world struct {
	codec   Codec
	entries map[string]leaderboard.Entry
	log     []leaderboard.Commit
	at      State
}

func newWorld(codec Codec) *world {
	return &world{codec: codec, entries: map[string]leaderboard.Entry{}, at: State{Revision: leaderboard.Revision{AsOf: 100}}}
}

// commit gives each member its new entry, or removes it (nil), in one transaction.
func (w *world) commit(next map[string]*leaderboard.Entry) *leaderboard.Commit {
	c := leaderboard.Commit{FirstSeq: w.at.Seq + 1, PrevCommittedAt: w.at.AsOf, CommittedAt: w.at.AsOf + 10}
	seq := w.at.Seq
	for _, member := range slices.Sorted(maps.Keys(next)) {
		seq++
		change := leaderboard.Change{Seq: seq, Member: member, New: next[member]}
		if old, ok := w.entries[member]; ok {
			change.Old = &old
		}
		if delete(w.entries, member); change.New != nil {
			w.entries[member] = *change.New
		}
		c.Changes = append(c.Changes, change)
	}
	c.LastSeq, c.EntryCount = seq, int64(len(w.entries))
	w.at = State{Revision: c.To(), Total: c.EntryCount}
	w.log = append(w.log, c)
	return &w.log[len(w.log)-1]
}

// put returns a commit that sets one entry.
func (w *world) put(e leaderboard.Entry) *leaderboard.Commit {
	return w.commit(map[string]*leaderboard.Entry{e.Member: &e})
}

// since returns the commits after seq.
func (w *world) since(seq int64) []leaderboard.Commit {
	i, _ := slices.BinarySearchFunc(w.log, seq, func(c leaderboard.Commit, seq int64) int { return cmp.Compare(c.LastSeq, seq) })
	if i < len(w.log) && w.log[i].LastSeq == seq {
		i++
	}
	return w.log[i:]
}

// keys returns the keys of all entries in order.
func (w *world) keys() []Key {
	return sortedKeys(w.codec, slices.Collect(maps.Values(w.entries)))
}

// before counts the keys ahead of k.
func before(keys []Key, k Key) int64 {
	i, _ := slices.BinarySearch(keys, k)
	return int64(i)
}

// build makes an index of the present world.
func (w *world) build(target int) (*Index, error) {
	b, keys := NewBuilder(target), w.keys()
	for from, more := b.Next(); more; from, more = b.Next() {
		to, n := bucketOf(keys, from, target)
		if err := b.Append(w.at, to, n); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

// bucketOf returns the database's answer about the bucket of target entries that starts at from.
func bucketOf(keys []Key, from Key, target int) (to Key, n int64) {
	rest := keys[before(keys, from):]
	if len(rest) <= target {
		return "", int64(len(rest))
	}
	return rest[target], int64(target)
}

// cuts splits every overgrown bucket into parts of target entries.
func (w *world) cuts(x *Index) []Cut {
	var out []Cut
	keys := w.keys()
	for _, s := range x.Overgrown() {
		from := s.From
		for {
			to, n := bucketOf(keys, from, int(x.Target()))
			if to == "" || (s.To != "" && to >= s.To) {
				break
			}
			out = append(out, Cut{At: to, Left: n})
			from = to
		}
	}
	return out
}

// check compares the index with the keys, for each of the probes and for each place if there are not too many.
func check(x *Index, w *world, probes []Key) error {
	keys := w.keys()
	if x.At() != w.at {
		return fmt.Errorf("index is at %+v, the world at %+v", x.At(), w.at)
	}
	if err := checkSpans(x, keys); err != nil {
		return err
	}
	for _, k := range probes {
		s := x.Find(k)
		inside := before(keys, k) - before(keys, s.From)
		if k < s.From || (s.To != "" && k >= s.To) || s.Before+inside != before(keys, k) {
			return fmt.Errorf("find %x: %+v and %d inside, want %d before", k, s, inside, before(keys, k))
		}
	}
	for n := int64(0); n < w.at.Total; n += 1 + w.at.Total/1000 {
		s, ok := x.Nth(n)
		if i := before(keys, s.From) + n - s.Before; !ok || i != n || n-s.Before >= s.Count {
			return fmt.Errorf("entry %d: %+v, %t", n, s, ok)
		}
	}
	for _, n := range []int64{-1, w.at.Total} {
		if s, ok := x.Nth(n); ok {
			return fmt.Errorf("entry %d of %d is in %+v", n, w.at.Total, s)
		}
	}
	return nil
}

// checkSpans checks that the buckets are the whole order, each counted right, and that the overgrown ones are listed.
func checkSpans(x *Index, keys []Key) error {
	var last Span
	var over []Span
	buckets := 0
	for s := range x.Spans() {
		end := int64(len(keys))
		if s.To != "" {
			end = before(keys, s.To)
		}
		if s.From != last.To || (buckets > 0 && s.From <= last.From) || s.Before != before(keys, s.From) || s.Count != end-s.Before {
			return fmt.Errorf("bucket %d is %+v after %+v, want %d to %d", buckets, s, last, before(keys, s.From), end)
		}
		if s.Count > 2*x.Target() {
			over = append(over, s)
		}
		last = s
		buckets++
	}
	if buckets != x.Len() || last.To != "" {
		return fmt.Errorf("%d of %d buckets, the last is %+v", buckets, x.Len(), last)
	}
	if got := x.Overgrown(); !slices.Equal(got, over) {
		return fmt.Errorf("overgrown are %+v, want %+v", got, over)
	}
	return nil
}

// probes are keys and other strings at, right before and right after the keys of the world, and their prefixes.
func (w *world) probes() []Key {
	out := []Key{"", "\x00", "\xff\xff"}
	for _, k := range w.keys() {
		out = append(out, k, k+"\x00", k[:len(k)-1], k.Prefix(), k[:8])
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return slices.Compact(out)
}
