package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/audit"
	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/sweep"
)

// Boards is the boards with their periods. All methods may be called concurrently.
type Boards struct {
	db      *mysql.DB
	memory  *boards.Cache
	lookup  boards.Lookup
	writer  *Writer
	sweeper *sweep.Sweeper
	added   []BoardChange
}

// Board returns the board with this name, or ErrBoardNotFound.
func (s *Boards) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	b, err := boards.Get(ctx, s.db.Pool, s.db.Limited("SELECT "+boards.Columns+" FROM boards WHERE name = ? AND state = 'open'"), []byte(name))
	return b, mysql.Translate(ctx, "board", err)
}

// BoardOf returns the board with this id, or ErrBoardNotFound.
func (s *Boards) BoardOf(ctx context.Context, id int64) (leaderboard.Board, error) {
	b, err := boards.Get(ctx, s.db.Pool, s.db.Limited("SELECT "+boards.Columns+" FROM boards WHERE id = ? AND state = 'open'"), id)
	return b, mysql.Translate(ctx, "board", err)
}

// Calendar returns the calendar of a board's rules. It lacks windows when this machine does not know the time zone.
func (s *Boards) Calendar(b *leaderboard.Board) leaderboard.Calendar { return s.memory.Calendar(b) }

// Boards lists boards in the byte order of their names, after the name given ("" for the first), at most limit.
func (s *Boards) Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error) {
	return s.BoardsLabelled(ctx, nil, after, limit)
}

// PutBoard creates a board or changes its rules; created reports which. Missing rules get their defaults. The same rules
// again change nothing, the version included. Errors: a *leaderboard.RuleError for a bad name or bad rules,
// a *leaderboard.ConflictError when entries of the board do not allow the change, ErrUnknownRule.
func (s *Boards) PutBoard(ctx context.Context, name string, rules leaderboard.Rules) (b leaderboard.Board, created bool, err error) {
	return s.ChangeBoard(ctx, name, func(*leaderboard.Board) (leaderboard.Rules, error) { return rules, nil })
}

// ChangeBoard is PutBoard with the rules that change returns for the present board, nil if it does not exist. The board is
// locked meanwhile: of two changes at once, the second sees the result of the first. change is called again when the
// transaction is repeated. When it fails nothing is done, and its error is wrapped.
func (s *Boards) ChangeBoard(ctx context.Context, name string, change leaderboard.RulesChange) (b leaderboard.Board, created bool, err error) {
	if broken := leaderboard.CheckBoardName(name); broken != nil {
		return b, false, mysql.Wrap("board", broken)
	}
	// Of two servers that create the same board at once the second finds the first's, when it is called again.
	err = s.writer.Alone(ctx, name, func(tx *sqlx.Tx) (err error) {
		b, created, err = s.changeBoard(ctx, tx, name, change)
		return err
	})
	return b, created, mysql.Translate(ctx, "put board", err)
}

// Add adds the BoardChanges of features. It is called before the first change.
func (s *Boards) Add(change BoardChange) { s.added = append(s.added, change) }

func (s *Boards) changeBoard(ctx context.Context, tx *sqlx.Tx, name string, change leaderboard.RulesChange) (b leaderboard.Board, created bool, err error) {
	const find = "SELECT " + boards.Columns + " FROM boards WHERE name = ? AND state = 'open'"
	b, err = boards.Get(ctx, tx, find+" FOR UPDATE", []byte(name))
	created = errors.Is(err, leaderboard.ErrBoardNotFound)
	if err != nil && !created {
		return b, false, err
	}
	if err = b.CheckWritable(); err != nil {
		return b, false, err
	}
	rules, text, err := changedRules(&b, created, change)
	if err == nil {
		err = s.writer.CheckRules(&leaderboard.Board{Name: name, Rules: rules})
	}
	if err != nil {
		return b, false, err
	}
	if created {
		_, err = tx.ExecContext(ctx, "INSERT INTO boards (name, rules, created_at, updated_at) VALUES (?, ?, "+s.db.Now()+", "+s.db.Now()+")",
			[]byte(name), string(text))
		if err == nil {
			err = setHasHidden(ctx, tx, name)
		}
	} else {
		var same bool
		if same, err = s.changeRules(ctx, tx, b, rules, text); same {
			return b, false, nil
		}
	}
	if err != nil {
		return b, false, err
	}
	if err := s.auditBoard(ctx, tx, &b, created, name, text); err != nil {
		return b, false, err
	}
	l, err := s.lookup.Begin(ctx, tx, name)
	if err == nil {
		err = s.enterBoard(ctx, tx, name, l.Board.Version, changeOf(created))
	}
	if err == nil {
		err = setLabels(ctx, tx, &l.Board, b.Rules.Labels)
	}
	for _, change := range s.added {
		if err == nil {
			err = change(ctx, tx, &l.Board, &b.Rules)
		}
	}
	if err == nil {
		err = s.db.NextVersion(ctx, tx, boardsVersion)
	}
	if err != nil {
		return b, false, err
	}
	return l.Board, created, nil
}

