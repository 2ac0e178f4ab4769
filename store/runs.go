package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard"
	"leaderboard/store/internal/audit"
	"leaderboard/store/internal/db"
)

// maxRunError is the length of the column of errors of runs, in characters.
const maxRunError = 1000

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

// StartRun records that a run of a period began. It returns the run with its ID and, from the database clock,
// StartedAt. An Actor longer than 128 characters is cut. One that somebody asked for is in the audit too.
func (s *Store) StartRun(ctx context.Context, r leaderboard.Run) (_ leaderboard.Run, err error) {
	asked := r.Reason == leaderboard.RunReasonAdmin || r.Reason == leaderboard.RunReasonCommand
	if !asked {
		err = s.insertRun(ctx, s.db, &r)
	} else {
		err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
			if err := s.insertRun(ctx, tx, &r); err != nil {
				return err
			}
			return s.auditRun(ctx, tx, &r)
		})
	}
	if err != nil {
		return r, db.Translate(ctx, "start run", err)
	}
	var started time.Time
	if err := s.db.QueryRowContext(ctx, "SELECT started_at FROM runs WHERE id = ?", r.ID).Scan(&started); err != nil {
		return r, db.Translate(ctx, "start run", err)
	}
	r.StartedAt = leaderboard.MicrosOf(started)
	return r, nil
}

// insertRun adds the row of a run, and gives it its id.
func (s *Store) insertRun(ctx context.Context, tx audit.Execer, r *leaderboard.Run) error {
	result, err := tx.ExecContext(ctx, "INSERT INTO runs (board_id, period_id, kind, reason, actor, state, started_at)"+
		" VALUES (?, ?, ?, ?, ?, ?, "+s.db.Now()+")",
		r.BoardID, r.PeriodID, string(r.Kind), string(r.Reason), db.CutText(r.Actor, db.MaxActor), string(r.State))
	if err != nil {
		return err
	}
	r.ID, err = result.LastInsertId()
	return err
}

// auditRun records that somebody asked for a run: its actor, who is no other than the caller if there is one.
func (s *Store) auditRun(ctx context.Context, tx audit.Execer, r *leaderboard.Run) error {
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

// FinishRun records how a run ended: State, FromSeq, ToSeq, Rows, Took (in microseconds), Error (cut to 1000
// characters). ErrRunNotFound when its row is gone.
func (s *Store) FinishRun(ctx context.Context, r leaderboard.Run) error {
	result, err := s.db.ExecContext(ctx, "UPDATE runs SET state = ?, from_seq = ?, to_seq = ?, row_count = ?, took_us = ?, error = ?"+
		" WHERE id = ?", string(r.State), r.FromSeq, r.ToSeq, r.Rows, r.Took.Microseconds(), db.CutText(r.Error, maxRunError), r.ID)
	if err != nil {
		return db.Translate(ctx, "finish run", err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	// No row changed: it says so already, or there is none.
	_, err = s.Run(ctx, r.ID)
	return err
}

// Run returns the run with this id, or ErrRunNotFound.
func (s *Store) Run(ctx context.Context, id int64) (leaderboard.Run, error) {
	var row runRow
	err := s.db.GetContext(ctx, &row, s.db.Limited(selectRuns+" WHERE r.id = ?"), id)
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrRunNotFound
	}
	if err != nil {
		return leaderboard.Run{}, db.Translate(ctx, "run", err)
	}
	return row.run(), nil
}

// Runs lists runs of a board (0: of all boards), newest first: those with an id below before (0: from the newest on),
// at most limit.
func (s *Store) Runs(ctx context.Context, boardID, before int64, limit int) ([]leaderboard.Run, error) {
	query, args := selectRuns+" WHERE r.id > 0", []any(nil)
	if boardID > 0 {
		query, args = query+" AND r.board_id = ?", append(args, boardID)
	}
	if before > 0 {
		query, args = query+" AND r.id < ?", append(args, before)
	}
	var rows []runRow
	if err := s.db.SelectContext(ctx, &rows, s.db.Limited(query+" ORDER BY r.id DESC LIMIT ?"), append(args, max(0, limit))...); err != nil {
		return nil, db.Translate(ctx, "runs", err)
	}
	runs := make([]leaderboard.Run, len(rows))
	for i := range rows {
		runs[i] = rows[i].run()
	}
	return runs, nil
}
