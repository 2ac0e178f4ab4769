package storetest

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"leaderboard/leaderboard"
)

// Sweep is the model of store.Housekeeping.Sweep for periods: the model forgets no keys, changes or runs.
func (m *Model) Sweep(ctx context.Context) error {
	defer m.leave()
	if err := m.enter(ctx, "Sweep"); err != nil {
		return err
	}
	for _, b := range m.boards {
		m.sweep(b)
	}
	return nil
}

// PutBoard is the model of store.Boards.PutBoard.
func (m *Model) PutBoard(ctx context.Context, name string, rules leaderboard.Rules) (leaderboard.Board, bool, error) {
	return m.ChangeBoard(ctx, name, func(*leaderboard.Board) (leaderboard.Rules, error) { return rules, nil })
}

// ChangeBoard is the model of store.Boards.ChangeBoard.
func (m *Model) ChangeBoard(ctx context.Context, name string, change leaderboard.RulesChange) (leaderboard.Board, bool, error) {
	defer m.leave()
	if err := m.enter(ctx, "ChangeBoard"); err != nil {
		return leaderboard.Board{}, false, err
	}
	if broken := leaderboard.CheckBoardName(name); broken != nil {
		return leaderboard.Board{}, false, broken
	}
	b := m.boards[name]
	rules, err := changedRules(b, change)
	if err != nil {
		return leaderboard.Board{}, false, err
	}
	if refused := m.refused(b, leaderboard.Board{Name: name, Rules: rules}); refused != nil {
		return leaderboard.Board{}, false, refused
	}
	if b == nil {
		m.changes++
		return m.create(name, rules), true, nil
	}
	if reflect.DeepEqual(b.Rules, rules) {
		return b.Board, false, nil
	}
	if conflict := m.conflict(b, &rules); conflict != nil {
		return leaderboard.Board{}, false, conflict
	}
	m.changes++
	b.Rules, b.Version, b.UpdatedTime = rules, b.Version+1, m.clock()
	m.current(b)
	return b.Board, false, nil
}

// refused returns the error of OnBoard for a board that is to become next; nil: the board is new.
func (m *Model) refused(b *modelBoard, next leaderboard.Board) error {
	if m.OnBoard == nil {
		return nil
	}
	old := &leaderboard.Rules{}
	if b != nil {
		old = &b.Rules
	}
	return m.OnBoard(&next, old, func(name string) *leaderboard.Board {
		if found := m.boards[name]; found != nil {
			return &found.Board
		}
		return nil
	})
}

// changedRules returns the rules that change makes for a board, with defaults and checked.
func changedRules(b *modelBoard, change leaderboard.RulesChange) (rules leaderboard.Rules, err error) {
	if b == nil {
		rules, err = change(nil)
	} else {
		was := b.Board
		rules, err = change(&was)
	}
	if err != nil {
		return rules, err
	}
	rules = rules.WithDefaults()
	return rules, rules.Check()
}

func (m *Model) create(name string, rules leaderboard.Rules) leaderboard.Board {
	now := m.clock()
	b := &modelBoard{keys: map[string]modelKey{}}
	b.Board = leaderboard.Board{ID: m.nextID(), Name: name, Version: 1, Rules: rules, CreatedTime: now, UpdatedTime: now}
	m.current(b)
	m.boards[name] = b
	return b.Board
}

// Board is the model of store.Boards.Board.
func (m *Model) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	defer m.leave()
	if err := m.enter(ctx, "Board"); err != nil {
		return leaderboard.Board{}, err
	}
	if b := m.boards[name]; b != nil {
		return b.Board, nil
	}
	return leaderboard.Board{}, leaderboard.ErrBoardNotFound
}

// Boards is the model of store.Boards.Boards.
func (m *Model) Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error) {
	return m.BoardsLabelled(ctx, nil, after, limit)
}

// BoardsLabelled is the model of store.Boards.BoardsLabelled.
func (m *Model) BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error) {
	defer m.leave()
	if err := m.enter(ctx, "BoardsLabelled"); err != nil {
		return nil, err
	}
	boards := []leaderboard.Board{}
	for _, name := range slices.Sorted(maps.Keys(m.boards)) {
		if name > after && len(boards) < limit && m.boards[name].Rules.Labels.Match(labels) {
			boards = append(boards, m.boards[name].Board)
		}
	}
	return boards, nil
}

// DeleteBoard is the model of store.Boards.DeleteBoard.
func (m *Model) DeleteBoard(ctx context.Context, name string) error {
	defer m.leave()
	if err := m.enter(ctx, "DeleteBoard"); err != nil {
		return err
	}
	b := m.boards[name]
	if b == nil {
		return leaderboard.ErrBoardNotFound
	}
	m.changes++
	for _, p := range b.periods {
		delete(m.periods, p.ID)
	}
	delete(m.boards, name)
	m.hidden = slices.DeleteFunc(m.hidden, func(h leaderboard.HiddenMember) bool { return h.BoardID == b.ID })
	return nil
}
