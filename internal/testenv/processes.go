package testenv

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Process is a connection to the database of a test, as MySQL shows it.
type Process struct {
	ID        int64
	Command   string // "Query", "Execute" or, with nothing to do, "Sleep"
	State     string
	Statement string // its statement, with the parameters; or ""
	For       time.Duration
}

// Processes are the other connections to the database of db, of any process.
// It is SHOW PROCESSLIST, since MySQL's information_schema.processlist fails with error 3854 while
// a statement with bytes that are not UTF-8 is under way, and ours have hashes in them.
func Processes(ctx context.Context, db *sql.DB) (_ []Process, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var self int64
	var schema string
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID(), DATABASE()").Scan(&self, &schema); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, "SHOW FULL PROCESSLIST")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var processes []Process
	for rows.Next() {
		var p Process
		var of, state, statement sql.NullString
		var seconds sql.NullInt64
		var ignored any
		fields := []any{&p.ID, &ignored, &ignored, &of, &p.Command, &seconds, &state, &statement}
		for len(fields) < len(columns) { // MariaDB has an additional column
			fields = append(fields, &ignored)
		}
		if err := rows.Scan(fields...); err != nil {
			return nil, err
		}
		if p.ID == self || of.String != schema {
			continue
		}
		p.State, p.Statement, p.For = state.String, statement.String, time.Duration(seconds.Int64)*time.Second
		processes = append(processes, p)
	}
	return processes, rows.Err()
}
