package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
	"leaderboard/store/internal/sweep"
)

const (
	// misplacedPeriods is how many periods are looked through at once for an entry of a member.
	misplacedPeriods = 500
	// movedPeriods is how many of them one batch locks at most.
	movedPeriods = 50
	// pendingMoves is how many rows of hidden_members one sweep finishes.
	pendingMoves = 1000
	// noteEvery is after how many boards the progress of a global hide is stored.
	noteEvery = 100
)

// moveHidden moves the entries of a member to the side that the row demands, then marks the row as done. It may be
// repeated, and run at the same time as another, also for an older or newer version of the row: the effect of a batch on an
// entry depends only on the rows that it finds. On all boards it continues until its time slice is over, and reports
// whether it finished.
func (s *HiddenMembers) moveHidden(ctx context.Context, row *hiddenRow, slice sweep.Slice) (finished bool, err error) {
	if row.BoardID != 0 {
		finished, err = true, s.moveOnBoard(ctx, row, row.BoardID)
	} else {
		finished, err = s.moveOnBoards(ctx, row, slice)
	}
	if !finished || err != nil {
		return false, err
	}
	if row.State == commit.StateRestoring {
		_, err = s.db.Pool.ExecContext(ctx, "DELETE FROM hidden_members WHERE board_id = ? AND member = ? AND version = ? AND state = ?",
			row.BoardID, row.Member, row.Version, row.State)
	} else {
		_, err = s.db.Pool.ExecContext(ctx, "UPDATE hidden_members SET state = ?, reopen = 0, after_board = 0 WHERE board_id = ? AND member = ? AND version = ? AND state = ?",
			commit.StateHidden, row.BoardID, row.Member, row.Version, row.State)
	}
	return err == nil, err
}

// moveOnBoards moves the entries of a member on all boards that are not done yet. A board that fails, because another
// session holds its lock for long, does not stop the boards after it. But then the row only records the boards before it as
// done, so the next sweep begins with it.
func (s *HiddenMembers) moveOnBoards(ctx context.Context, row *hiddenRow, slice sweep.Slice) (finished bool, failed error) {
	noted := row.After
	defer func() {
		if row.After > noted {
			noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.db.Config.WriteTimeout) // also when ctx has ended
			defer cancel()
			failed = errors.Join(failed, s.noteBoards(noting, row))
		}
	}()
	for id, done := row.After, 1; !slice.Over(); done++ {
		next, err := s.moveOnNext(ctx, row, id)
		switch {
		case err == nil && next == 0:
			return failed == nil, failed
		case err != nil && ctx.Err() != nil:
			return false, errors.Join(failed, err)
		case err != nil:
			if failed == nil {
				failed = err // of many, the first is enough
			}
			if next, err = s.nextBoard(ctx, id); err != nil || next == 0 {
				return false, errors.Join(failed, err)
			}
		case failed == nil:
			row.After = next
		}
		if id = next; done%noteEvery == 0 && row.After > noted {
			if err := s.noteBoards(ctx, row); err != nil {
				return false, errors.Join(failed, err)
			}
			noted = row.After
		}
	}
	return false, failed
}

// moveOnNext moves the entries on the board after this one, and returns its id, 0 after the last.
func (s *HiddenMembers) moveOnNext(ctx context.Context, row *hiddenRow, after int64) (id int64, err error) {
	if id, err = s.drain(ctx, after); err == nil && id > 0 {
		err = s.moveOnBoard(ctx, row, id)
	}
	return id, err
}

// nextBoard returns the next board, which is left out. It locks nothing, so it does not see a board that is just being
// created; that one comes after row.After too, and is not left out for good.
func (s *HiddenMembers) nextBoard(ctx context.Context, after int64) (id int64, err error) {
	err = s.db.Pool.GetContext(ctx, &id, s.db.Limited("SELECT id FROM boards WHERE id > ? ORDER BY id LIMIT 1"), after)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// noteBoards stores the progress of a global hide. Of two processes that work on it, the furthest progress counts.
func (s *HiddenMembers) noteBoards(ctx context.Context, row *hiddenRow) error {
	const note = "UPDATE hidden_members SET after_board = GREATEST(after_board, ?) WHERE board_id = ? AND member = ? AND version = ? AND state = ?"
	_, err := s.db.Pool.ExecContext(ctx, note, row.After, row.BoardID, row.Member, row.Version, row.State)
	return err
}

// drain waits until no batch is under way on the next board that began before the row of hidden_members was committed,
// and makes its writers ask from now on. It also waits for a board that is being created, which an UPDATE of
// all boards would miss: either the creator sees the row, or this sees the board. It returns the board, 0 after
// the last one. It locks one board at a time, so only the writers of a board wait when a long transaction holds that.
func (s *HiddenMembers) drain(ctx context.Context, after int64) (id int64, err error) {
	err = mysql.Retry(mysql.Retryable, func() (err error) {
		id, err = s.drainOnce(ctx, after)
		return err
	})
	return id, err
}

// drainOnce needs no transaction, but waits for a lock no longer than writers do, in their pool. It does not wait in their
// line: hides are too rare for that, so a batch that was next may wait for a connection meanwhile. For a board whose writers
// ask already, the first statement waits for the batch under way. A batch that comes between the two statements finds that it
// need not ask, and the second statement waits for it.
func (s *HiddenMembers) drainOnce(ctx context.Context, after int64) (id int64, err error) {
	var hasHidden bool
	err = s.db.Writers.QueryRowContext(ctx, "SELECT id, has_hidden FROM boards WHERE id > ? ORDER BY id LIMIT 1 FOR UPDATE", after).Scan(&id, &hasHidden)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err == nil && !hasHidden:
		_, err = s.db.Writers.ExecContext(ctx, "UPDATE boards SET has_hidden = 1 WHERE id = ?", id)
	}
	return id, err
}

