package notices

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

const (
	// pageBoards is how many boards are looked at by one statement.
	pageBoards = 500
	// roundTime is the time after which a round leaves the rest to the next.
	roundTime = 500 * time.Millisecond
	// maxChanges bounds the changes of a board that are read at once: a server that is further behind leaves out earlier
	// ones.
	maxChanges = 10_000
	// maxAge is the greatest age of a change for which members get notices.
	maxAge = 10 * time.Minute
	// maxNotices is after how many events of a board a transaction ends.
	maxNotices = 200
)

// Folder turns changes into events of who was passed.
type Folder struct {
	db     *mysql.DB
	boards *store.Boards
	point  func(name string)
	after  atomic.Int64 // the board at which the last round ended before it was through, 0: it was
}

// NewFolder returns a Folder of the boards of a database. point is called at named points of the work, for tests; nil: nothing is.
func NewFolder(d *mysql.DB, b *store.Boards, point func(name string)) *Folder {
	if point == nil {
		point = func(string) {}
	}
	return &Folder{db: d, boards: b, point: point}
}

// set adds a board to the boards with notices, or removes it, if its rules have changed. Its row is locked. An added board
// begins with the commits after the next round, like a board whose first window has changed.
func set(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board, old *leaderboard.Rules) error {
	if b.Rules.Notify == nil && old.Notify == nil {
		return nil
	}
	if b.Rules.Notify == nil {
		_, err := tx.ExecContext(ctx, "DELETE FROM notice_boards WHERE board_id = ?", b.ID)
		return err
	}
	if old.Notify != nil && old.Windows[0] == b.Rules.Windows[0] {
		return nil
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO notice_boards (board_id, window_name) VALUES (?, ?) ON DUPLICATE KEY UPDATE window_name = VALUES(window_name), period_id = 0, seq = 0", b.ID, []byte(b.Rules.Windows[0]))
	return err
}

// cursor is how far the log of a board was read.
type cursor struct {
	Board  int64 `db:"board_id"`
	Period int64 `db:"period_id"`
	Seq    int64 `db:"seq"`
	Last   int64 `db:"last_seq"` // of the period
	Next   bool  `db:"has_next"` // a later period of the window continues
}

// places finds boards with notices, and the places in their periods. A later period is searched only if the previous one
// has ended.
const places = "SELECT n.board_id, n.period_id, n.seq, COALESCE(p.last_seq, 0) AS last_seq, COALESCE(p.state, '') <> 'open' AND EXISTS (" +
	"SELECT 1 FROM periods q FORCE INDEX (periods_start) WHERE q.board_id = n.board_id AND q.window_name = n.window_name AND q.starts_at > COALESCE(p.starts_at, '1000-01-01') AND q.state = 'open') AS has_next" +
	" FROM notice_boards n FORCE INDEX (PRIMARY) LEFT JOIN periods p ON p.id = n.period_id WHERE n.board_id > ? ORDER BY n.board_id LIMIT ?"

// Notice enters the events about members passed since the last call. It ends after about roundTime; the next call continues
// with the remaining boards. Two processes may call it at once. Errors: ErrUnavailable.
func (f *Folder) Notice(ctx context.Context) error {
	end := time.Now().Add(roundTime)
	for after := f.after.Load(); ; {
		var page []cursor
		if err := f.db.Pool.SelectContext(ctx, &page, f.db.Limited(places), after, pageBoards); err != nil {
			return mysql.Translate(ctx, "notices", err)
		}
		for i := range page {
			if page[i].Last > page[i].Seq || page[i].Next {
				if err := f.follow(ctx, &page[i], end); err != nil {
					return mysql.Translate(ctx, "notices", err)
				}
			}
			if after = page[i].Board; !time.Now().Before(end) {
				f.after.Store(after)
				return nil
			}
		}
		if len(page) < pageBoards {
			f.after.Store(0)
			return nil
		}
	}
}

// follow continues to read the log of a board, or moves to the next period when the last one has ended and was read. The
// rest is for the next round.
func (f *Folder) follow(ctx context.Context, p *cursor, end time.Time) error {
	b, err := f.boards.BoardOf(ctx, p.Board)
	if errors.Is(err, leaderboard.ErrBoardNotFound) || err == nil && b.Rules.Notify == nil {
		return nil // it is being deleted, or was changed since
	}
	if err != nil {
		return err
	}
	if p.Last <= p.Seq {
		return f.moveToCurrent(ctx, p, &b)
	}
	for told := maxNotices; told >= maxNotices && err == nil && time.Now().Before(end); { // as long as there are more changes
		if told, err = f.fold(ctx, p, &b); errors.Is(err, errMoved) {
			return nil
		}
	}
	return err
}

// newest finds the period of a window that continues.
const newest = "SELECT id, last_seq FROM periods FORCE INDEX (periods_start) WHERE board_id = ? AND window_name = ? AND state = 'open' ORDER BY starts_at DESC LIMIT 1"

// moveToCurrent moves to the current period of the board's first window, from its beginning. The first period begins at its present
// state.
func (f *Folder) moveToCurrent(ctx context.Context, p *cursor, b *leaderboard.Board) error {
	var next struct {
		ID   int64 `db:"id"`
		Last int64 `db:"last_seq"`
	}
	err := f.db.Pool.GetContext(ctx, &next, f.db.Limited(newest), b.ID, []byte(b.Rules.Windows[0]))
	if errors.Is(err, sql.ErrNoRows) || err == nil && next.ID == p.Period {
		return nil
	}
	if err != nil {
		return err
	}
	seq := int64(0)
	if p.Period == 0 {
		seq = next.Last
	}
	_, err = f.db.Pool.ExecContext(ctx, "UPDATE notice_boards SET period_id = ?, seq = ? WHERE board_id = ? AND period_id = ? AND seq = ?", next.ID, seq, p.Board, p.Period, p.Seq)
	return err
}

// errMoved means that another process has read the log on, or that the database was restored since it was read.
var errMoved = errors.New("another process has read this part of the log, or the database was restored")

// fold continues to read the log of a period, and returns the number of notices.
func (f *Folder) fold(ctx context.Context, p *cursor, b *leaderboard.Board) (told int, err error) {
	s, err := f.read(ctx, p, b)
	if err != nil {
		return 0, err
	}
	f.point("notices-read")
	for {
		gone, err := f.enter(ctx, p, b, s)
		if err != nil || len(gone) == 0 {
			f.point("notices-entered")
			p.Seq = s.to
			return len(s.notices), err
		}
		s.leaveOut(gone)
	}
}

// enter enters notices in the transaction that notes how far the log was read. gone are members without an entry now: they
// were erased or hidden since the log was read, and then it enters nothing. It looks for them after the events were
// inserted: an erasure deletes entries before events, so either it finds the event and waits for it, or this search finds
// that the entry is gone.
func (f *Folder) enter(ctx context.Context, p *cursor, b *leaderboard.Board, s *span) (gone map[string]bool, err error) {
	err = f.db.InTx(ctx, func(tx *sqlx.Tx) error {
		gone = nil
		result, err := tx.ExecContext(ctx, "UPDATE notice_boards SET seq = ? WHERE board_id = ? AND period_id = ? AND seq = ?", s.to, p.Board, p.Period, p.Seq)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(errMoved, err)
		}
		if err := f.follows(ctx, tx, s); err != nil || len(s.notices) == 0 {
			return err
		}
		if err := outbox.Enter(ctx, tx, f.db.Sysdate(), s.events(b)...); err != nil {
			return err
		}
		if gone, err = missing(ctx, tx, p.Period, s.members()); err == nil && len(gone) > 0 {
			err = errGone
		}
		return err
	})
	if errors.Is(err, errGone) {
		err = nil
	}
	return gone, err
}

