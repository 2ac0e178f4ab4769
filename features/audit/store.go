package audit

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"leaderboard/api"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Store has the records of who changed what. All methods may be called concurrently.
type Store struct{ db *mysql.DB }

// stored is a row of the table.
type stored struct {
	ID        int64     `db:"id"`
	At        time.Time `db:"logged_at"`
	Actor     []byte    `db:"actor"`
	Action    []byte    `db:"action"`
	Board     []byte    `db:"board"`
	Member    []byte    `db:"member"`
	Before    []byte    `db:"before_json"` // nil: null
	After     []byte    `db:"after_json"`
	RequestID []byte    `db:"request_id"`
}

// maxScanned is the number of records that are read for one page with several filters. An index serves one filter. The
// other filters are checked in the index, which has their columns too.
const maxScanned = 20_000

// Audit returns the records of changes that the query selects, newest first. For a query with several filters it looks at a
// bounded number of records: rest is where it stopped, if there may be more.
func (s *Store) Audit(ctx context.Context, q leaderboard.AuditQuery) (found []api.AuditEntry, rest leaderboard.AuditPlace, err error) {
	found, rest, err = s.find(ctx, q)
	return found, rest, mysql.Translate(ctx, "audit", err)
}

func (s *Store) find(ctx context.Context, q leaderboard.AuditQuery) (found []api.AuditEntry, rest leaderboard.AuditPlace, err error) {
	by := filtersOf(&q)
	if len(by) > 1 {
		if rest, err = s.lastScanned(ctx, by[0], &q); err != nil {
			return nil, rest, err
		}
	}
	var rows []stored
	query, args := statement(by, &q, rest)
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(query), args...); err != nil {
		return nil, rest, err
	}
	if len(rows) >= q.Limit {
		rest = leaderboard.AuditPlace{} // there may be more after the last of them
	}
	found = make([]api.AuditEntry, len(rows))
	for i, r := range rows {
		found[i] = api.AuditEntry{
			ID: r.ID, Time: r.At, Actor: string(r.Actor), Action: leaderboard.AuditAction(r.Action), Board: string(r.Board),
			Member: string(r.Member), Before: r.Before, After: r.After, RequestID: string(r.RequestID),
		}
	}
	return found, rest, nil
}

// filter is a column that a query selects by, and the index for it.
type filter struct{ index, column, value string }

// filtersOf returns the filters of a query. The first filter usually leaves the fewest records: its index is used. All indexes
// end in the order of the answer.
func filtersOf(q *leaderboard.AuditQuery) []filter {
	all := []filter{
		{"audit_member", "member", q.Member}, {"audit_board", "board", q.Board}, {"audit_actor", "actor", q.Actor}, {"audit_action", "action", string(q.Action)},
	}
	return slices.DeleteFunc(all, func(f filter) bool { return f.value == "" })
}

// lastScanned returns the place of the last record that is looked at for a page, none when all are.
func (s *Store) lastScanned(ctx context.Context, by filter, q *leaderboard.AuditQuery) (leaderboard.AuditPlace, error) {
	var place struct {
		At time.Time `db:"logged_at"`
		ID int64     `db:"id"`
	}
	query, args := lastScannedText(by, q)
	err := s.db.Pool.GetContext(ctx, &place, s.db.Limited(query), args...)
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

// between returns the condition that a record passes the filters, is within the times of a query and after its place.
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

// data returns the audit of a member.
func (s *Store) data(ctx context.Context, member string, tell func(any) error) error {
	records := func(after leaderboard.AuditQuery) ([]api.AuditEntry, error) {
		after.Member, after.Limit = member, store.DataPage
		found, _, err := s.Audit(ctx, after)
		return found, err
	}
	return store.InPages(records, func(e *api.AuditEntry) (leaderboard.AuditQuery, error) {
		return leaderboard.AuditQuery{BeforeTime: leaderboard.MicrosOf(e.Time), BeforeID: e.ID}, tell(e)
	})
}