// boardChange is the change of a board in its event.
type boardChange string

const (
	boardChangeCreated boardChange = "created"
	boardChangeUpdated boardChange = "updated"
	boardChangeDeleted boardChange = "deleted"
)

func changeOf(created bool) boardChange {
	if created {
		return boardChangeCreated
	}
	return boardChangeUpdated
}

// enterBoard enters the event of a change of a board. version is the version of its rules.
func (s *Boards) enterBoard(ctx context.Context, tx *sqlx.Tx, name string, version int64, change boardChange) error {
	return outbox.Enter(ctx, tx, s.db.Sysdate(), outbox.Event{Kind: leaderboard.EventKindBoardChanged, Board: name, Data: outbox.Of(struct {
		Board   string      `json:"board"`
		Change  boardChange `json:"change"`
		Version int64       `json:"version"`
	}{name, change, version})})
}

// boardsVersion is the row of table_versions by which servers see that boards have changed.
const boardsVersion = "boards"

// auditBoard records that a board was created, or changed from old.
func (s *Boards) auditBoard(ctx context.Context, tx *sqlx.Tx, old *leaderboard.Board, created bool, name string, rules []byte) error {
	c := audit.Change{Action: leaderboard.AuditActionBoardCreate, Board: name, After: json.RawMessage(rules)}
	if !created {
		c.Action, c.Before = leaderboard.AuditActionBoardUpdate, old.Rules
	}
	_, err := audit.Write(ctx, s.db, tx, c)
	return err
}

// changedRules returns the rules that change returns for a board, with defaults and checked, and in the form that is stored.
func changedRules(b *leaderboard.Board, created bool, change leaderboard.RulesChange) (rules leaderboard.Rules, text []byte, err error) {
	if created {
		b = nil
	}
	if rules, err = change(b); err != nil {
		return rules, nil, err
	}
	rules = rules.WithDefaults()
	if broken := rules.Check(); broken != nil {
		return rules, nil, broken
	}
	text, err = json.Marshal(rules)
	return rules, text, err
}

// setHasHidden makes the writers of a new board ask which members are hidden, if any member is hidden on all boards. The row
// of the board exists already: either this sees the row of a global hide at the same time, or the hide waits for this row, see
// drain.
func setHasHidden(ctx context.Context, tx *sqlx.Tx, name string) error {
	var hidden bool
	err := tx.GetContext(ctx, &hidden, "SELECT EXISTS (SELECT 1 FROM hidden_members WHERE board_id = 0)")
	if err == nil && hidden {
		_, err = tx.ExecContext(ctx, "UPDATE boards SET has_hidden = 1 WHERE name = ?", []byte(name))
	}
	return err
}

// changeRules changes the rules of an existing board, whose row is locked; same means that it has these rules already.
func (s *Boards) changeRules(ctx context.Context, tx *sqlx.Tx, b leaderboard.Board, rules leaderboard.Rules, text []byte) (same bool, err error) {
	old, err := json.Marshal(b.Rules)
	if err != nil || string(old) == string(text) {
		return err == nil, err
	}
	// The lock of the board's row keeps writers away until this transaction ends.
	if fixed := b.Rules.FixedByEntries(&rules); fixed != nil {
		if err := refuseWithEntries(ctx, tx, b.ID, fixed); err != nil {
			return false, err
		}
	}
	if fixed := b.Rules.FixedByPeriods(&rules); fixed != nil {
		if err := dropUnused(ctx, tx, b.ID, fixed); err != nil {
			return false, err
		}
	}
	if err := dropSeasons(ctx, tx, b.ID, rules.Seasons); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE boards SET rules = ?, version = version + 1, updated_at = "+s.db.Now()+" WHERE id = ?", string(text), b.ID)
	return false, err
}

