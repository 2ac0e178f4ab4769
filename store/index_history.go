package store

import (
	"fmt"
	"sort"

	"leaderboard"
	"leaderboard/rank"
)

// maxHistory is how many changes a history remembers: far more than happen while one answer is put together.
const maxHistory = 8192

// step is one commit, with the codec that its entries were read with.
type step struct {
	codec  rank.Codec
	commit *leaderboard.Commit
}

func (s *step) to() rank.Mark {
	return rank.Mark{Seq: s.commit.LastSeq, AsOf: s.commit.CommittedAt, Total: s.commit.EntryCount}
}

// history is the last commits that an index has folded, so that a number known at one state can be carried to another
// one nearby, forward or back. Steps handed out are never written to.
type history struct {
	start   rank.Mark // the state before the first step
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

// place is the number of steps up to a state. Errors: errTooOld, errBehind for a state that is newer than the last step,
// rank.ErrForked for one that another history leads to.
func (h *history) place(m rank.Mark) (int, error) {
	i := sort.Search(len(h.steps), func(i int) bool { return h.steps[i].commit.LastSeq >= m.Seq })
	at := h.start
	switch {
	case m.Seq < h.start.Seq:
		return 0, fmt.Errorf("%w: seq %d, the oldest that is remembered is %d", errTooOld, m.Seq, h.start.Seq)
	case m.Seq == h.start.Seq:
		i = 0
	case i == len(h.steps):
		return 0, fmt.Errorf("%w: seq %d", errBehind, m.Seq)
	default:
		at = h.steps[i].to()
		i++
	}
	if at.Seq != m.Seq || at.AsOf != m.AsOf {
		return 0, fmt.Errorf("%w: at seq %d", rank.ErrForked, m.Seq)
	}
	return i, nil
}

// path is what leads from one state to another.
type path struct {
	steps []step
	back  bool // the steps are to be taken back
}

func (h *history) path(from, to rank.Mark) (path, error) {
	i, err := h.place(from)
	if err != nil {
		return path{}, err
	}
	j, err := h.place(to)
	if err != nil {
		return path{}, err
	}
	if i <= j {
		return path{steps: h.steps[i:j:j]}, nil
	}
	return path{steps: h.steps[j:i:i], back: true}, nil
}

// shifts is by how much the path changes the number of entries ahead of each key. keys need no order.
func (p path) shifts(keys []rank.Key) []int64 {
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
