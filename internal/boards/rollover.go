package boards

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
)

// Rollover is the change of a board's open periods at a moment of the database clock.
type Rollover struct {
	Current []leaderboard.Period // in the order of the board's windows; ID 0: there is no row yet, or a closed one
	Ended   []int64              // open periods past their end

	ended []leaderboard.Period
	clock leaderboard.Micros

	// LastCreated is, by period that Write opened again, periods.last_created_time.
	LastCreated map[int64]leaderboard.Micros
}

// RolloverAt decides which periods are current. Until a period ends its row decides, not the calendar: a clock that goes
// back a little does not bring a past period back, and servers whose time zone files differ agree. A period that begins
// later than leaderboard.ClockBack from now is not current: the clock was wrong when it was begun, or is now.
func RolloverAt(cal leaderboard.Calendar, boardID int64, windows []leaderboard.Window, open []leaderboard.Period, clock leaderboard.Micros) Rollover {
	r := Rollover{clock: clock}
	latest := make(map[leaderboard.Window]leaderboard.Period, len(windows))
	for _, p := range open {
		if p.EndsAt <= clock {
			r.Ended, r.ended = append(r.Ended, p.ID), append(r.ended, p)
		} else if p.StartsAt > clock && p.StartsAt-clock > leaderboard.ClockBack {
			continue // it may become current later
		} else if l, ok := latest[p.Window]; !ok || precedes(l, p, clock) {
			latest[p.Window] = p
		}
	}
	for _, w := range windows {
		if p, ok := latest[w]; ok {
			r.Current = append(r.Current, p)
		} else if span, ok := cal.At(w, clock); ok {
			p := leaderboard.Period{
				BoardID: boardID, Window: w, Label: span.Name, StartsAt: span.StartsAt, EndsAt: span.EndsAt,
				State: leaderboard.PeriodStateOpen, Committed: clock,
			}
			if w == leaderboard.WindowAllTime {
				p.Label = "" // it is the name of the window
			}
			r.Current = append(r.Current, p)
		}
	}
	return r
}

// precedes reports whether the second of two open periods is current rather than the first: the later one, unless it has
// not begun and the other has. Only a clock that leapt leaves two such periods open.
func precedes(first, second leaderboard.Period, clock leaderboard.Micros) bool {
	if begun := second.StartsAt <= clock; begun != (first.StartsAt <= clock) {
		return begun
	}
	return first.StartsAt < second.StartsAt
}

// Due reports whether there is anything to write.
func (r *Rollover) Due() bool { return len(r.Ended) > 0 || r.lacks() }

// lacks reports whether a current period has no row yet.
func (r *Rollover) lacks() bool {
	return slices.ContainsFunc(r.Current, func(p leaderboard.Period) bool { return p.ID == 0 })
}

// IDs returns the ids of the current periods; whole is false when one of them has no row.
func (r *Rollover) IDs() (ids []int64, whole bool) {
	whole = true
	for _, p := range r.Current {
		ids, whole = append(ids, p.ID), whole && p.ID != 0
	}
	return ids, whole
}

