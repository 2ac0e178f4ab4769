package resident

import (
	"bytes"
	"fmt"
	"sync"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Period is all entries of one period, exact at one state. All methods may be called concurrently.
type Period struct {
	codec       rank.Codec
	incarnation int64

	mu      sync.RWMutex
	at      rank.State
	damaged bool
	slab    *slab
	members *members
	order   order
}

// Loader builds a period from its sort keys.
type Loader struct {
	period *Period
	last   rank.Key
}

// NewLoader begins a period at a state.
func NewLoader(rules *leaderboard.Rules, at rank.State) *Loader {
	s := &slab{}
	m := newMembers(s)
	m.expect(at.Total)
	return &Loader{period: &Period{codec: rank.CodecOf(rules), incarnation: at.Incarnation, at: at, slab: s, members: m, order: order{slab: s}}}
}

// Empty returns a period without a row.
func Empty(ref *leaderboard.PeriodRef) *Period {
	return NewLoader(ref.Rules, rank.State{Revision: leaderboard.StateWithoutRow(ref).Revision}).period
}

// Add takes the next keys of the period in ascending order. Errors: rank.ErrKey for an invalid key, rank.ErrDamaged
// when keys are out of order or a member is there twice.
func (l *Loader) Add(keys []rank.Key) error {
	p := l.period
	for _, key := range keys {
		if !key.Valid() {
			return rank.ErrKey
		}
		if key <= l.last {
			return fmt.Errorf("%w: entries out of order", rank.ErrDamaged)
		}
		n, err := p.add(rank.HeadOf(key), key.Member())
		if err != nil {
			return err
		}
		p.order.add(n)
		l.last = key
	}
	return nil
}

// Bytes returns the memory taken so far.
func (l *Loader) Bytes() int64 { return l.period.Bytes() }

// Period ends the loading. The error is rank.ErrDamaged when there were not as many keys as the state says.
func (l *Loader) Period() (*Period, error) {
	p := l.period
	p.order.recount()
	if n := p.order.entries.Sum(len(p.order.blocks)); n != p.at.Total {
		return nil, fmt.Errorf("%w: %d entries of %d", rank.ErrDamaged, n, p.at.Total)
	}
	return p, nil
}

// Fits reports whether the period is ordered as these rules want it. The order of a board may change while it has no entries.
func (p *Period) Fits(rules *leaderboard.Rules) bool { return p.codec == rank.CodecOf(rules) }

// Incarnation returns the incarnation of the period, which never changes.
func (p *Period) Incarnation() int64 { return p.incarnation }

// At returns the state of the period.
func (p *Period) At() rank.State {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.at
}

// Bytes returns the memory that the period takes.
func (p *Period) Bytes() int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.slab.bytes() + p.members.bytes() + p.order.bytes()
}

// Fold brings the period to the state after a commit. A commit that it has already changes nothing. Errors: rank.ErrGap
// when commits are missing and rank.ErrDiverged when the commit is from another incarnation; these do not change the
// period. rank.ErrDamaged when the commit contradicts the entries, and then the period answers nothing.
func (p *Period) Fold(c *leaderboard.Commit) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.damaged {
		return rank.ErrDamaged
	}
	if follows, err := p.at.Follows(c); err != nil || !follows {
		return err
	}
	for i := range c.Changes {
		if err := p.change(&c.Changes[i]); err != nil {
			p.damaged = true
			return fmt.Errorf("folding seq %d: %w", c.Changes[i].Seq, err)
		}
	}
	if total := p.order.entries.Sum(len(p.order.blocks)); total != c.EntryCount {
		p.damaged = true
		return fmt.Errorf("%w: %d entries after seq %d, the log says %d", rank.ErrDamaged, total, c.LastSeq, c.EntryCount)
	}
	p.at = rank.StateOf(c)
	return nil
}

// change makes one change.
func (p *Period) change(c *leaderboard.Change) error {
	if c.Old == nil {
		if c.New == nil {
			return nil
		}
		n, err := p.add(p.codec.Head(c.New), c.New.Member)
		if err == nil {
			p.insert(n)
		}
		return err
	}
	n, ok := p.members.find([]byte(c.Old.Member))
	if !ok {
		return fmt.Errorf("%w: a member is missing", rank.ErrDamaged)
	}
	r := p.slab.at(n)
	if r.head != p.codec.Head(c.Old) {
		return fmt.Errorf("%w: an entry is another one", rank.ErrDamaged)
	}
	p.order.remove(p.order.place(n))
	if c.New == nil {
		p.members.remove(n)
		p.slab.remove(n)
		return nil
	}
	r.head = p.codec.Head(c.New)
	p.insert(n)
	return nil
}

// add makes a record that is not in order yet.
func (p *Period) add(head rank.Head, member string) (uint32, error) {
	n := p.slab.add(head, member)
	if !p.members.put(n) {
		return 0, fmt.Errorf("%w: a member is there twice", rank.ErrDamaged)
	}
	return n, nil
}

// insert puts a record where it belongs.
func (p *Period) insert(n uint32) {
	r := p.slab.at(n)
	p.order.insert(p.search(r.head, p.slab.member(r)), n)
}

// search returns the first place that is not before (head, member).
func (p *Period) search(head rank.Head, member []byte) position {
	return p.order.find(func(h *rank.Head, n uint32) bool {
		c := h.Compare(&head)
		return c < 0 || c == 0 && bytes.Compare(p.slab.member(p.slab.at(n)), member) < 0
	})
}
