package derived

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/jmoiron/sqlx"

	"leaderboard/leaderboard"
)

// boardChanged implements store.BoardChange: it refuses boards that cannot be sources, and sources that could not have
// entries, and notes whether the board is derived. A rule that the board had already (old) is not refused because its
// sources have changed since. The next step sees a changed rule.
func (f *Stepper) boardChanged(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board, old *leaderboard.Rules) error {
	if b.Rules.Derive != nil {
		if !reflect.DeepEqual(old.Derive, b.Rules.Derive) {
			if err := f.checkSources(ctx, tx, b); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO derived_boards (board_id) VALUES (?) ON DUPLICATE KEY UPDATE board_id = VALUES(board_id)", b.ID)
		return err
	}
	if old.Derive == nil {
		return nil
	}
	for _, query := range []string{"DELETE FROM derived_sources WHERE board_id = ?", "DELETE FROM derived_boards WHERE board_id = ?"} {
		if _, err := tx.ExecContext(ctx, query, b.ID); err != nil {
			return err
		}
	}
	return nil
}

func (f *Stepper) checkSources(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board) error {
	found, err := sourceBoards(ctx, tx, f.db.Limited(sourcesQuery(b.Rules.Derive)))
	if err != nil {
		return err
	}
	find := sourcesAmong(found, f.boards.Calendar)
	if err := checkKnown(b.Rules.Derive, find); err != nil {
		return err
	}
	return checkSources(b.Rules.Derive, b.Name, find)
}

// UnknownSources returns an ErrUnknownRule, by the id of the board, for each of the derived boards with a source whose
// periods this server does not know. unknown is the boards with a rule that it does not know.
func (f *Stepper) UnknownSources(derived, unknown []leaderboard.Board) map[int64]error {
	find, found := sourcesAmong(unknown, f.boards.Calendar), map[int64]error{}
	for i := range derived {
		if err := checkKnown(derived[i].Rules.Derive, find); err != nil {
			found[derived[i].ID] = err
		}
	}
	return found
}

// failFunc records a fault at a place in the rules of a board.
type failFunc func(pointer, format string, args ...any)

// checkSources reports the sources that a board of this name cannot have, or that could have no entries: the board
// itself, derived boards, windows and periods that their boards do not have. A board that does not exist passes: it may
// be created later. The rules must have passed Check.
func checkSources(d *leaderboard.Derive, name string, find findSource) error {
	var bad []leaderboard.FieldError
	fail := func(pointer, format string, args ...any) {
		bad = append(bad, leaderboard.FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	seen := map[leaderboard.DeriveFrom]bool{}
	for i, from := range d.From {
		pointer := "/derive/from/" + strconv.Itoa(i)
		b, ok := find(from.Board)
		if from.Board == name || b.derived {
			fail(pointer+"/board", "%s is a derived board, which cannot be a source", from.Board)
		} else if ok {
			from.Window, from.Weight = windowOn(d, &from, &b), nil
			b.check(d, from, pointer, fail)
			if from.Window == leaderboard.WindowAllTime {
				from.Period = leaderboard.CurrentPeriod // the only one it can have
			}
			if seen[from] {
				fail(pointer, "the source is listed twice: the first window of %s is %s", from.Board, b.windows[0])
			}
			seen[from] = true
		}
	}
	if bad == nil {
		return nil
	}
	return &leaderboard.RuleError{Code: leaderboard.CodeInvalidBoard, Detail: "the board's rules are not valid", Fields: bad}
}

// check checks a source with a known window against the board that it names.
func (b *sourceBoard) check(d *leaderboard.Derive, from leaderboard.DeriveFrom, pointer string, fail failFunc) {
	has := slices.Contains(b.windows, from.Window)
	switch {
	case !has && d.Last != "":
		fail("/derive/last", "counts periods of window %s, and board %s has %s", from.Window, from.Board, b.listed())
	case !has && from.Moves():
		fail(pointer+"/window", "board %s has %s", from.Board, b.listed())
	case from.Window == leaderboard.WindowAllTime && from.Period == leaderboard.PreviousPeriod:
		fail(pointer+"/period", "window %s has one period", from.Window)
	case !from.Moves():
		span, err := b.calendar.Named(from.Window, from.Period)
		if err != nil {
			fail(pointer+"/period", "%s", err)
		} else if span.EndsAt <= b.created {
			fail(pointer+"/period", "ended before board %s was made, at %s", from.Board, b.created)
		}
	}
}

// listed returns the windows of the board as a text.
func (b *sourceBoard) listed() string {
	text := ""
	for i, w := range b.windows {
		if i > 0 {
			text += ", "
		}
		text += string(w)
	}
	return text
}
