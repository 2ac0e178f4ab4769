// Package storetest holds what proves a store: a model in memory that says what every answer must be, the conformance
// suite that the model, MySQL, MariaDB and the cached reader pass, and a property test that holds an implementation
// against the model. The model is also the fake for the tests of upper layers.
package storetest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"leaderboard"
)

// Model is a store in memory, as plain as can be: it sorts, and counts one by one. It shares the policies of the root
// package with the real store, nothing else. All methods may be called concurrently.
type Model struct {
	mu      sync.Mutex
	now     leaderboard.Micros // 0: the clock of the machine
	failure error
	boards  map[string]*modelBoard
	periods map[int64]*modelPeriod
	across  map[string]acrossKey // idempotency keys of requests across boards
	runs    []leaderboard.Run    // ordered by id
	lastID  int64

	profiles       map[string]leaderboard.Profile
	friends        map[string]map[string]bool
	friendVersions map[string]leaderboard.Micros
	hidden         []leaderboard.Hiding
	hiddenLog      []leaderboard.HideRecord // ordered by id

	// OnCommit is called like store.Config.OnCommit. Set it before the first submit.
	OnCommit func(leaderboard.PeriodRef, leaderboard.Commit)
}

type modelBoard struct {
	leaderboard.Board
	periods []*modelPeriod // in the order in which they were made
	keys    map[string]modelKey

	reflected *reflection // of a derived board, nil before its first step
}

type modelKey struct {
	entries []leaderboard.Submission
	receipt leaderboard.Receipt
}

type modelPeriod struct {
	leaderboard.Period
	lastCreated leaderboard.Micros
	entries     map[string]leaderboard.Entry
	shadow      map[string]leaderboard.Entry // of hidden members
	log         []leaderboard.Commit
}

// NewModel is an empty store.
func NewModel() *Model {
	return &Model{
		boards: map[string]*modelBoard{}, periods: map[int64]*modelPeriod{}, across: map[string]acrossKey{},
		profiles: map[string]leaderboard.Profile{}, friends: map[string]map[string]bool{}, friendVersions: map[string]leaderboard.Micros{},
	}
}

// SetNow stops the database clock at a moment; 0 lets it run with the machine's again.
func (m *Model) SetNow(now leaderboard.Micros) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
}

// Fail makes every call fail with err, as if the database were away; nil brings it back.
func (m *Model) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = err
}

// enter locks the model for one call; leave must follow, whatever the error.
func (m *Model) enter(ctx context.Context) error {
	m.mu.Lock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.failure
}

func (m *Model) leave() { m.mu.Unlock() }

func (m *Model) clock() leaderboard.Micros {
	if m.now != 0 {
		return m.now
	}
	return leaderboard.MicrosOf(time.Now())
}

func (m *Model) nextID() int64 {
	m.lastID++
	return m.lastID
}

// Ping fails while the model fails.
func (m *Model) Ping(ctx context.Context) error {
	defer m.leave()
	return m.enter(ctx)
}

// Now is the clock of the model.
func (m *Model) Now(ctx context.Context) (leaderboard.Micros, error) {
	defer m.leave()
	return m.clock(), m.enter(ctx)
}

// Sweep is store.Store.Sweep as far as periods go: the model forgets no keys, changes or runs.
func (m *Model) Sweep(ctx context.Context) error {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return err
	}
	for _, b := range m.boards {
		m.sweep(b)
	}
	return nil
}