// moveOnBoard makes the writer of a board move the entries of a member that are not where they belong.
func (s *HiddenMembers) moveOnBoard(ctx context.Context, row *hiddenRow, boardID int64) error {
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
		err = s.db.Pool.GetContext(ctx, &name, s.db.Limited("SELECT name FROM boards WHERE id = ? AND state = 'open'"), boardID)
		for chunk := range slices.Chunk(periods, movedPeriods) {
			if err == nil {
				err = s.writer.Move(ctx, commit.Move{
					Board: string(name), Member: string(row.Member), PeriodIDs: chunk, Reopen: row.Reopen, Actor: row.Actor,
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

// misplaced searches the next periods of a board for entries of a member that are on the wrong side. It returns the period
// after which to continue, and MaxInt64 after the last period.
func (s *HiddenMembers) misplaced(ctx context.Context, row *hiddenRow, boardID, after int64) (periods []int64, last int64, err error) {
	rows, err := s.db.Pool.QueryContext(ctx, s.db.Limited(misplacedQuery(row)), boardID, after, misplacedPeriods, row.Member)
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
	if n < misplacedPeriods {
		last = math.MaxInt64
	}
	return periods, last, rows.Err()
}

// checkedBoards is how many boards checkMovable reads at once.
const checkedBoards = 1000

// checkMovable returns an ErrUnknownRule when an entry that is on the wrong side is on a board that this server must not
// write to: the request is refused before anything is done, and a server that knows the rule carries it out.
func (s *HiddenMembers) checkMovable(ctx context.Context, row *hiddenRow) error {
	for name, more := "", true; more; {
		page, err := s.boards.Boards(ctx, name, checkedBoards)
		if err != nil {
			return err
		}
		for i := range page {
			b := &page[i]
			name = b.Name
			unknown := b.CheckMovable()
			for after := int64(0); unknown != nil && after < math.MaxInt64; {
				var periods []int64
				if periods, after, err = s.misplaced(ctx, row, b.ID, after); err != nil {
					return err
				}
				if len(periods) > 0 {
					return unknown
				}
			}
		}
		more = len(page) == checkedBoards
	}
	return nil
}

// misplacedQuery takes a board, a period to start after, how many to look through, and the member.
func misplacedQuery(row *hiddenRow) string {
	side, periods := "q.id", "FORCE INDEX (periods_open) WHERE board_id = ? AND state = 'open'"
	if row.State == commit.StateRestoring {
		side = "-q.id"
	}
	if row.Reopen {
		periods = "FORCE INDEX (periods_board) WHERE board_id = ? AND state IN ('open', 'closed')"
	}
	return "SELECT q.id, e.period_id IS NOT NULL FROM (SELECT id FROM periods " + periods + " AND id > ? ORDER BY id LIMIT ?) q" +
		" LEFT JOIN entries e FORCE INDEX (PRIMARY) ON e.period_id = " + side + " AND e.member = ?"
}

// turnKey names a row of hidden_members in sweep.Turns.
func (r *hiddenRow) turnKey() string {
	return strconv.FormatInt(r.BoardID, 10) + "/" + string(r.Member)
}

// sweep finishes hides and restorations that a request had no time to finish, or that a lost process left. The ones on a
// board that is being deleted go with it. Global ones come after the others, because they take longest.
func (s *HiddenMembers) sweep(ctx context.Context, slice sweep.Slice) (more bool, failed error) {
	var rows []hiddenRow
	const pending = "SELECT " + hiddenColumns + ", b.name AS board FROM hidden_members h FORCE INDEX (hidden_members_state)" +
		" LEFT JOIN boards b ON b.id = h.board_id WHERE h.state IN ('hiding', 'restoring') ORDER BY h.state, h.board_id, h.member LIMIT ?"
	if err := s.db.Pool.SelectContext(ctx, &rows, pending, pendingMoves); err != nil {
		return false, err
	}
	slices.SortStableFunc(rows, func(a, b hiddenRow) int { return cmp.Compare(min(b.BoardID, 1), min(a.BoardID, 1)) })
	sweep.Order(&s.turns, rows, func(r hiddenRow) string { return r.turnKey() })
	for i := range rows {
		if strings.HasPrefix(string(rows[i].Board), sweep.DeletedMark) {
			continue
		}
		if slice.Over() {
			return true, failed
		}
		s.turns.Begin(rows[i].turnKey())
		finished, err := s.moveHidden(ctx, &rows[i], slice)
		if errors.Is(err, leaderboard.ErrUnknownRule) {
			continue // a server that knows the rule finishes it
		}
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			return true, failed
		}
		more = more || !finished
	}
	return more || len(rows) == pendingMoves, failed
}
