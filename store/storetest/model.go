// Package storetest holds what proves a store: a model in memory that knows what every answer must be, the conformance
// suite that the model, MySQL, MariaDB and the cached reader pass, and a property test that holds an implementation
// against the model. The model is also the fake for the tests of upper layers.
package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"leaderboard/leaderboard"
)

// Model is a store in memory, as plain as possible: it sorts, and counts one by one. It shares only the policies of the
// root package with the real store. All methods may be called concurrently.
type Model struct {
	mu         sync.Mutex
	now        leaderboard.Micros // 0: the clock of the machine
	failure    error
	boards     map[string]*modelBoard
	periods    map[int64]*modelPeriod
	multiBoard map[string]multiBoardKey // idempotency keys of multi-board requests
	runs       []leaderboard.Run        // ordered by id
	silent     map[int64]bool           // runs without a heartbeat
	lastID     int64
	changes    int64 // of boards

	friends map[string]map[string]bool
	hidden  []leaderboard.HiddenMember

	// OnCommit is called like store.Config.OnCommit. Set it before the first submit.
	OnCommit func(leaderboard.PeriodRef, leaderboard.Commit)
	// OnBoard is called like a store.BoardChange, with a function that finds boards by name, nil for an unknown name. Set it before
	// the first board is made. It must not call the model.
	OnBoard func(b *leaderboard.Board, old *leaderboard.Rules, find func(name string) *leaderboard.Board) error
	// OnCall is called at the beginning of each call with the name of its method, and fails it with its error. OnState may change
	// the state of an answer about one period. Set both before the first call. They must not call the model.
	OnCall  func(method string) error
	OnState func(*leaderboard.State)
}

type modelBoard struct {
	leaderboard.Board
	periods []*modelPeriod // in the order in which they were made
	keys    map[string]modelKey
	plays   map[string]*leaderboard.Play // by member
	held    []*leaderboard.Held
}

type modelKey struct {
	entries []leaderboard.Submission
	atomic  bool
	receipt leaderboard.Receipt
}

type multiBoardKey struct {
	entries []leaderboard.BoardSubmission
	atomic  bool
	receipt leaderboard.MultiBoardReceipt
}

type modelPeriod struct {
	leaderboard.Period
	lastCreated   leaderboard.Micros
	entries       map[string]leaderboard.Entry
	hiddenEntries map[string]leaderboard.Entry // of hidden members
	metadata      map[string]string            // of the entries of both, by member; "" if an earlier entry had some
	log           []leaderboard.Commit
}

// NewModel returns an empty store.
func NewModel() *Model {
	return &Model{
		boards: map[string]*modelBoard{}, periods: map[int64]*modelPeriod{}, multiBoard: map[string]multiBoardKey{}, silent: map[int64]bool{},
		friends: map[string]map[string]bool{},
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

// enter locks the model for one call of a method; leave must follow, also after an error.
func (m *Model) enter(ctx context.Context, method string) error {
	m.mu.Lock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.OnCall != nil {
		if err := m.OnCall(method); err != nil {
			return err
		}
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
	return m.enter(ctx, "Ping")
}

// Now returns the clock of the model.
func (m *Model) Now(ctx context.Context) (leaderboard.Micros, error) {
	defer m.leave()
	return m.clock(), m.enter(ctx, "Now")
}

// StartRun is the model of store.Runs.StartRun.
func (m *Model) StartRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error) {
	defer m.leave()
	if err := m.enter(ctx, "StartRun"); err != nil {
		return r, err
	}
	r.ID, r.StartedAt = m.nextID(), m.clock()
	m.runs = append(m.runs, r)
	return r, nil
}

// FinishRun is the model of store.Runs.FinishRun.
func (m *Model) FinishRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error) {
	if err := m.finish(ctx, r); err != nil {
		return r, err
	}
	return m.Run(ctx, r.ID)
}

func (m *Model) finish(ctx context.Context, r leaderboard.Run) error {
	defer m.leave()
	if err := m.enter(ctx, "FinishRun"); err != nil {
		return err
	}
	for i := range m.runs {
		old := &m.runs[i]
		if old.ID == r.ID && old.State == leaderboard.RunStateRunning {
			old.State, old.FromSeq, old.ToSeq, old.Rows, old.Took, old.Error = r.State, r.FromSeq, r.ToSeq, r.Rows,
				r.Took.Truncate(time.Microsecond), r.Error
		}
	}
	return nil
}

// Silence ends the heartbeats of a run, as if its process had ended.
func (m *Model) Silence(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent[id] = true
}

// EndRuns is the model of store.Runs.EndRuns.
func (m *Model) EndRuns(ctx context.Context) error {
	defer m.leave()
	if err := m.enter(ctx, "EndRuns"); err != nil {
		return err
	}
	for i := range m.runs {
		if r := &m.runs[i]; m.silent[r.ID] && r.State == leaderboard.RunStateRunning {
			r.State, r.Error = leaderboard.RunStateFailed, "its server ended"
		}
	}
	return nil
}

// Run is the model of store.Runs.Run.
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

// Runs is the model of store.Runs.Runs.
func (m *Model) Runs(ctx context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error) {
	defer m.leave()
	if err := m.enter(ctx, "Runs"); err != nil {
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
