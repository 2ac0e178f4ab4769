package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

const (
	// maxRunError is the length of the column of errors of runs, in characters.
	maxRunError = 1000
	// runBeat is the time between two heartbeats of the runs under way here.
	runBeat = 4 * time.Second
	// runLease is how long a run without a heartbeat counts as under way.
	runLease = 20 * time.Second
	// beatRuns is how many runs one statement keeps alive, or ends.
	beatRuns = 500
	// serverEnded is the error of a run that another server ended.
	serverEnded = "its server ended"
)

// runRow is a row of runs with the names of its board and period.
type runRow struct {
	ID       int64     `db:"id"`
	BoardID  int64     `db:"board_id"`
	Board    []byte    `db:"board"`
	PeriodID int64     `db:"period_id"`
	Window   []byte    `db:"window_name"`
	Label    []byte    `db:"period_name"`
	Kind     []byte    `db:"kind"`
	Reason   []byte    `db:"reason"`
	Actor    string    `db:"actor"`
	State    []byte    `db:"state"`
	FromSeq  int64     `db:"from_seq"`
	ToSeq    int64     `db:"to_seq"`
	Rows     int64     `db:"row_count"`
	Started  time.Time `db:"started_at"`
	TookUS   int64     `db:"took_us"`
	Error    string    `db:"error"`
}

const selectRuns = "SELECT r.id, r.board_id, b.name AS board, r.period_id, p.window_name, p.name AS period_name, r.kind, r.reason, r.actor, r.state," +
	" r.from_seq, r.to_seq, r.row_count, r.started_at, r.took_us, r.error" +
	" FROM runs r JOIN boards b ON b.id = r.board_id AND b.state = 'open' JOIN periods p ON p.id = r.period_id"

func (r *runRow) run() leaderboard.Run {
	period := leaderboard.Period{Window: leaderboard.Window(r.Window), Label: string(r.Label)}
	return leaderboard.Run{
		ID: r.ID, BoardID: r.BoardID, Board: string(r.Board), PeriodID: r.PeriodID, Window: period.Window,
		Period: period.Name(), Kind: leaderboard.RunKind(r.Kind), Reason: leaderboard.RunReason(r.Reason), Actor: r.Actor,
		State: leaderboard.RunState(r.State), FromSeq: r.FromSeq, ToSeq: r.ToSeq, Rows: r.Rows,
		StartedAt: leaderboard.MicrosOf(r.Started), Took: time.Duration(r.TookUS) * time.Microsecond, Error: r.Error,
	}
}

// Runs is the history of runs. All methods may be called concurrently.
type Runs struct {
	db   *mysql.DB
	here *runsHere
}

// StartRun records that a run of a period began. It returns the run with its ID and, from the database clock,
// StartedAt. An Actor longer than 128 characters is cut. A run that a caller requested is in the audit too.
func (s *Runs) StartRun(ctx context.Context, r leaderboard.Run) (_ leaderboard.Run, err error) {
	asked := r.Reason == leaderboard.RunReasonAdmin || r.Reason == leaderboard.RunReasonCommand
	if !asked {
		err = s.insertRun(ctx, s.db.Pool, &r)
	} else {
		err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
			if err := s.insertRun(ctx, tx, &r); err != nil {
				return err
			}
			return s.auditRun(ctx, tx, &r)
		})
	}
	if err != nil {
		return r, mysql.Translate(ctx, "start run", err)
	}
	if r.State == leaderboard.RunStateRunning {
		s.here.begin(r.ID, s.beat)
	}
	var started time.Time
	if err := s.db.Pool.QueryRowContext(ctx, "SELECT started_at FROM runs WHERE id = ?", r.ID).Scan(&started); err != nil {
		s.here.end(r.ID)
		return r, mysql.Translate(ctx, "start run", err)
	}
	r.StartedAt = leaderboard.MicrosOf(started)
	return r, nil
}

// insertRun adds the row of a run, and gives it its id.
func (s *Runs) insertRun(ctx context.Context, tx audit.Execer, r *leaderboard.Run) error {
	result, err := tx.ExecContext(ctx, "INSERT INTO runs (board_id, period_id, kind, reason, actor, state, started_at, server, alive_at)"+
		" VALUES (?, ?, ?, ?, ?, ?, "+s.db.Now()+", ?, "+s.db.Now()+")",
		r.BoardID, r.PeriodID, string(r.Kind), string(r.Reason), mysql.CutText(r.Actor, mysql.MaxActor), string(r.State), s.here.server)
	if err != nil {
		return err
	}
	r.ID, err = result.LastInsertId()
	return err
}