// PutBoard is store.Store.PutBoard.
func (m *Model) PutBoard(ctx context.Context, name string, rules leaderboard.Rules) (leaderboard.Board, bool, error) {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return leaderboard.Board{}, false, err
	}
	if broken := leaderboard.CheckBoardName(name); broken != nil {
		return leaderboard.Board{}, false, broken
	}
	rules = rules.WithDefaults()
	if broken := rules.Check(); broken != nil {
		return leaderboard.Board{}, false, broken
	}
	b := m.boards[name]
	if b == nil || !reflect.DeepEqual(b.Rules.Derive, rules.Derive) {
		if broken := rules.CheckSources(name, m.findSource); broken != nil {
			return leaderboard.Board{}, false, broken
		}
	}
	if b == nil {
		return m.create(name, rules), true, nil
	}
	if reflect.DeepEqual(b.Rules, rules) {
		return b.Board, false, nil
	}
	if conflict := m.conflict(b, &rules); conflict != nil {
		return leaderboard.Board{}, false, conflict
	}
	b.Rules, b.Version, b.UpdatedTime = rules, b.Version+1, m.clock()
	m.current(b)
	return b.Board, false, nil
}

func (m *Model) create(name string, rules leaderboard.Rules) leaderboard.Board {
	now := m.clock()
	b := &modelBoard{keys: map[string]modelKey{}}
	b.Board = leaderboard.Board{ID: m.nextID(), Name: name, Version: 1, Rules: rules, CreatedTime: now, UpdatedTime: now}
	m.current(b)
	m.boards[name] = b
	return b.Board
}

// Board is store.Store.Board.
func (m *Model) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return leaderboard.Board{}, err
	}
	if b := m.boards[name]; b != nil {
		return b.Board, nil
	}
	return leaderboard.Board{}, leaderboard.ErrBoardNotFound
}

// Boards is store.Store.Boards.
func (m *Model) Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error) {
	return m.BoardsLabelled(ctx, nil, after, limit)
}

// BoardsLabelled is store.Store.BoardsLabelled.
func (m *Model) BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error) {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
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

// DeleteBoard is store.Store.DeleteBoard.
func (m *Model) DeleteBoard(ctx context.Context, name string) error {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return err
	}
	b := m.boards[name]
	if b == nil {
		return leaderboard.ErrBoardNotFound
	}
	for _, p := range b.periods {
		delete(m.periods, p.ID)
	}
	delete(m.boards, name)
	m.hidden = slices.DeleteFunc(m.hidden, func(h leaderboard.Hiding) bool { return h.BoardID == b.ID })
	m.hiddenLog = slices.DeleteFunc(m.hiddenLog, func(r leaderboard.HideRecord) bool { return r.Board == name })
	return nil
}

// StartRun is store.Store.StartRun.
func (m *Model) StartRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error) {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return r, err
	}
	r.ID, r.StartedAt = m.nextID(), m.clock()
	m.runs = append(m.runs, r)
	return r, nil
}

// FinishRun is store.Store.FinishRun.
func (m *Model) FinishRun(ctx context.Context, r leaderboard.Run) error {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return err
	}
	for i := range m.runs {
		if old := &m.runs[i]; old.ID == r.ID {
			old.State, old.FromSeq, old.ToSeq, old.Rows, old.Took, old.Error = r.State, r.FromSeq, r.ToSeq, r.Rows,
				r.Took.Truncate(time.Microsecond), r.Error
			return nil
		}
	}
	return leaderboard.ErrRunNotFound
}

// Run is store.Store.Run.
func (m *Model) Run(ctx context.Context, id int64) (leaderboard.Run, error) {
	runs, err := m.Runs(ctx, 0, id+1, 1)
	if err == nil && (len(runs) == 0 || runs[0].ID != id) {
		err = fmt.Errorf("%d: %w", id, leaderboard.ErrRunNotFound)
	}
	if err != nil {
		return leaderboard.Run{}, err
	}
	return runs[0], nil
}

// Runs is store.Store.Runs.
func (m *Model) Runs(ctx context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error) {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	runs := []leaderboard.Run{}
	for _, r := range slices.Backward(m.runs) {
		p := m.periods[r.PeriodID]
		if p == nil || (boardID != 0 && r.BoardID != boardID) || (before != 0 && r.ID >= before) || len(runs) == limit {
			continue
		}
		r.Window, r.Period = p.Window, p.Name()
		for _, b := range m.boards {
			if b.ID == r.BoardID {
				r.Board = b.Name
			}
		}
		runs = append(runs, r)
	}
	return runs, nil
}