// Write closes the periods that have ended and begins the periods that lack a row; they get their ids and incarnations. A
// period that was closed before its end, by a clock that was ahead, is opened again, which is recorded as a run. Because
// the board's row is locked, no other process writes them at the same time, and no writer continues with a closed period.
// Incarnations are random bits.
func (r *Rollover) Write(ctx context.Context, tx outbox.Tx, b *leaderboard.Board, random func() uint64) error {
	if err := Close(ctx, tx, (&mysql.Text{}).Time(r.clock).String(), b, r.ended); err != nil {
		return err
	}
	for i := range r.Current {
		p := &r.Current[i]
		if p.ID != 0 {
			continue
		}
		err := begin(ctx, tx, p, random)
		if mysql.IsDuplicate(err) {
			err = r.openAgain(ctx, tx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close closes open periods of a board at the moment of an SQL expression, and enters their events. The statement that
// closes also returns whether there may be an endpoint: without endpoints no further statement is needed.
func Close(ctx context.Context, tx outbox.Tx, at string, b *leaderboard.Board, ended []leaderboard.Period) error {
	var events []outbox.Event
	for _, p := range ended {
		result, err := tx.ExecContext(ctx, "UPDATE periods SET state = IF("+outbox.Listen+", 'closed', 'closed') WHERE id = ? AND state = 'open'", p.ID)
		if err != nil {
			return err
		}
		closed, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if closed > 0 && outbox.MayListen(result) {
			events = append(events, outbox.Closed(b, p))
		}
	}
	return outbox.Enter(ctx, tx, at, events...)
}

// begin makes the row of a period.
func begin(ctx context.Context, tx outbox.Tx, p *leaderboard.Period, random func() uint64) error {
	q := (&mysql.Text{}).Str("INSERT INTO periods (incarnation, board_id, window_name, name, starts_at, ends_at, last_created_time, committed_at) VALUES (")
	incarnation := leaderboard.NewIncarnation(random)
	q.Int(incarnation).Str(",").Int(p.BoardID).Str(",").Hex(string(p.Window)).Str(",").Hex(p.Label).Str(",").Time(p.StartsAt).Str(",")
	if p.EndsAt == leaderboard.Forever {
		q.Str("NULL")
	} else {
		q.Time(p.EndsAt)
	}
	result, err := tx.ExecContext(ctx, q.Str(",'1970-01-01',").Time(p.Committed).Str(")").String())
	if err != nil {
		return err
	}
	if p.ID, err = result.LastInsertId(); err != nil {
		return err
	}
	p.Incarnation = incarnation
	return nil
}

// openAgain opens the closed period in place of a period that is about to begin. Errors: ErrUnavailable when it is being
// deleted, or when it ended by other rules than the present ones.
func (r *Rollover) openAgain(ctx context.Context, tx outbox.Tx, p *leaderboard.Period) error {
	var (
		row         PeriodRow
		lastCreated time.Time
		now         = p.Committed // of the period that was about to begin
	)
	const find = "SELECT last_created_time, " + PeriodColumns + " FROM periods WHERE board_id = ? AND window_name = ? AND starts_at = ? FOR UPDATE"
	err := tx.QueryRowContext(ctx, find, p.BoardID, []byte(p.Window), p.StartsAt.Time()).Scan(append([]any{&lastCreated}, row.Dest()...)...)
	if err != nil {
		return err
	}
	found := row.Period()
	if found.State != leaderboard.PeriodStateClosed || found.EndsAt <= now {
		return fmt.Errorf("%w: the clock of the database went back into %s, which is %s", leaderboard.ErrUnavailable, p.Name(), found.State)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE periods SET state = 'open' WHERE id = ?", found.ID); err != nil {
		return err
	}
	t := (&mysql.Text{}).Str("INSERT INTO runs (board_id, period_id, kind, reason, state, from_seq, to_seq, started_at) VALUES (")
	t.Int(found.BoardID).Str(",").Int(found.ID).Str(",").Hex(string(leaderboard.RunKindReopen)).Str(",").Hex(string(leaderboard.RunReasonClock))
	t.Str(",").Hex(string(leaderboard.RunStateDone)).Str(",").Int(found.LastSeq).Str(",").Int(found.LastSeq).Str(",").Time(now).Str(")")
	if _, err := tx.ExecContext(ctx, t.String()); err != nil {
		return err
	}
	// Notices continue in it, from its beginning: notices that were entered before are known by their ids.
	const back = "UPDATE notice_boards SET period_id = ?, seq = 0 WHERE board_id = ? AND window_name = ?"
	if _, err := tx.ExecContext(ctx, back, found.ID, found.BoardID, []byte(found.Window)); err != nil {
		return err
	}
	if err := outbox.Reopened(ctx, tx, found); err != nil {
		return err
	}
	found.State = leaderboard.PeriodStateOpen
	*p = found
	if r.LastCreated == nil {
		r.LastCreated = map[int64]leaderboard.Micros{}
	}
	r.LastCreated[found.ID] = leaderboard.MicrosOf(lastCreated)
	return nil
}