// auditRun records that a run was requested by its actor: the caller, if any.
func (s *Runs) auditRun(ctx context.Context, tx audit.Execer, r *leaderboard.Run) error {
	caller := leaderboard.Caller{Key: r.Actor, RequestID: leaderboard.CallerOf(ctx).RequestID}
	_, err := audit.Write(leaderboard.WithCaller(ctx, caller), s.db, tx, audit.Change{
		Action: leaderboard.AuditActionBoardRebuild, Board: r.Board, After: struct {
			Run    int64                 `json:"run"`
			Kind   leaderboard.RunKind   `json:"kind"`
			Reason leaderboard.RunReason `json:"reason"`
			Window leaderboard.Window    `json:"window"`
			Period string                `json:"period"`
		}{r.ID, r.Kind, r.Reason, r.Window, r.Period},
	})
	return err
}

// FinishRun records the end or the progress of a run: State, FromSeq, ToSeq, Rows, Took (in microseconds), Error (cut to
// 1000 characters). It returns the recorded run. A run that has ended does not change: a process that was frozen for long
// finds that another has ended its runs. ErrRunNotFound when its row is gone. A run that another Store began is not
// changed.
func (s *Runs) FinishRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error) {
	if r.State != leaderboard.RunStateRunning {
		s.here.end(r.ID)
	}
	result, err := s.db.Pool.ExecContext(ctx, "UPDATE runs SET state = ?, from_seq = ?, to_seq = ?, row_count = ?, took_us = ?, error = ?"+
		" WHERE id = ? AND state = 'running' AND server = ?",
		string(r.State), r.FromSeq, r.ToSeq, r.Rows, r.Took.Microseconds(), mysql.CutText(r.Error, maxRunError), r.ID, s.here.server)
	if err != nil {
		return r, mysql.Translate(ctx, "finish run", err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return r, err
	}
	// No row changed: it has these values already, has ended, or does not exist.
	recorded, err := s.Run(ctx, r.ID)
	if err == nil && recorded.State != r.State {
		s.db.Log.WarnContext(ctx, "a run of this server was ended by another one, to which it was silent for too long", "run", r.ID, "board", recorded.Board,
			"state", recorded.State, "here", r.State)
	}
	return recorded, err
}

// runsHere are the runs under way in this process.
type runsHere struct {
	server string // the name of this process in their rows, which no process had before

	mu     sync.Mutex // guards the fields below
	alive  map[int64]bool
	stop   context.CancelFunc // nil until the first run
	closed bool
	beats  sync.WaitGroup // the goroutine of the heartbeats

	looked leaderboard.Micros // the clock of the database at the last EndRuns
}

func newRunsHere() *runsHere { return &runsHere{server: rand.Text(), alive: map[int64]bool{}} }

// begin keeps a run alive in the database until its end.
func (h *runsHere) begin(id int64, beat func(ctx context.Context, ids []int64)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive[id] = true
	if h.stop != nil || h.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.stop = cancel
	h.beats.Go(func() {
		mysql.Every(ctx, runBeat, func() {
			h.mu.Lock()
			ids := slices.Sorted(maps.Keys(h.alive))
			h.mu.Unlock()
			for part := range slices.Chunk(ids, beatRuns) {
				beat(ctx, part)
			}
		})
	})
}

func (h *runsHere) end(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.alive, id)
}

// close ends the heartbeats, also of runs that have not ended.
func (h *runsHere) close() {
	h.mu.Lock()
	h.closed = true
	if h.stop != nil {
		h.stop()
	}
	h.mu.Unlock()
	h.beats.Wait()
}

// beat is the heartbeat of runs of this process. A run that another process has ended stays ended.
func (s *Runs) beat(ctx context.Context, ids []int64) {
	ctx, cancel := context.WithTimeout(ctx, runBeat)
	defer cancel()
	t := (&mysql.Text{}).Str("UPDATE runs SET alive_at = " + s.db.Now() + " WHERE id IN (").Ints(ids).Str(") AND state = 'running' AND server = ?")
	if _, err := s.db.Pool.ExecContext(ctx, t.String(), s.here.server); err != nil && ctx.Err() == nil {
		s.db.Log.WarnContext(ctx, "runs under way are not heard of for now", "runs", len(ids), "error", mysql.Translate(ctx, "beat", err))
	}
}

