package entries

import (
	"context"
	"database/sql"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

const (
	// snapshotChunk is how many entries one statement of a snapshot reads. The server sends the first of them while it looks for the last.
	snapshotChunk = 10_000
	// snapshotPart is how many entries its reader gets at a time.
	snapshotPart = 1000
)

// Snapshot reads the best entries of a period in one state.
type Snapshot struct {
	DB     *mysql.DB
	Open   func(context.Context) (*sql.Tx, error) // Snapshot of the DB, or LongSnapshot for a reader that may be slow
	Period *leaderboard.PeriodRef
	Limit  int
	Kept   KeptReader // reads the data kept with the entries; nil: they are not wanted
}

// snapshotRows are entries of a snapshot, with the data kept with each.
type snapshotRows struct {
	keys []rank.Key
	kept []string
}

// Read calls begin with the state, then rows with the sort keys in order, in parts of at most 1000, and with the data kept with
// the entries, nil if they are not wanted. An error of either ends the snapshot and is returned unchanged. The snapshot holds a
// connection and, on the server, old row versions. The next part is read while rows works.
func (s *Snapshot) Read(ctx context.Context, begin func(leaderboard.State) error, rows func(keys []rank.Key, kept []string) error) error {
	if !s.Period.HasRow() {
		return begin(leaderboard.StateWithoutRow(s.Period))
	}
	var callback error
	err := s.in(ctx, func(q mysql.Querier, state leaderboard.State) error {
		if callback = begin(state); callback != nil {
			return callback
		}
		parts, ended, failed := make(chan snapshotRows), make(chan struct{}), make(chan error, 1)
		go func() {
			defer close(parts)
			failed <- s.readParts(ctx, q, parts, ended)
		}()
		defer func() { // also when rows panics: the snapshot ends after its reader
			close(ended)
			for range parts { //nolint:revive // until it is closed
			}
		}()
		for part := range parts {
			if callback = rows(part.keys, part.kept); callback != nil {
				return callback
			}
		}
		return <-failed
	})
	if callback != nil {
		return callback
	}
	return mysql.Translate(ctx, "snapshot", err)
}

// readParts sends the entries to parts, until the reader of parts has ended.
func (s *Snapshot) readParts(ctx context.Context, q mysql.Querier, parts chan<- snapshotRows, ended <-chan struct{}) error {
	from := Beginning()
	for limit := s.Limit; limit > 0; {
		n := min(limit, snapshotChunk)
		scan := Scan{Range: Range{From: from, To: End()}, Limit: n}
		keys, err := scan.Keys(ctx, s.DB, q, s.Period.ID)
		if err != nil || len(keys) == 0 {
			return err
		}
		for part := range slices.Chunk(keys, snapshotPart) {
			next := snapshotRows{keys: part}
			if s.Kept != nil {
				if next.kept, err = s.Kept.ReadKept(ctx, s.DB, q, s.Period.ID, part); err != nil {
					return err
				}
			}
			select {
			case parts <- next:
			case <-ended:
				return nil
			}
		}
		if limit -= len(keys); len(keys) < n {
			return nil
		}
		if from, err = KeyBound(keys[len(keys)-1], true); err != nil {
			return err
		}
	}
	return nil
}

// in runs fn in a transaction that sees the state.
func (s *Snapshot) in(ctx context.Context, fn func(mysql.Querier, leaderboard.State) error) error {
	tx, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	state, err := StateOf(ctx, s.DB, tx, s.Period.ID)
	if err == nil && state.Incarnation != s.Period.Incarnation { // the id is another period's since a restore
		err = leaderboard.ErrPeriodNotFound
	}
	if err != nil {
		return err
	}
	return fn(tx, state)
}
