package commit

import (
	"slices"

	"leaderboard/leaderboard"
)

// removal removes the entry of a member.
type removal struct {
	header
	leaderboard.RemoveRequest
	audited bool                // it is recorded with the caller
	receipt leaderboard.Receipt // after apply
	removed []removedEntry      // after apply
}

// removedEntry is an entry that was removed, as the audit has it.
type removedEntry struct {
	Window   leaderboard.Window `json:"window"`
	Period   string             `json:"period"`
	Closed   bool               `json:"closed,omitempty"` // it was a correction
	Hidden   bool               `json:"hidden,omitempty"`
	Score    int64              `json:"score"`
	Tiebreak int64              `json:"tiebreak"`
	Created  leaderboard.Micros `json:"created_time"`
}

// remove takes the member's entry out of a period.
func (r *removal) remove(b *Board, p *Period) (res leaderboard.Result, ok bool) {
	hidden, visible := p.aside.entries[r.Member], p.entries[r.Member]
	for _, e := range []*leaderboard.Entry{hidden, visible} {
		if e != nil {
			r.removed = append(r.removed, removedEntry{p.ref.Window, p.ref.Name, p.closed, e == hidden, e.Score, e.Tiebreak, e.CreatedTime})
		}
	}
	return b.remove(p, r.Member)
}

// record adds the removal to the rows of the audit that the batch writes.
func (r *removal) record(b *Board) error {
	if !r.audited {
		return nil
	}
	return b.Audit(r.caller, AuditChange{
		Action: leaderboard.AuditActionEntryRemove, Board: r.Board, Member: r.Member, Before: struct {
			Entries []removedEntry `json:"entries"`
		}{r.removed},
	})
}

func newRemoval(r leaderboard.RemoveRequest) *removal {
	return &removal{header: headerOf(queueID{board: r.Board}, []string{r.Board}, 1, 0), RemoveRequest: r}
}

func (r *removal) collect(of func(board string) *Needs) {
	n := of(r.Board)
	n.members, n.removed = append(n.members, r.Member), append(n.removed, r.Member)
	if r.PeriodID != 0 {
		n.past = append(n.past, pastEntries{r.Member, []int64{r.PeriodID}})
	}
}

func (r *removal) apply(l *locked) error {
	b, err := l.toMoveOn(r.Board)
	if err != nil {
		return err
	}
	r.receipt, r.removed = leaderboard.Receipt{}, nil
	if i := slices.IndexFunc(b.past, func(p *Period) bool { return p.ref.ID == r.PeriodID }); i >= 0 {
		if err := r.applyToPast(b, b.past[i]); err != nil {
			return err
		}
		return r.record(b)
	}
	known := r.PeriodID == 0
	for _, p := range b.periods {
		if r.PeriodID != 0 && r.PeriodID != p.ref.ID {
			continue
		}
		known = true
		if res, ok := r.remove(b, p); ok && len(r.receipt.Results) == 0 {
			r.receipt.Results = append(r.receipt.Results, res)
		}
	}
	switch {
	case !known:
		return leaderboard.ErrPeriodNotFound
	case len(r.receipt.Results) == 0:
		return leaderboard.ErrNotRanked
	}
	r.receipt.Seq, r.receipt.Seqs = seqsOf(b.periods)
	return r.record(b)
}

// applyToPast removes the entry from a period that is not current.
func (r *removal) applyToPast(b *Board, p *Period) error {
	if p.closed && !r.Reopen {
		return leaderboard.ErrPeriodClosed
	}
	before := p.lastSeq
	res, ok := r.remove(b, p)
	if !ok {
		return leaderboard.ErrNotRanked
	}
	p.corrected(r.Actor, before)
	r.receipt.Results = append(r.receipt.Results, res)
	r.receipt.Seq = p.lastSeq // 0 when no entry was ever seen there
	return nil
}