var errGone = errors.New("members are gone")

// follows returns errMoved unless the database still has the state up to which a log was read. After a restore since then
// the backup's place may be the one from which the log was read: then notices would report lost changes, and changes up to
// the lost seq would be left out.
func (f *Folder) follows(ctx context.Context, tx *sqlx.Tx, s *span) error {
	parts, err := entries.ReadLogs(ctx, f.db, tx, []entries.LogPosition{{PeriodID: s.period.ID, Seq: s.period.LastSeq}}, 1, entries.DecodeChanges)
	if err != nil {
		return err
	}
	part := parts[s.period.ID]
	state := part.At
	if len(part.Commits) > 0 {
		state = part.Commits[0].From()
	}
	if part.Err != nil || state != s.period.Revision() {
		return errMoved
	}
	return nil
}

// missing returns the members among some that have no entry in a period.
func missing(ctx context.Context, tx *sqlx.Tx, period int64, members []string) (map[string]bool, error) {
	gone := make(map[string]bool, len(members))
	for _, m := range members {
		gone[m] = true
	}
	var there [][]byte
	text := (&mysql.Text{}).Str("SELECT member FROM entries WHERE period_id = ").Int(period).Str(" AND member IN (").Hexes(members).Str(fmt.Sprint(") LIMIT ", len(members)))
	err := tx.SelectContext(ctx, &there, text.String())
	for _, m := range there {
		delete(gone, string(m))
	}
	return gone, err
}
