package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "modernc.org/sqlite" // the driver

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// file is an SQLite file with the entries of a board, and the cursor of their state. Both change in one transaction, so the
// cursor always matches the entries: therefore each change counts once, wherever the program is killed.
type file struct{ db *sql.DB }

// schema has times in µs since 1970, as the board's order compares them.
const schema = `
CREATE TABLE IF NOT EXISTS entries (
	period TEXT NOT NULL, member TEXT NOT NULL, score INTEGER NOT NULL, tiebreak INTEGER NOT NULL, created_time INTEGER NOT NULL,
	PRIMARY KEY (period, member)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);`

func openFile(ctx context.Context, path string) (*file, error) {
	// Readers of a file in WAL mode do not block its writer. One connection: SQLite has one writer.
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return &file{db}, nil
}

func (f *file) close() { _ = f.db.Close() }

// cursor returns where the file is; "" when it has nothing yet.
func (f *file) cursor(ctx context.Context) (string, error) {
	var cursor string
	err := f.db.QueryRowContext(ctx, "SELECT cursor FROM place").Scan(&cursor)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return cursor, err
}

// replace replaces the content of the file with an export.
func (f *file) replace(ctx context.Context, export *client.Export) error {
	return f.move(ctx, export.Cursor, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM entries"); err != nil {
			return err
		}
		for e, err := range export.Entries() {
			if err != nil {
				return err
			}
			if err := put(ctx, tx, export.Period, e.Member, client.ChangedEntry{Score: e.Score, Tiebreak: e.Tiebreak, CreatedTime: e.CreatedTime}); err != nil {
				return err
			}
		}
		return nil
	})
}

// apply takes changes, which begin at the state that the file has.
func (f *file) apply(ctx context.Context, page client.Changes) error {
	return f.move(ctx, page.Cursor, func(tx *sql.Tx) error {
		for _, c := range page.Changes {
			var err error
			switch {
			case c.End: // of a period: its data stay, and its entries too
			case c.After != nil:
				err = put(ctx, tx, c.Period, c.Member, *c.After)
			default:
				_, err = tx.ExecContext(ctx, "DELETE FROM entries WHERE period = ? AND member = ?", c.Period, c.Member)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// move changes entries and notes the cursor of the state that they then are, both or neither.
func (f *file) move(ctx context.Context, cursor string, change func(*sql.Tx) error) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit there is nothing to roll back
	if err := change(tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO place (id, cursor) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET cursor = excluded.cursor", cursor); err != nil {
		return err
	}
	return tx.Commit()
}

func put(ctx context.Context, tx *sql.Tx, period, member string, e client.ChangedEntry) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO entries (period, member, score, tiebreak, created_time) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (period, member) DO UPDATE SET score = excluded.score, tiebreak = excluded.tiebreak, created_time = excluded.created_time`,
		period, member, e.Score, e.Tiebreak, int64(leaderboard.MicrosOf(e.CreatedTime)))
	return err
}
