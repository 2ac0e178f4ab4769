package players

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/api"
	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// barRow is a row of member_bars.
type barRow struct {
	Member    []byte    `db:"member"`
	NotBefore time.Time `db:"not_before"`
}

func (r *barRow) bar() MemberBar {
	return MemberBar{Member: string(r.Member), NotBefore: leaderboard.MicrosOf(r.NotBefore)}
}

func microseconds(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }

// BarMember ends all tokens of a member that were issued before a time, 0: before now, by the database clock. A bar that is there
// only moves on. Errors: a *leaderboard.RuleError, also for a time to come; ErrUnavailable.
func (s *Store) BarMember(ctx context.Context, member string, before leaderboard.Micros) (bar MemberBar, err error) {
	if broken := leaderboard.CheckMember(member); broken != nil {
		return bar, mysql.Wrap("bar member", broken)
	}
	err = s.changeHere(ctx, func(tx *sqlx.Tx) error {
		var now time.Time
		if err := tx.QueryRowContext(ctx, "SELECT "+s.db.Sysdate()).Scan(&now); err != nil {
			return err
		}
		at, err := barTime(before, leaderboard.MicrosOf(now))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO member_bars (member, not_before) VALUES (?, ?)"+
			" ON DUPLICATE KEY UPDATE not_before = GREATEST(not_before, VALUES(not_before))", []byte(member), at.Time())
		if err == nil {
			bar, err = barIn(ctx, tx, member)
		}
		if err == nil {
			_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionMemberBar, Member: member, After: barState{bar.NotBefore}})
		}
		return err
	})
	return bar, mysql.Translate(ctx, "bar member", err)
}

// barTime returns the time of a bar that is asked for.
func barTime(before, now leaderboard.Micros) (leaderboard.Micros, error) {
	switch {
	case before == 0:
		return now, nil
	case before < leaderboard.MinTime || before > now:
		detail := "want a time that is over, by the database's clock up to " + now.String()
		return 0, &leaderboard.RuleError{Code: leaderboard.CodeInvalidToken, Detail: "there can be no such bar", Fields: []leaderboard.FieldError{{Pointer: "/not_before", Detail: detail}}}
	}
	return before, nil
}

// barState is the audit's record of a bar.
type barState struct {
	NotBefore leaderboard.Micros `json:"not_before"`
}

// UnbarMember takes a bar back: tokens that are not over are good again. ErrBarNotFound.
func (s *Store) UnbarMember(ctx context.Context, member string) error {
	err := s.changeHere(ctx, func(tx *sqlx.Tx) error {
		bar, err := barIn(ctx, tx, member)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM member_bars WHERE member = ?", []byte(member)); err != nil {
			return err
		}
		_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionMemberUnbar, Member: member, Before: barState{bar.NotBefore}})
		return err
	})
	return mysql.Translate(ctx, "unbar member", err)
}

// Bar finds the bar of a member; ErrBarNotFound.
func (s *Store) Bar(ctx context.Context, member string) (MemberBar, error) {
	bar, err := barIn(ctx, s.db.Pool, member)
	return bar, mysql.Translate(ctx, "bar", err)
}

func barIn(ctx context.Context, q sqlx.QueryerContext, member string) (MemberBar, error) {
	var row barRow
	err := sqlx.GetContext(ctx, q, &row, "SELECT member, not_before FROM member_bars WHERE member = ?", []byte(member))
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrBarNotFound
	}
	return row.bar(), err
}

const selectBars = "SELECT member, not_before FROM member_bars WHERE member > ? ORDER BY member LIMIT ?"

// Bars lists up to limit bars of members after the given one, in the order of their bytes.
func (s *Store) Bars(ctx context.Context, after string, limit int) ([]MemberBar, error) {
	var rows []barRow
	err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(selectBars), []byte(after), max(0, limit))
	bars := make([]MemberBar, len(rows))
	for i := range rows {
		bars[i] = rows[i].bar()
	}
	return bars, mysql.Translate(ctx, "bars", err)
}

// forget deletes the bar of a member who is erased.
func (s *Store) forget(ctx context.Context, member, _ []byte, _ store.Steps) error {
	return s.changeTokens(ctx, func(tx *sqlx.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM member_bars WHERE member = ?", member)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errNothing)
		}
		return nil
	})
}

// data returns the bar of a member.
func (s *Store) data(ctx context.Context, member string, tell func(any) error) error {
	bar, err := s.Bar(ctx, member)
	if errors.Is(err, leaderboard.ErrBarNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return tell(api.Bar{Member: bar.Member, NotBefore: bar.NotBefore.Time()})
}

// barTTL is how long a bar is kept: until no token that it ends could be good, and a day.
const barTTL = maxTokenAge + 24*time.Hour

// barsNext finds the time up to which there is a number of bars.
const barsNext = "SELECT not_before FROM member_bars WHERE not_before >= ? AND not_before < ? ORDER BY not_before LIMIT ?, 1"

// sweepBars returns the job that deletes bars of members that no longer end any token. Servers hold deleted bars until the
// next change of a bar.
func sweepBars(sweeper store.Sweeper) store.Job {
	const remove = "DELETE FROM member_bars WHERE not_before >= ? AND not_before < ? ORDER BY not_before LIMIT ?"
	return store.Job{Name: "sweep bars", Run: func(ctx context.Context, slice store.Slice) (more bool, err error) {
		return sweeper.Aged(ctx, slice, barsNext, remove, sweeper.Before(barTTL))
	}}
}
