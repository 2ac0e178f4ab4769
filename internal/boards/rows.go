// Package boards has the rows of boards and their periods, and their changes with the database clock.
//
// Read rows.go (how a row becomes a board or a period), then rollover.go (which periods are current at a moment, which have
// ended, and how that is written), and lookup.go (a process's memory of boards, and a board with its current periods for
// readers).
package boards

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Row is a row of boards.
type Row struct {
	ID      int64     `db:"id"`
	Name    []byte    `db:"name"`
	Version int64     `db:"version"`
	Rules   []byte    `db:"rules"`
	Created time.Time `db:"created_at"`
	Updated time.Time `db:"updated_at"`
}

// Columns are the columns of a Row.
const Columns = "id, name, version, rules, created_at, updated_at"

// JoinedColumns are Columns of the table b of a join.
const JoinedColumns = "b.id, b.name, b.version, b.rules, b.created_at, b.updated_at"

// Dest returns where Columns are scanned to.
func (r *Row) Dest() []any {
	return []any{&r.ID, &r.Name, &r.Version, &r.Rules, &r.Created, &r.Updated}
}

// Board returns the board of the row, its rules with their defaults. Board.Unknown has the rule that this server does not
// know.
func (r *Row) Board() (leaderboard.Board, error) { return r.board(zones{}) }

// zones are time zones that were looked up, by name: known or not. Each look reads a file.
type zones map[string]bool

// know reports whether this machine knows the time zone of rules.
func (z zones) know(r *leaderboard.Rules) bool {
	known, found := z[r.TimeZone]
	if !found {
		_, err := r.Calendar()
		known = err == nil
		z[r.TimeZone] = known
	}
	return known
}

func (r *Row) board(zones zones) (leaderboard.Board, error) {
	b := leaderboard.Board{
		ID: r.ID, Name: string(r.Name), Version: r.Version,
		CreatedTime: leaderboard.MicrosOf(r.Created), UpdatedTime: leaderboard.MicrosOf(r.Updated),
	}
	err := json.Unmarshal(r.Rules, &b.Rules, json.RejectUnknownMembers(true))
	if unknown, ok := errors.AsType[*json.SemanticError](err); ok && errors.Is(err, json.ErrUnknownName) {
		b.Unknown, b.Rules = string(unknown.JSONPointer), leaderboard.Rules{}
		err = json.Unmarshal(r.Rules, &b.Rules)
	}
	if err != nil {
		return b, mysql.Wrap("rules of board "+b.Name, err)
	}
	b.Rules = b.Rules.WithDefaults()
	b.Unknown = cmp.Or(b.Unknown, b.Rules.UnknownWord())
	if b.Unknown == "" && !zones.know(&b.Rules) {
		b.Unknown = leaderboard.UnknownZone
	}
	return b, nil
}

// All returns the boards of rows.
func All(rows []Row) ([]leaderboard.Board, error) {
	boards, zones := make([]leaderboard.Board, len(rows)), zones{}
	for i := range rows {
		var err error
		if boards[i], err = rows[i].board(zones); err != nil {
			return nil, err
		}
	}
	return boards, nil
}

// Get runs a query for Columns that finds one board at most. Errors: ErrBoardNotFound.
func Get(ctx context.Context, q sqlx.QueryerContext, query string, args ...any) (leaderboard.Board, error) {
	var row Row
	err := sqlx.GetContext(ctx, q, &row, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return leaderboard.Board{}, leaderboard.ErrBoardNotFound
	}
	if err != nil {
		return leaderboard.Board{}, err
	}
	return row.Board()
}

// PeriodRow is a row of periods.
type PeriodRow struct {
	ID          int64        `db:"id"`
	Incarnation int64        `db:"incarnation"`
	BoardID     int64        `db:"board_id"`
	Window      []byte       `db:"window_name"`
	Label       []byte       `db:"name"`
	StartsAt    time.Time    `db:"starts_at"`
	EndsAt      sql.NullTime `db:"ends_at"`
	State       []byte       `db:"state"`
	LastSeq     int64        `db:"last_seq"`
	EntryCount  int64        `db:"entry_count"`
	Committed   time.Time    `db:"committed_at"`
}

// PeriodColumns are the columns of a PeriodRow.
const PeriodColumns = "id, incarnation, board_id, window_name, name, starts_at, ends_at, state, last_seq, entry_count, committed_at"

// Dest returns where PeriodColumns are scanned to.
func (r *PeriodRow) Dest() []any {
	return []any{
		&r.ID, &r.Incarnation, &r.BoardID, &r.Window, &r.Label, &r.StartsAt, &r.EndsAt, &r.State, &r.LastSeq, &r.EntryCount, &r.Committed,
	}
}

// Period returns the period of the row.
func (r *PeriodRow) Period() leaderboard.Period {
	p := leaderboard.Period{
		ID: r.ID, Incarnation: r.Incarnation, BoardID: r.BoardID, Window: leaderboard.Window(r.Window), Label: string(r.Label),
		StartsAt: leaderboard.MicrosOf(r.StartsAt), EndsAt: leaderboard.Forever, State: leaderboard.PeriodState(r.State), LastSeq: r.LastSeq,
		EntryCount: r.EntryCount, Committed: leaderboard.MicrosOf(r.Committed),
	}
	if r.EndsAt.Valid {
		p.EndsAt = leaderboard.MicrosOf(r.EndsAt.Time)
	}
	return p
}

// JoinedPeriod is the row of a period on the outer side of a join: it may be absent.
type JoinedPeriod struct {
	id, incarnation, seq, entries sql.NullInt64
	window, name, state           sql.NullString
	startsAt, endsAt, committedAt sql.NullTime
}

// JoinedPeriodColumns are the columns of a JoinedPeriod, of the table p of the join.
const JoinedPeriodColumns = "p.id, p.incarnation, p.window_name, p.name, p.starts_at, p.ends_at, p.state, p.last_seq, p.entry_count, p.committed_at"

// Dest returns where JoinedPeriodColumns are scanned to.
func (p *JoinedPeriod) Dest() []any {
	return []any{&p.id, &p.incarnation, &p.window, &p.name, &p.startsAt, &p.endsAt, &p.state, &p.seq, &p.entries, &p.committedAt}
}

// Exists reports whether there is a period.
func (p *JoinedPeriod) Exists() bool { return p.id.Valid }

// Period returns the period of a board, when it Exists.
func (p *JoinedPeriod) Period(boardID int64) leaderboard.Period {
	row := PeriodRow{
		ID: p.id.Int64, Incarnation: p.incarnation.Int64, BoardID: boardID, Window: []byte(p.window.String), Label: []byte(p.name.String),
		StartsAt: p.startsAt.Time, EndsAt: p.endsAt, State: []byte(p.state.String), LastSeq: p.seq.Int64, EntryCount: p.entries.Int64, Committed: p.committedAt.Time,
	}
	return row.Period()
}
