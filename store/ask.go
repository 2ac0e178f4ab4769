package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// question is what one statement asks about one period. Under READ COMMITTED a statement sees one state, so all of the
// reply is true at the state that comes with it.
type question struct {
	counts  []tally  // how many entries there are
	scans   []scan   // runs of entries
	members []string // entries of these members; excludes scans
}

// scan asks for at most limit entries of an interval: from its beginning, skipping offset of them, or its last ones.
type scan struct {
	iv     interval
	offset int64
	limit  int
	last   bool
}

// reply answers a question. Keys are as stored, so they do not depend on the rules that the caller knows.
type reply struct {
	state  leaderboard.State
	counts []counted
	keys   [][]rank.Key // per scan, in order; of the members' entries [0] only, in order
}

const stateColumns = "p.last_seq, p.committed_at, p.entry_count"

// ask sends a question. The error is ErrPeriodNotFound when there is no such period, or one of the driver.
func (s *Store) ask(ctx context.Context, q db.Querier, periodID int64, qu question) (reply, error) {
	if len(qu.scans) == 1 && !qu.scans[0].last {
		r, err := s.send(ctx, q, qu, qu.run(periodID))
		if !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			return r, err
		}
		// There was no entry to come with the state: the other form of the statement has a row even so.
	}
	return s.send(ctx, q, qu, qu.text(periodID))
}

func (s *Store) send(ctx context.Context, q db.Querier, qu question, query string) (reply, error) {
	rows, err := q.QueryContext(ctx, s.db.Limited(query))
	if err != nil {
		return reply{}, err
	}
	defer rows.Close()
	r := reply{counts: make([]counted, len(qu.counts)), keys: make([][]rank.Key, max(1, len(qu.scans)))}
	r.state.Source = leaderboard.SourceMySQL
	row := newAnswerRow(&r, len(qu.scans) > 0 || len(qu.members) > 0)
	found := false
	for rows.Next() {
		if err := rows.Scan(row.dest...); err != nil {
			return reply{}, err
		}
		found = true
		if err := row.take(&r); err != nil {
			return reply{}, err
		}
	}
	if err := rows.Err(); err != nil {
		return reply{}, err
	}
	if !found {
		return reply{}, leaderboard.ErrPeriodNotFound
	}
	for _, keys := range r.keys {
		slices.Sort(keys) // a join promises no order
	}
	return r, nil
}

// text has one row, or one per entry: the state, the counts, the entry.
func (qu *question) text(periodID int64) string {
	t := qu.head(periodID)
	switch {
	case len(qu.scans) > 0:
		t.Str(", e.part, e.member, e.score, e.tiebreak, e.created_at FROM periods p LEFT JOIN (")
		for i, sc := range qu.scans {
			if i > 0 {
				t.Str(" UNION ALL ")
			}
			t.Str("(SELECT ").Int(int64(i)).Str(" AS part, member, score, tiebreak, created_at")
			sc.from(t, periodID)
			t.Str(")")
		}
		t.Str(") e ON TRUE")
	case len(qu.members) > 0:
		// Joined directly, not as a derived table, which would cost a third of the time of the statement.
		t.Str(", 0, e.member, e.score, e.tiebreak, e.created_at FROM periods p LEFT JOIN entries e FORCE INDEX (PRIMARY)")
		t.Str(" ON e.period_id = ").Int(periodID).Str(" AND ").Among("e.member", qu.members)
	default:
		t.Str(" FROM periods p")
	}
	return t.Str(" WHERE p.id = ").Int(periodID).Str(" AND p.state <> 'deleting'").String()
}

// run is the statement for one scan that finds something. Read from a derived table, as text does, a page of a hundred
// takes twice the time; but this has no row, and so no state, when there are no entries.
func (qu *question) run(periodID int64) string {
	t := qu.head(periodID)
	t.Str(", 0, member, score, tiebreak, created_at FROM periods p STRAIGHT_JOIN entries FORCE INDEX (entries_order)")
	t.Str(" WHERE p.id = ").Int(periodID).Str(" AND p.state <> 'deleting' AND ")
	qu.scans[0].rest(t, periodID)
	return t.String()
}

// head is the part of a statement that does not depend on the entries.
func (qu *question) head(periodID int64) *db.Text {
	t := (&db.Text{}).Str("SELECT " + stateColumns)
	for i := range qu.counts {
		qu.counts[i].subquery(t, periodID)
	}
	return t
}

// from is a range scan of the ordered index that stops after limit rows; nothing is sorted.
func (sc *scan) from(t *db.Text, periodID int64) {
	t.Str(" FROM entries FORCE INDEX (entries_order) WHERE ")
	sc.rest(t, periodID)
}

func (sc *scan) rest(t *db.Text, periodID int64) {
	t.Str("period_id = ").Int(periodID)
	if sc.iv != (interval{beginning(), end()}) {
		t.Str(" AND ")
		sc.iv.where(t)
	}
	if sc.last {
		t.Str(backwards)
	} else {
		t.Str(orderBy)
	}
	t.Str(" LIMIT ").Int(sc.offset).Str(",").Int(int64(max(0, sc.limit)))
}

// answerRow is where a row of a reply is scanned to.
type answerRow struct {
	dest            []any
	asOf            time.Time
	counts          []int64
	part            sql.NullInt64
	member          sql.RawBytes
	score, tiebreak sql.NullInt64
	created         sql.NullTime
}

func newAnswerRow(r *reply, entries bool) *answerRow {
	row := &answerRow{counts: make([]int64, len(r.counts))}
	row.dest = append(row.dest, &r.state.Seq, &row.asOf, &r.state.Total)
	for i := range row.counts {
		row.dest = append(row.dest, &row.counts[i])
	}
	if entries {
		row.dest = append(row.dest, &row.part, &row.member, &row.score, &row.tiebreak, &row.created)
	}
	return row
}

// take adds the row that was scanned to the reply.
func (row *answerRow) take(r *reply) error {
	r.state.AsOf = leaderboard.MicrosOf(row.asOf)
	for i, n := range row.counts {
		r.counts[i] = unpack(n)
	}
	if !row.score.Valid {
		return nil // the period has no such entries
	}
	if row.part.Int64 < 0 || row.part.Int64 >= int64(len(r.keys)) {
		return fmt.Errorf("part %d of %d in an answer", row.part.Int64, len(r.keys))
	}
	key := rank.Codec{}.Key(leaderboard.Entry{
		Member: string(row.member), Score: row.score.Int64, Tiebreak: row.tiebreak.Int64, CreatedTime: leaderboard.MicrosOf(row.created.Time),
	})
	r.keys[row.part.Int64] = append(r.keys[row.part.Int64], key)
	return nil
}
