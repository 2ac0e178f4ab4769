package storetest

import (
	"cmp"
	"context"
	"slices"

	"leaderboard/leaderboard"
)

// Hide is the model of store.HiddenMembers.Hide.
func (m *Model) Hide(ctx context.Context, r leaderboard.HideRequest) (leaderboard.HiddenMember, error) {
	defer m.leave()
	if err := m.enter(ctx, "Hide"); err != nil {
		return leaderboard.HiddenMember{}, err
	}
	if broken := r.Check(); broken != nil {
		return leaderboard.HiddenMember{}, broken
	}
	boards, id, err := m.boardsOf(r.Board)
	if err != nil {
		return leaderboard.HiddenMember{}, err
	}
	i := m.hiding(id, r.Member)
	if i < 0 {
		m.hidden = append(m.hidden, leaderboard.HiddenMember{BoardID: id, Board: r.Board, Member: r.Member, HiddenAt: m.clock()})
		i = len(m.hidden) - 1
	}
	if h := &m.hidden[i]; h.Reason != r.Reason || h.Actor != r.Actor || r.Reopen {
		h.Reason, h.Actor = r.Reason, r.Actor
	}
	h := m.hidden[i]
	m.moveEntries(boards, r)
	return h, nil
}

// Restore is the model of store.HiddenMembers.Restore.
func (m *Model) Restore(ctx context.Context, r leaderboard.HideRequest) error {
	defer m.leave()
	if err := m.enter(ctx, "Restore"); err != nil {
		return err
	}
	if broken := r.CheckRestore(); broken != nil {
		return broken
	}
	boards, id, err := m.boardsOf(r.Board)
	if err != nil {
		return err
	}
	i := m.hiding(id, r.Member)
	if i < 0 {
		return leaderboard.ErrNotHidden
	}
	m.hidden = slices.Delete(m.hidden, i, i+1)
	m.moveEntries(boards, r)
	return nil
}

// boardsOf returns the boards on which a member must be hidden: one, or all.
func (m *Model) boardsOf(name string) (boards []*modelBoard, id int64, err error) {
	if name != "" {
		b := m.boards[name]
		if b == nil {
			return nil, 0, leaderboard.ErrBoardNotFound
		}
		return []*modelBoard{b}, b.ID, nil
	}
	for _, b := range m.boards {
		boards = append(boards, b)
	}
	return boards, 0, nil
}

func (m *Model) hiding(boardID int64, member string) int {
	return slices.IndexFunc(m.hidden, func(h leaderboard.HiddenMember) bool { return h.BoardID == boardID && h.Member == member })
}

func (m *Model) isHidden(boardID int64, member string) bool {
	return m.hiding(0, member) >= 0 || m.hiding(boardID, member) >= 0
}

// moveEntries moves the entries of a member among the visible or the hidden ones: on every board, in every open period,
// in closed ones if asked.
func (m *Model) moveEntries(boards []*modelBoard, r leaderboard.HideRequest) {
	for _, b := range boards {
		m.closeEnded(b)
		for _, p := range b.periods {
			if closed := p.State == leaderboard.PeriodStateClosed; !closed || r.Reopen {
				m.moveEntry(b, p, r)
			}
		}
	}
}

func (m *Model) moveEntry(b *modelBoard, p *modelPeriod, r leaderboard.HideRequest) {
	hidden := m.isHidden(b.ID, r.Member)
	from, to := p.hiddenEntries, p.entries
	if hidden {
		from, to = p.entries, p.hiddenEntries
	}
	e, ok := from[r.Member]
	if !ok {
		return
	}
	delete(from, r.Member)
	to[r.Member] = e
	change := leaderboard.Change{Member: r.Member, New: &e}
	if hidden {
		change.Old, change.New = &e, nil
	}
	m.commit(b, p, []leaderboard.Change{change})
	if p.State == leaderboard.PeriodStateClosed {
		m.recordCorrection(b, p, r.Actor, 1)
	}
}

// recordCorrection is called after the correction, of a visible entry, or without one.
func (m *Model) recordCorrection(b *modelBoard, p *modelPeriod, actor string, visible int64) {
	m.runs = append(m.runs, leaderboard.Run{
		ID: m.nextID(), BoardID: b.ID, PeriodID: p.ID, Kind: leaderboard.RunKindReopen, Reason: leaderboard.RunReasonAdmin, Actor: actor,
		State: leaderboard.RunStateDone, FromSeq: p.LastSeq - visible, ToSeq: p.LastSeq, Rows: 1, StartedAt: m.clock(),
	})
}

// Hidden is the model of store.HiddenMembers.Hidden.
func (m *Model) Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error) {
	defer m.leave()
	if err := m.enter(ctx, "Hidden"); err != nil {
		return nil, err
	}
	_, id, err := m.boardsOf(q.Board)
	if err != nil {
		return nil, err
	}
	compare := func(a, b leaderboard.HiddenMember) int {
		return cmp.Or(cmp.Compare(a.BoardID, b.BoardID), cmp.Compare(a.Member, b.Member))
	}
	hidden := []leaderboard.HiddenMember{}
	for _, h := range m.hidden {
		if (q.Board == "" || h.BoardID == 0 || h.BoardID == id) && (q.Member == "" || h.Member == q.Member) &&
			compare(h, leaderboard.HiddenMember{BoardID: q.AfterBoard, Member: q.AfterMember}) > 0 {
			hidden = append(hidden, h)
		}
	}
	slices.SortFunc(hidden, compare)
	return hidden[:min(q.Limit, len(hidden))], nil
}
