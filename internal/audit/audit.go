// Package audit writes and reads the record of what admins and keys have changed, the table audit.
//
// A row is written in the transaction that makes the change, by Write or, in a packet of statements, by Append: every change
// calls one of them before the commit, and a change that did nothing writes no row.
package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Change is the content of a row. The caller is in the context, see leaderboard.CallerOf.
type Change struct {
	Action leaderboard.AuditAction
	Board  string // name, "" for none
	Member string // "" for none
	// Before and After are the old and the new state, each encoded as a JSON object; nil for none. They never contain a
	// secret, and the id of a member only where erasing the member removes it, see Erase.
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

// stored is a row as it is read.
type stored struct {
	ID        int64          `db:"id"`
	At        time.Time      `db:"logged_at"`
	Actor     []byte         `db:"actor"`
	Action    []byte         `db:"action"`
	Board     []byte         `db:"board"`
	Member    []byte         `db:"member"`
	Before    sql.NullString `db:"before_json"`
	After     sql.NullString `db:"after_json"`
	RequestID []byte         `db:"request_id"`
}

// maxScanned is how many records are read for one page when there are several filters, of which an index serves one. The
// other filters are checked in the index, which has their columns too.
const maxScanned = 20_000

// Find returns the records that a query selects. When it has read maxScanned records without finding enough, there may be
// more after rest.
func Find(ctx context.Context, d *mysql.DB, q leaderboard.AuditQuery) (found []leaderboard.AuditEntry, rest leaderboard.AuditPlace, err error) {
	by := filtersOf(&q)
	if len(by) > 1 {
		if rest, err = lastScanned(ctx, d, by[0], &q); err != nil {
			return nil, rest, err
		}
	}
	var rows []stored
	query, args := statement(by, &q, rest)
	if err := d.Pool.SelectContext(ctx, &rows, d.Limited(query), args...); err != nil {
		return nil, rest, err
	}
	if len(rows) >= q.Limit {
		rest = leaderboard.AuditPlace{} // there may be more after the last of them
	}
	found = make([]leaderboard.AuditEntry, len(rows))
	for i, r := range rows {
		found[i] = leaderboard.AuditEntry{
			ID: r.ID, Time: leaderboard.MicrosOf(r.At), Actor: string(r.Actor), Action: leaderboard.AuditAction(r.Action), Board: string(r.Board),
			Member: string(r.Member), Before: r.Before.String, After: r.After.String, RequestID: string(r.RequestID),
		}
	}
	return found, rest, nil
}

// filter is a column that a query selects by, and the index for it.
type filter struct{ index, column, value string }

// filtersOf returns those of a query, first the one that leaves the fewest records as a rule: its index is used. All indexes
// end in the order of the answer.
func filtersOf(q *leaderboard.AuditQuery) []filter {
	all := []filter{
		{"audit_member", "member", q.Member}, {"audit_board", "board", q.Board}, {"audit_actor", "actor", q.Actor}, {"audit_action", "action", string(q.Action)},
	}
	return slices.DeleteFunc(all, func(f filter) bool { return f.value == "" })
}

// lastScanned returns the place of the last record that is looked at for a page, none when all are.
func lastScanned(ctx context.Context, d *mysql.DB, by filter, q *leaderboard.AuditQuery) (leaderboard.AuditPlace, error) {
	var place struct {
		At time.Time `db:"logged_at"`
		ID int64     `db:"id"`
	}
	query, args := lastScannedText(by, q)
	err := d.Pool.GetContext(ctx, &place, d.Limited(query), args...)
	if errors.Is(err, sql.ErrNoRows) {
		return leaderboard.AuditPlace{}, nil
	}
	return leaderboard.AuditPlace{Time: leaderboard.MicrosOf(place.At), ID: place.ID}, err
}

func lastScannedText(by filter, q *leaderboard.AuditQuery) (query string, args []any) {
	where, args := between([]filter{by}, q)
	return "SELECT logged_at, id FROM audit FORCE INDEX (" + by.index + ")" + where + inOrder + " LIMIT 1 OFFSET ?", append(args, maxScanned-1)
}

const inOrder = " ORDER BY logged_at DESC, id DESC"

// statement returns the query for records, down to a place.
func statement(by []filter, q *leaderboard.AuditQuery, to leaderboard.AuditPlace) (query string, args []any) {
	index := "audit_time"
	if len(by) > 0 {
		index = by[0].index
	}
	where, args := between(by, q)
	if to.ID != 0 {
		where += " AND logged_at >= ? AND (logged_at > ? OR id >= ?)"
		args = append(args, to.Time.Time(), to.Time.Time(), to.ID)
	}
	return "SELECT id, logged_at, actor, action, board, member, before_json, after_json, request_id FROM audit FORCE INDEX (" + index + ")" + where +
		inOrder + " LIMIT ?", append(args, max(0, q.Limit))
}

// between returns the condition that a record is one of those that the filters leave, within the times of a query and
// behind its place.
func between(by []filter, q *leaderboard.AuditQuery) (where string, args []any) {
	where = " WHERE "
	for _, f := range by {
		where, args = where+f.column+" = ? AND ", append(args, []byte(f.value))
	}
	before, id := q.BeforeTime, q.BeforeID
	if id == 0 {
		if before = q.Until; before == 0 {
			before = leaderboard.MaxTime
		}
	}
	since, last := q.Since.Time(), before.Time()
	return where + "logged_at >= ? AND logged_at <= ? AND (logged_at < ? OR id < ?)", append(args, since, last, last, id)
}
