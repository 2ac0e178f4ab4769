package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"

	"leaderboard"

	"github.com/jmoiron/sqlx"
)

const (
	// barrierBoards is how many boards are locked at once when a member is hidden everywhere: while one is waited for, the
	// writers of the others wait too.
	barrierBoards = 20
	// settlePeriods is how many periods are looked through at once for an entry of a member.
	settlePeriods = 500
	// settleLocks is how many of them one batch locks at most.
	settleLocks = 50
	// pendingHidings is how many hidings one sweep finishes.
	pendingHidings = 1000
)

// moveHidden sees to it that the entries of a member are where the row says, then marks the row as done. It may be
// repeated, and run at the same time as another, also for an older or newer version of the row: what a batch makes of an
// entry depends only on the rows that it finds.
func (s *Store) moveHidden(ctx context.Context, row *hiddenRow) error {
	var err error
	if row.BoardID != 0 {
		err = s.settleBoard(ctx, row, row.BoardID)
	} else {
		err = s.settleBoards(ctx, row)
	}
	if err != nil {
		return err
	}
	if row.State == stateRestoring {
		_, err = s.db.ExecContext(ctx, "DELETE FROM hidden_members WHERE board_id = ? AND member = ? AND version = ? AND state = ?",
			row.BoardID, row.Member, row.Version, row.State)
	} else {
		_, err = s.db.ExecContext(ctx, "UPDATE hidden_members SET state = ?, reopen = 0 WHERE board_id = ? AND member = ? AND version = ? AND state = ?",
			stateHidden, row.BoardID, row.Member, row.Version, row.State)
	}
	return err
}

// settleBoards settles a member on all boards.
func (s *Store) settleBoards(ctx context.Context, row *hiddenRow) error {
	for after := int64(0); ; {
		ids, err := s.barrier(ctx, after)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.settleBoard(ctx, row, id); err != nil {
				return err
			}
			after = id
		}
		if len(ids) < barrierBoards {
			return nil
		}
	}
}

// barrier waits until no batch is under way on the next boards that began before the row of the hiding was committed,
// and tells their writers to ask from now on. It also waits for a board that is being created, which an UPDATE of all
// boards would pass over: either the creator sees the row, or this sees the board.
func (s *Store) barrier(ctx context.Context, after int64) ([]int64, error) {
	for attempt := 1; ; attempt++ {
		ids, err := s.barrierOnce(ctx, after)
		if m, _ := meaningOf(number(err)); err == nil || attempt == attempts || !m.retry {
			return ids, err
		}
	}
}

func (s *Store) barrierOnce(ctx context.Context, after int64) (ids []int64, err error) {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // as in putBoard
	if err := tx.SelectContext(ctx, &ids, "SELECT id FROM boards WHERE id > ? ORDER BY id LIMIT ? FOR UPDATE", after, barrierBoards); err != nil || len(ids) == 0 {
		return nil, err
	}
	query, args, err := sqlx.In("UPDATE boards SET shadowed = 1 WHERE id IN (?) AND shadowed = 0", ids)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, query, args...); err != nil {
		return nil, err
	}
	return ids, commit(tx)
}

// settleBoard has the writer of a board move the entries of a member that are on the wrong side.
func (s *Store) settleBoard(ctx context.Context, row *hiddenRow, boardID int64) error {
	for after := int64(0); after < math.MaxInt64; {
		var periods []int64
		var err error
		if periods, after, err = s.misplaced(ctx, row, boardID, after); err != nil {
			return err
		}
		if len(periods) == 0 {
			continue
		}
		var name []byte
		err = s.db.GetContext(ctx, &name, s.limited("SELECT name FROM boards WHERE id = ? AND state = 'open'"), boardID)
		for chunk := range slices.Chunk(periods, settleLocks) {
			if err == nil {
				_, err = s.enqueue(ctx, string(name), &request{
					settle: string(row.Member), periodIDs: chunk, reopen: row.Reopen, actor: row.Actor, done: make(chan answer, 1),
				})
			}
		}
		if errors.Is(err, sql.ErrNoRows) || errors.Is(err, leaderboard.ErrBoardNotFound) {
			return nil // it is deleted
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// misplaced looks through the next periods of a board for entries of a member that are not where the row says. It
// returns after which period to go on, and MaxInt64 behind the last one.
func (s *Store) misplaced(ctx context.Context, row *hiddenRow, boardID, after int64) (periods []int64, last int64, err error) {
	rows, err := s.db.QueryContext(ctx, s.limited(misplacedQuery(row)), boardID, after, settlePeriods, row.Member)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ { // in any order
		var (
			id    int64
			there bool
		)
		if err := rows.Scan(&id, &there); err != nil {
			return nil, 0, err
		}
		if last = max(last, id); there {
			periods = append(periods, id)
		}
	}
	if n < settlePeriods {
		last = math.MaxInt64
	}
	return periods, last, rows.Err()
}

// misplacedQuery takes a board, a period to start behind, how many to look through, and the member.
func misplacedQuery(row *hiddenRow) string {
	side, periods := "q.id", "FORCE INDEX (periods_open) WHERE board_id = ? AND state = 'open'"
	if row.State == stateRestoring {
		side = "-q.id"
	}
	if row.Reopen {
		periods = "FORCE INDEX (periods_board) WHERE board_id = ? AND state IN ('open', 'closed')"
	}
	return "SELECT q.id, e.period_id IS NOT NULL FROM (SELECT id FROM periods " + periods + " AND id > ? ORDER BY id LIMIT ?) q" +
		" LEFT JOIN entries e FORCE INDEX (PRIMARY) ON e.period_id = " + side + " AND e.member = ?"
}

// sweepHidden finishes what was begun by processes that are gone. Those of a board that is being deleted go with it.
func (s *Store) sweepHidden(ctx context.Context) error {
	var rows []hiddenRow
	const pending = "SELECT " + hiddenColumns + ", b.name AS board FROM hidden_members h FORCE INDEX (hidden_members_state)" +
		" LEFT JOIN boards b ON b.id = h.board_id WHERE h.state IN ('hiding', 'restoring') ORDER BY h.state, h.board_id, h.member LIMIT ?"
	if err := s.db.SelectContext(ctx, &rows, pending, pendingHidings); err != nil {
		return err
	}
	var failed error
	for i := range rows {
		if strings.HasPrefix(string(rows[i].Board), deletedMark) {
			continue
		}
		failed = errors.Join(failed, s.moveHidden(ctx, &rows[i]))
	}
	return failed
}
