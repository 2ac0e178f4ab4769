package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

// querier is what reading needs: the pool, for one statement, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// counter counts the entries between cuts of a period, in the state that q sees. The one there is scans the ordered
// index, which costs time in proportion to the count; the bucket index will take its place for all but the ends.
type counter interface {
	// count returns the number of entries of each interval.
	count(ctx context.Context, q querier, periodID int64, ivs []interval) ([]int64, error)
	// distinct returns the number of different (score, tiebreak) in each interval.
	distinct(ctx context.Context, q querier, periodID int64, ivs []interval) ([]int64, error)
}

// view is one state of one period, read in several statements.
type view struct {
	store *Store
	q     querier
	ref   leaderboard.PeriodRef
	codec rank.Codec
	state leaderboard.State
}

const stateColumns = "p.last_seq, p.committed_at, p.entry_count"

// view runs fn on one state of the period, at least minSeq: a REPEATABLE READ, READ ONLY transaction, whose snapshot
// its first statement takes.
func (s *Store) view(ctx context.Context, ref leaderboard.PeriodRef, minSeq int64, fn func(*view) error) error {
	tx, err := s.db.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written, and the answer is complete or the error in hand says more
	v := &view{store: s, q: tx, ref: ref, codec: rank.CodecOf(ref.Rules)}
	row := tx.QueryRowContext(ctx, s.limited("SELECT "+stateColumns+" FROM periods p WHERE p.id = ? AND p.state <> 'deleting'"), ref.ID)
	if v.state, err = scanState(row); err != nil {
		return err
	}
	if v.state.Seq < minSeq {
		return fmt.Errorf("%w: it is at %d, not at %d", leaderboard.ErrSeqAhead, v.state.Seq, minSeq)
	}
	return fn(v)
}

func scanState(row *sql.Row, more ...any) (leaderboard.State, error) {
	state := leaderboard.State{Source: leaderboard.SourceMySQL}
	var asOf time.Time
	err := row.Scan(append([]any{&state.Seq, &asOf, &state.Total}, more...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return state, leaderboard.ErrPeriodNotFound
	}
	state.AsOf = micros(asOf)
	return state, err
}

// entries reads at most limit entries of an interval from its beginning, skipping offset of them. They come in order.
func (v *view) entries(ctx context.Context, iv interval, offset int64, limit int) ([]leaderboard.Entry, error) {
	return v.scan(ctx, iv, orderBy, offset, limit)
}

// lastEntries reads the last limit entries of an interval, in order.
func (v *view) lastEntries(ctx context.Context, iv interval, limit int) ([]leaderboard.Entry, error) {
	es, err := v.scan(ctx, iv, backwards, 0, limit)
	for i, j := 0, len(es)-1; i < j; i, j = i+1, j-1 {
		es[i], es[j] = es[j], es[i]
	}
	return es, err
}

func (v *view) scan(ctx context.Context, iv interval, order string, offset int64, limit int) ([]leaderboard.Entry, error) {
	if limit <= 0 {
		return nil, nil
	}
	rows, err := v.q.QueryContext(ctx, v.store.limited(scanQuery(v.ref.ID, iv, order, offset, limit)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	es := make([]leaderboard.Entry, 0, limit)
	err = scanEntries(rows, v.codec, func(e leaderboard.Entry) { es = append(es, e) })
	return es, err
}

// scanQuery is a range scan of the ordered index that stops after limit rows; nothing is sorted.
func scanQuery(periodID int64, iv interval, order string, offset int64, limit int) string {
	t := &text{}
	t.str("SELECT member, score, tiebreak, created_time FROM entries FORCE INDEX (entries_order) WHERE period_id = ").int(periodID)
	if iv != (interval{beginning(), end()}) {
		t.str(" AND ")
		iv.where(t)
	}
	return t.str(order).str(" LIMIT ").int(offset).str(",").int(int64(limit)).String()
}

// member is the key of a member's entry; ErrNotRanked when there is none.
func (v *view) member(ctx context.Context, member string) (rank.Key, error) {
	keys, err := v.members(ctx, []string{member})
	if err == nil && len(keys) == 0 {
		err = leaderboard.ErrNotRanked
	}
	if err != nil {
		return "", err
	}
	return keys[0], nil
}

// members are the keys of the members that have an entry, in no particular order.
func (v *view) members(ctx context.Context, members []string) ([]rank.Key, error) {
	t := &text{}
	t.str("SELECT member, score, tiebreak, created_time FROM entries FORCE INDEX (PRIMARY) WHERE period_id = ").int(v.ref.ID)
	t.str(" AND member IN (")
	n := 0
	for _, m := range members {
		if leaderboard.CheckMember(m) == nil {
			t.comma(n).hex(m)
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	rows, err := v.q.QueryContext(ctx, v.store.limited(t.str(")").String()))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []rank.Key
	err = scanEntries(rows, v.codec, func(e leaderboard.Entry) { keys = append(keys, v.codec.Key(e)) })
	return keys, err
}
