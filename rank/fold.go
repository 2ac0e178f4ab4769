package rank

import (
	"fmt"

	"leaderboard/leaderboard"
)

// Fold takes the index to the state after a commit. codec is the board's codec. It ignores a commit that is folded
// already. Errors: ErrGap when commits between At and c are missing, ErrDiverged, ErrDamaged; after ErrDamaged the
// index must be thrown away, the others do not change it.
func (x *Index) Fold(codec Codec, c *leaderboard.Commit) error {
	if x.damaged {
		return ErrDamaged
	}
	if news, err := x.at.Follows(c); err != nil || !news {
		return err
	}
	for i := range c.Changes {
		if err := eachSide(codec, &c.Changes[i], x.count); err != nil {
			x.damaged = true
			return fmt.Errorf("folding seq %d: %w", c.Changes[i].Seq, err)
		}
	}
	if x.at.Total != c.EntryCount {
		x.damaged = true
		return fmt.Errorf("%w: %d entries after seq %d, the log says %d", ErrDamaged, x.at.Total, c.LastSeq, c.EntryCount)
	}
	x.at = StateOf(c)
	return nil
}

// count adds delta, 1 or -1, to the bucket of key.
func (x *Index) count(key Key, delta int64) error {
	i := search(x.bounds, key)
	n := x.counts[i] + delta
	if n < 0 {
		return fmt.Errorf("%w: a removed entry was never counted", ErrDamaged)
	}
	x.counts[i] = n
	x.tree.Add(i, delta)
	x.at.Total += delta
	if n == x.limit() && delta < 0 {
		delete(x.over, x.bounds[i])
	} else if n == x.limit()+1 && delta > 0 {
		x.over[x.bounds[i]] = struct{}{}
	}
	return nil
}

// eachSide calls count for the key that a change removes and for the key that it adds.
func eachSide(codec Codec, c *leaderboard.Change, count func(key Key, delta int64) error) error {
	if c.Old != nil {
		if err := count(codec.Key(*c.Old), -1); err != nil {
			return err
		}
	}
	if c.New != nil {
		return count(codec.Key(*c.New), 1)
	}
	return nil
}

// StateOf returns the state that a commit leads to.
func StateOf(c *leaderboard.Commit) State {
	return State{Revision: c.To(), Total: c.EntryCount}
}

// differs reports whether two states cannot belong to one incarnation.
func (m State) differs(o State) bool {
	return m.Incarnation != o.Incarnation || m.Seq == o.Seq && m.AsOf != o.AsOf
}

// Follows reports whether c is the next commit after m; false without an error when m contains c already.
func (m State) Follows(c *leaderboard.Commit) (bool, error) {
	switch {
	case c.Incarnation != m.Incarnation:
		return false, fmt.Errorf("%w at seq %d", ErrDiverged, m.Seq)
	case c.LastSeq < m.Seq:
		return false, nil
	case c.To() == m.Revision:
		return false, nil
	case c.LastSeq == m.Seq, c.From().Seq == m.Seq && c.From() != m.Revision:
		return false, fmt.Errorf("%w at seq %d", ErrDiverged, m.Seq)
	case c.From() != m.Revision:
		return false, fmt.Errorf("%w: it is at seq %d, the commit starts from %d", ErrGap, m.Seq, c.From().Seq)
	}
	return true, nil
}
