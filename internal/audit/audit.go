// Package audit writes the record of changes by admins and keys, the table audit.
//
// A row is written in the transaction that makes the change, by Write or, in a packet of statements, by Append: every change
// calls one of them before the commit, and a change that did nothing writes no row.
package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Change is the content of a row. The caller is in the context, see leaderboard.CallerOf.
type Change struct {
	Action leaderboard.AuditAction
	Board  string // name, or ""
	Member string // or ""
	// Before and After are the old and the new state, each encoded as a JSON object; or nil. They never contain a secret,
	// and the id of a member only where erasing the member removes it, see Erase.
	Before, After any
}

// Execer is a transaction.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Write adds the row of a change to the transaction that makes it, and returns the id of the row: no two rows ever have
// the same.
func Write(ctx context.Context, d *mysql.DB, tx Execer, c Change) (id int64, err error) {
	r, err := rowOf(leaderboard.CallerOf(ctx), c)
	if err != nil {
		return 0, err
	}
	t := (&mysql.Text{}).Str(insert)
	r.appendTo(t.Str("("), func() { t.Str(d.Sysdate()) })
	result, err := tx.ExecContext(ctx, t.Str(")").String())
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// Row is a change with its caller, ready to be written.
type Row struct {
	caller        leaderboard.Caller
	change        Change
	before, after []byte
}

// RowOf returns the row of a change by the caller in ctx.
func RowOf(caller leaderboard.Caller, c Change) (Row, error) { return rowOf(caller, c) }

func rowOf(caller leaderboard.Caller, c Change) (r Row, err error) {
	r = Row{caller: caller, change: c}
	if r.before, err = encode(c.Before); err == nil {
		r.after, err = encode(c.After)
	}
	return r, err
}

// encode returns v as JSON, nil for nothing.
func encode(v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("what the audit is to record: %w", err)
	}
	return text, nil
}

const insert = "INSERT INTO audit (logged_at, actor, action, board, member, before_json, after_json, request_id) VALUES "

// Append adds the statement that writes rows, all of the same moment by the database clock, to a packet of statements of
// the transaction that makes the changes.
func Append(t *mysql.Text, rows []Row, at leaderboard.Micros) {
	for i := range rows {
		if i == 0 {
			t.Str(insert)
		}
		rows[i].appendTo(t.Comma(i).Str("("), func() { t.Time(at) })
		t.Str(")")
	}
	if len(rows) > 0 {
		t.Str(";")
	}
}

func (r *Row) appendTo(t *mysql.Text, at func()) {
	at()
	t.Str(",").Hex(mysql.CutBytes(r.caller.Key, mysql.MaxActor)).Str(",").Hex(string(r.change.Action)).Str(",").Hex(r.change.Board).Str(",").Hex(r.change.Member)
	for _, text := range [][]byte{r.before, r.after} {
		if t.Str(","); text == nil {
			t.Str("NULL")
		} else {
			t.HexText(string(text))
		}
	}
	t.Str(",").Hex(r.caller.RequestID)
}
