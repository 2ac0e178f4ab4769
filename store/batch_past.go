package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// readPast locks and reads the periods that requests name and that are not current, with the entries of the members
// concerned: two round trips, however many they are. They come behind the current ones. Nearly every batch has none.
func (w *writer) readPast(ctx context.Context, tx *db.Tx, f *found, reqs []*request) error {
	var ids []int64
	for _, r := range reqs {
		named, _ := r.past()
		for _, id := range named {
			if !slices.ContainsFunc(f.periods, func(p *period) bool { return p.ref.ID == id }) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	past, err := w.lockPast(ctx, tx, f, slices.Compact(ids))
	if err != nil {
		return err
	}
	f.periods = append(f.periods, past...)
	return w.readPastEntries(ctx, tx, f, past, reqs)
}

// lockPast locks periods of the board whose row is locked already, in the order in which sweeping does it. One that has
// ended is closed by now: the turn came first. There may be none, of which a removal is told.
func (w *writer) lockPast(ctx context.Context, tx *db.Tx, f *found, ids []int64) (past []*period, err error) {
	t := &db.Text{}
	appendLockPast(t, f.rules.boardID, ids)
	rows, err := tx.Conn.QueryContext(ctx, t.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			row         optionalPeriod
			lastCreated sql.NullTime
		)
		if err := rows.Scan(append([]any{&lastCreated}, row.dest()...)...); err != nil {
			return nil, err
		}
		found := row.period(f.rules.boardID)
		past = append(past, &period{
			ref: leaderboard.PeriodRef{
				ID: found.ID, BoardID: found.BoardID, Board: w.board, Window: found.Window, Name: found.Name(), Rules: f.rules.rules,
			},
			clock: f.clock, past: true, closed: found.State == leaderboard.PeriodStateClosed, codec: rank.CodecOf(f.rules.rules),
			entries: map[string]*leaderboard.Entry{}, hidden: f.hidden,
			lastSeq: found.LastSeq, lastCreated: leaderboard.MicrosOf(lastCreated.Time), committed: found.Committed, count: found.EntryCount,
		})
	}
	return past, errors.Join(rows.Err(), rows.Close())
}

func appendLockPast(t *db.Text, boardID int64, ids []int64) {
	t.Str("SELECT p.last_created_at, p.id, p.window_name, p.name, p.starts_at, p.ends_at, p.state, p.last_seq, p.entry_count, p.committed_at")
	t.Str(" FROM periods p FORCE INDEX (PRIMARY) WHERE p.id IN (").Ints(ids).Str(") AND p.board_id = ").Int(boardID)
	t.Str(" AND p.state <> 'deleting' ORDER BY p.id FOR UPDATE")
}

// readPastEntries reads the entries of the members in the past periods that their requests name, and those in the
// shadows: there may be one that nobody is hidden for any more, see Restore.
func (w *writer) readPastEntries(ctx context.Context, tx *db.Tx, f *found, past []*period, reqs []*request) error {
	t := (&db.Text{}).Str("SELECT 1;")
	n := 0
	for _, r := range reqs {
		named, member := r.past()
		var sides []int64
		for _, p := range past {
			if slices.Contains(named, p.ref.ID) {
				sides = append(sides, p.ref.ID, -p.ref.ID)
			}
		}
		if len(sides) > 0 {
			newReading(f.rules.boardID, sides, []string{member}, nil).appendTo(t)
			n++
		}
	}
	rows, err := tx.Conn.QueryContext(ctx, t.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	for range n {
		if err := db.NextResult(rows); err != nil {
			return err
		}
		if err := scanPeriods(rows, past); err != nil {
			return err
		}
	}
	return rows.Close()
}