// hasHiddenEntries asks whether a board keeps entries of hidden members. They are stored by the board's order like all
// others; a period with only such entries has the seq of an unused period. A closing bracket is missing.
const hasHiddenEntries = "SELECT EXISTS (SELECT 1 FROM periods p JOIN entries e ON e.period_id = -p.id WHERE p.board_id = ?"

// refuseIf returns conflict when a query about an id finds something.
func refuseIf(ctx context.Context, tx *sqlx.Tx, question string, id int64, conflict *leaderboard.ConflictError) error {
	var yes bool
	if err := tx.GetContext(ctx, &yes, question, id); err != nil {
		return err
	}
	if yes {
		return conflict
	}
	return nil
}

// refuseWithEntries refuses the change of rules that a board with entries keeps.
func refuseWithEntries(ctx context.Context, tx *sqlx.Tx, boardID int64, fixed []leaderboard.FieldError) error {
	const used = "SELECT EXISTS (SELECT 1 FROM entries WHERE period_id IN (SELECT id FROM periods WHERE board_id = ?))"
	if err := refuseIf(ctx, tx, used, boardID, &leaderboard.ConflictError{Reason: "the board has entries", Fields: fixed}); err != nil {
		return err
	}
	hidden := &leaderboard.ConflictError{Reason: "the board has entries of hidden members", Fields: fixed}
	return refuseIf(ctx, tx, hasHiddenEntries+")", boardID, hidden)
}

// dropUnused deletes the calendar periods of a board, whose bounds are about to move, unless a period was ever used.
func dropUnused(ctx context.Context, tx *sqlx.Tx, boardID int64, fixed []leaderboard.FieldError) error {
	conflict := &leaderboard.ConflictError{Reason: "calendar periods of the board were used", Fields: fixed}
	const used = "SELECT EXISTS (SELECT 1 FROM periods WHERE board_id = ? AND window_name NOT IN ('all_time', 'season') AND last_seq > 0)"
	if err := refuseIf(ctx, tx, used, boardID, conflict); err != nil {
		return err
	}
	if err := refuseIf(ctx, tx, hasHiddenEntries+" AND p.window_name NOT IN ('all_time', 'season'))", boardID, conflict); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM periods WHERE board_id = ? AND window_name NOT IN ('all_time', 'season')", boardID)
	return err
}

// dropSeasons deletes the periods of seasons that the new rules do not have, or have with other bounds. A used period
// stays, because its standings are history.
func dropSeasons(ctx context.Context, tx *sqlx.Tx, boardID int64, seasons []leaderboard.SeasonRule) error {
	var rows []boards.PeriodRow
	const find = "SELECT " + boards.PeriodColumns + " FROM periods WHERE board_id = ? AND window_name = 'season' AND state <> 'deleting' ORDER BY starts_at"
	if err := tx.SelectContext(ctx, &rows, find, boardID); err != nil {
		return err
	}
	var used []leaderboard.SeasonRule
	for i := range rows {
		p := rows[i].Period()
		season := leaderboard.SeasonRule{Name: p.Name(), StartsAt: p.StartsAt, EndsAt: p.EndsAt}
		if slices.Contains(seasons, season) {
			continue
		}
		hidden := false
		if err := tx.GetContext(ctx, &hidden, "SELECT EXISTS (SELECT 1 FROM entries WHERE period_id = -?)", p.ID); err != nil {
			return err
		}
		if hidden || p.LastSeq > 0 {
			used = append(used, season)
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM periods WHERE id = ?", p.ID); err != nil {
			return err
		}
	}
	if used != nil {
		return leaderboard.SeasonConflict(used...)
	}
	return nil
}
