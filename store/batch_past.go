package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// readPast locks and reads the periods that requests name and that are not current, with the entries of the members
// concerned. They come behind the current ones. Nearly every batch has none.
func (w *writer) readPast(ctx context.Context, tx *writeTx, f *found, reqs []*request) error {
	for _, r := range reqs {
		ids, member := r.past()
		for _, id := range ids {
			if err := w.readPastMember(ctx, tx, f, id, member); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) readPastMember(ctx context.Context, tx *writeTx, f *found, id int64, member string) error {
	i := slices.IndexFunc(f.periods, func(p *period) bool { return p.ref.ID == id })
	if i < 0 {
		p, err := w.lockPast(ctx, tx, f, id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // a removal is told so
		}
		if err != nil {
			return err
		}
		f.periods = append(f.periods, p)
		i = len(f.periods) - 1
	}
	if p := f.periods[i]; p.past {
		return w.readMember(ctx, tx, p, member)
	}
	return nil
}

// lockPast locks a period of the board whose row is locked already, in the order in which sweeping does it. One that has
// ended is closed by now: the turn came first.
func (w *writer) lockPast(ctx context.Context, tx *writeTx, f *found, id int64) (*period, error) {
	p := &period{clock: f.clock, past: true, codec: rank.CodecOf(f.rules.rules), entries: map[string]*leaderboard.Entry{}, hidden: f.hidden}
	var (
		row         optionalPeriod
		lastCreated sql.NullTime
	)
	t := (&text{}).str("SELECT p.last_created_time, p.id, p.window_name, p.name, p.starts_at, p.ends_at, p.state, p.last_seq, p.entry_count,")
	t.str(" p.committed_at FROM periods p WHERE p.id = ").int(id).str(" AND p.board_id = ").int(f.rules.boardID)
	t.str(" AND p.state <> 'deleting' FOR UPDATE")
	if err := tx.conn.QueryRowContext(ctx, t.String()).Scan(append([]any{&lastCreated}, row.dest()...)...); err != nil {
		return nil, err
	}
	found := row.period(f.rules.boardID)
	p.ref = leaderboard.PeriodRef{
		ID: found.ID, BoardID: found.BoardID, Board: w.board, Window: found.Window, Name: found.Name(), Rules: f.rules.rules,
	}
	p.closed = found.State == leaderboard.PeriodClosed
	p.lastSeq, p.lastCreated, p.committed, p.count = found.LastSeq, micros(lastCreated.Time), found.Committed, found.EntryCount
	return p, nil
}

// readMember reads a member's entry in a past period, and the one in its shadow: there may be one that nobody is hidden
// for any more, see Restore.
func (w *writer) readMember(ctx context.Context, tx *writeTx, p *period, member string) error {
	t := &text{}
	newReading(p.ref.BoardID, []int64{p.ref.ID, -p.ref.ID}, []string{member}, nil).appendTo(t)
	rows, err := tx.conn.QueryContext(ctx, t.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := scanPeriods(rows, []*period{p}); err != nil {
		return err
	}
	return rows.Close()
}