const runsSilent = "SELECT id, alive_at FROM runs WHERE state = 'running' AND alive_at NOT BETWEEN ? AND ? ORDER BY id LIMIT ?"

// EndRuns marks runs as failed whose process has ended or is frozen: runs without a heartbeat for runLease, by the database
// clock. Any number of processes call it, about every runBeat. After a longer pause, or a leap of the database clock, only
// the second call ends runs, so that healthy processes have time for a heartbeat.
func (s *Runs) EndRuns(ctx context.Context) error {
	now, err := s.db.Clock(ctx)
	if err != nil {
		return err
	}
	s.here.mu.Lock()
	since := time.Duration(now-s.here.looked) * time.Microsecond
	s.here.looked = now
	s.here.mu.Unlock()
	if since < 0 || since > runLease-runBeat {
		return nil
	}
	at := func(ahead time.Duration) time.Time { return now.Time().Add(ahead) }
	var silent []struct {
		ID    int64     `db:"id"`
		Alive time.Time `db:"alive_at"`
	}
	if err := s.db.Pool.SelectContext(ctx, &silent, s.db.Limited(runsSilent), at(-runLease), at(runLease), beatRuns); err != nil {
		return mysql.Translate(ctx, "silent runs", err)
	}
	if len(silent) > 0 {
		if err := s.canBeat(ctx); err != nil {
			return err
		}
	}
	for _, r := range silent {
		const end = "UPDATE runs SET state = 'failed', error = ?, took_us = GREATEST(0, TIMESTAMPDIFF(MICROSECOND, started_at, alive_at))" +
			" WHERE id = ? AND state = 'running' AND alive_at = ?"
		if _, err := s.db.Pool.ExecContext(ctx, end, serverEnded, r.ID, r.Alive); err != nil {
			return mysql.Translate(ctx, "end run", err)
		}
		s.db.Log.WarnContext(ctx, "a run has failed: "+serverEnded, "run", r.ID, "heard_of", r.Alive)
	}
	return nil
}

// canBeat returns an error when a heartbeat would wait for a lock now, such as a backup's lock: then the runs of other
// processes may lack a heartbeat only for this reason.
func (s *Runs) canBeat(ctx context.Context) error {
	began := time.Now()
	if _, err := s.db.Pool.ExecContext(ctx, "UPDATE runs SET alive_at = alive_at WHERE id = 0"); err != nil {
		return mysql.Translate(ctx, "silent runs", err)
	}
	if waited := time.Since(began); waited > runBeat/4 {
		s.here.mu.Lock()
		s.here.looked = 0
		s.here.mu.Unlock()
		return fmt.Errorf("%w: a heartbeat waited for %s", leaderboard.ErrUnavailable, waited)
	}
	return nil
}

// Run returns the run with this id, or ErrRunNotFound.
func (s *Runs) Run(ctx context.Context, id int64) (leaderboard.Run, error) {
	var row runRow
	err := s.db.Pool.GetContext(ctx, &row, s.db.Limited(selectRuns+" WHERE r.id = ?"), id)
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrRunNotFound
	}
	if err != nil {
		return leaderboard.Run{}, mysql.Translate(ctx, "run", err)
	}
	return row.run(), nil
}

// Runs lists runs of a board (0: of all boards), newest first: the ones with an id below before (0: from the newest), at
// most limit.
func (s *Runs) Runs(ctx context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error) {
	query, args := selectRuns+" WHERE r.id > 0", []any(nil)
	if boardID > 0 {
		query, args = query+" AND r.board_id = ?", append(args, boardID)
	}
	if before > 0 {
		query, args = query+" AND r.id < ?", append(args, before)
	}
	var rows []runRow
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(query+" ORDER BY r.id DESC LIMIT ?"), append(args, max(0, limit))...); err != nil {
		return nil, mysql.Translate(ctx, "runs", err)
	}
	runs := make([]leaderboard.Run, len(rows))
	for i := range rows {
		runs[i] = rows[i].run()
	}
	return runs, nil
}
