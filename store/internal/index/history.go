package index

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

var (
	// ErrTooOld is a state that a history no longer reaches back to.
	ErrTooOld = errors.New("store: a state before the remembered history")
	// ErrBehind is a state that an index has not been folded to.
	ErrBehind = errors.New("store: a state ahead of the index")
)

// isGap says whether err means that commits in between are missing.
func isGap(err error) bool { return errors.Is(err, rank.ErrGap) }

// isDamage says whether an index that led to err was wrong, not merely old.
func isDamage(err error) bool {
	return errors.Is(err, rank.ErrDamaged) || errors.Is(err, rank.ErrDiverged)
}

// IsUseless says whether err means that an index must be dropped.
func IsUseless(err error) bool {
	return isDamage(err) || isGap(err) || errors.Is(err, leaderboard.ErrLogPruned) || errors.Is(err, entries.ErrPayload)
}

// maxHistory is how many changes a history remembers: far more than happen while one answer is put together.
const maxHistory = 8192

// step is one commit, with the codec that its entries were read with.
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

// position returns the number of steps up to a state. Errors: errTooOld, errBehind for a state that is newer than the
// last step, rank.ErrDiverged for one that another history leads to.
func (h *history) position(m rank.State) (int, error) {
	i := sort.Search(len(h.steps), func(i int) bool { return h.steps[i].commit.LastSeq >= m.Seq })
	at := h.start
	switch {
	case m.History != h.start.History:
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

// path is what leads from one state to another.
type path struct {
	steps []step
	back  bool // the steps are to be taken back
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

// readSteps passes the commits after fromSeq to fold, at most limit, and returns how many there were. The entries in
// them are as they are stored, whatever the rules of the board are or were.
func readSteps(ctx context.Context, d *db.DB, q db.Querier, periodID, fromSeq int64, limit int, fold func(step) error) (int, error) {
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
