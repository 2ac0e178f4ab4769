package entries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Query is the content of a statement about one period. Under READ COMMITTED a statement sees one state, so the whole
// result is correct at the state that comes with it.
type Query struct {
	Counts  []Count  // how many entries there are
	Scans   []Scan   // runs of entries
	Members []string // entries of these members; excludes scans
}

// Scan asks for at most Limit entries of a range: from its beginning, skipping offset of them, or its last ones.
type Scan struct {
	Range  Range
	Offset int64
	Limit  int
	Last   bool
}

// Result answers a query. Keys are as stored, so they do not depend on the rules that the caller knows.
type Result struct {
	State  leaderboard.State
	Counts []Counted
	Keys   [][]rank.Key // per scan, in order; of the members' entries [0] only, in order
}

const StateColumns = "p.incarnation, p.last_seq, p.committed_at, p.entry_count"

// Run runs the query on one period. The error is ErrPeriodNotFound when there is no such period, or one of the driver.
func (qu *Query) Run(ctx context.Context, d *mysql.DB, q mysql.Querier, periodID int64) (Result, error) {
	if len(qu.Scans) == 1 && !qu.Scans[0].Last {
		r, err := qu.send(ctx, q, d.Limited(qu.scanText(periodID)))
		if !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			return r, err
		}
		// There was no entry to come with the state: the other form of the statement has a row even so.
	}
	return qu.send(ctx, q, d.Limited(qu.Text(periodID)))
}

// StateOf reads the state of a period.
func StateOf(ctx context.Context, d *mysql.DB, q mysql.Querier, periodID int64) (leaderboard.State, error) {
	r, err := (&Query{}).Run(ctx, d, q, periodID)
	return r.State, err
}

func (qu *Query) send(ctx context.Context, q mysql.Querier, query string) (Result, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return Result{}, err
	}
	defer rows.Close()
	r := Result{Counts: make([]Counted, len(qu.Counts)), Keys: make([][]rank.Key, max(1, len(qu.Scans)))}
	r.State.Source = leaderboard.SourceMySQL
	row := newResultRow(&r, len(qu.Scans) > 0 || len(qu.Members) > 0)
	found := false
	for rows.Next() {
		if err := rows.Scan(row.dest...); err != nil {
			return Result{}, err
		}
		found = true
		if err := row.addTo(&r); err != nil {
			return Result{}, err
		}
	}
	if err := rows.Err(); err != nil {
		return Result{}, err
	}
	if !found {
		return Result{}, leaderboard.ErrPeriodNotFound
	}
	for _, keys := range r.Keys {
		slices.Sort(keys) // a join promises no order
	}
	return r, nil
}

// Text has one row, or a row per entry: the state, the counts, the entry.
func (qu *Query) Text(periodID int64) string {
	t := qu.head(periodID)
	switch {
	case len(qu.Scans) > 0:
		t.Str(", e.part, e.member, e.score, e.tiebreak, e.created_time FROM periods p LEFT JOIN (")
		for i, sc := range qu.Scans {
			if i > 0 {
				t.Str(" UNION ALL ")
			}
			t.Str("(SELECT ").Int(int64(i)).Str(" AS part, member, score, tiebreak, created_time")
			sc.From(t, periodID)
			t.Str(")")
		}
		t.Str(") e ON TRUE")
	case len(qu.Members) > 0:
		// Joined directly, not as a derived table, which would cost a third of the time of the statement.
		t.Str(", 0, e.member, e.score, e.tiebreak, e.created_time FROM periods p LEFT JOIN entries e FORCE INDEX (PRIMARY)")
		t.Str(" ON e.period_id = ").Int(periodID).Str(" AND ").Among("e.member", qu.Members)
	default:
		t.Str(" FROM periods p")
	}
	return t.Str(" WHERE p.id = ").Int(periodID).Str(" AND p.state <> 'deleting'").String()
}

// scanText returns the statement for one scan that finds something. Read from a derived table, as text does, a page of
// a hundred takes twice the time; but this has no row, and so no state, when there are no entries.
func (qu *Query) scanText(periodID int64) string {
	t := qu.head(periodID)
	t.Str(", 0, member, score, tiebreak, created_time FROM periods p STRAIGHT_JOIN entries FORCE INDEX (entries_order)")
	t.Str(" WHERE p.id = ").Int(periodID).Str(" AND p.state <> 'deleting' AND ")
	qu.Scans[0].rest(t, periodID)
	return t.String()
}

// head returns the part of a statement that does not depend on the entries.
func (qu *Query) head(periodID int64) *mysql.Text {
	t := (&mysql.Text{}).Str("SELECT " + StateColumns)
	for i := range qu.Counts {
		qu.Counts[i].Subquery(t, periodID)
	}
	return t
}

// From is a range scan of the ordered index that stops after limit rows; nothing is sorted.
func (sc *Scan) From(t *mysql.Text, periodID int64) {
	t.Str(" FROM entries FORCE INDEX (entries_order) WHERE ")
	sc.rest(t, periodID)
}

func (sc *Scan) rest(t *mysql.Text, periodID int64) {
	t.Str("period_id = ").Int(periodID)
	if sc.Range != Everything() {
		t.Str(" AND ")
		sc.Range.Where(t)
	}
	if sc.Last {
		t.Str(backwards)
	} else {
		t.Str(orderBy)
	}
	t.Str(" LIMIT ").Int(sc.Offset).Str(",").Int(int64(max(0, sc.Limit)))
}

// resultRow is where a row of a result is scanned to.
type resultRow struct {
	dest            []any
	asOf            time.Time
	counts          []int64
	part            sql.NullInt64
	member          sql.RawBytes
	score, tiebreak sql.NullInt64
	created         sql.NullTime
}

func newResultRow(r *Result, entries bool) *resultRow {
	row := &resultRow{counts: make([]int64, len(r.Counts))}
	row.dest = append(row.dest, &r.State.Incarnation, &r.State.Seq, &row.asOf, &r.State.Total)
	for i := range row.counts {
		row.dest = append(row.dest, &row.counts[i])
	}
	if entries {
		row.dest = append(row.dest, &row.part, &row.member, &row.score, &row.tiebreak, &row.created)
	}
	return row
}

// addTo adds the row that was scanned to the result.
func (row *resultRow) addTo(r *Result) error {
	r.State.AsOf = leaderboard.MicrosOf(row.asOf)
	for i, n := range row.counts {
		r.Counts[i] = Unpack(n)
	}
	if !row.score.Valid {
		return nil // the period has no such entries
	}
	if row.part.Int64 < 0 || row.part.Int64 >= int64(len(r.Keys)) {
		return fmt.Errorf("part %d of %d in an answer", row.part.Int64, len(r.Keys))
	}
	key := rank.Codec{}.Key(leaderboard.Entry{
		Member: string(row.member), Score: row.score.Int64, Tiebreak: row.tiebreak.Int64, CreatedTime: leaderboard.MicrosOf(row.created.Time),
	})
	r.Keys[row.part.Int64] = append(r.Keys[row.part.Int64], key)
	return nil
}

// Part is a scan of one of the periods.
type Part struct {
	Scan
	PeriodID int64
}

// partsPerQuery bounds the scans of one statement.
const partsPerQuery = 64

// ReadParts returns the entries of each part in order. q is a transaction that sees one state, or the states of the parts
// may differ. last is called before the last statement.
func ReadParts(ctx context.Context, d *mysql.DB, q mysql.Querier, parts []Part, last func()) ([][]rank.Key, error) {
	out := make([][]rank.Key, len(parts))
	for from := 0; from < len(parts); from += partsPerQuery {
		chunk := parts[from:min(from+partsPerQuery, len(parts))]
		if from+len(chunk) == len(parts) {
			last()
		}
		if err := scanParts(ctx, d, q, chunk, out[from:]); err != nil {
			return nil, err
		}
	}
	for _, keys := range out {
		slices.Sort(keys) // a union promises no order
	}
	return out, nil
}

func scanParts(ctx context.Context, d *mysql.DB, q mysql.Querier, parts []Part, out [][]rank.Key) error {
	rows, err := q.QueryContext(ctx, d.Limited(PartsText(parts)))
	if err != nil {
		return err
	}
	defer rows.Close()
	return EachPart(rows, func(part int64, k rank.Key) { out[part] = append(out[part], k) })
}

// PartsText begins with a SELECT that finds nothing: it gives the columns their types, and carries the limit of time.
func PartsText(parts []Part) string {
	t := (&mysql.Text{}).Str("SELECT 0 AS part, member, score, tiebreak, created_time FROM entries WHERE period_id = 0 AND member = ''")
	for i := range parts {
		if parts[i].Limit > 0 {
			t.Str(" UNION ALL (SELECT ").Int(int64(i)).Str(", member, score, tiebreak, created_time")
			parts[i].From(t, parts[i].PeriodID)
			t.Str(")")
		}
	}
	return t.String()
}

// Keys reads the entries of a scan without the state, which is known; that makes for a statement that is planned in
// half the time.
func (sc *Scan) Keys(ctx context.Context, d *mysql.DB, q mysql.Querier, periodID int64) ([]rank.Key, error) {
	t := (&mysql.Text{}).Str("SELECT member, score, tiebreak, created_time")
	sc.From(t, periodID)
	rows, err := q.QueryContext(ctx, d.Limited(t.String()))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []rank.Key
	err = EachRow(rows, rank.Codec{}, func(e leaderboard.Entry) { keys = append(keys, rank.Codec{}.Key(e)) })
	return keys, err
}

// AsideIn returns the period_id of the entries of a period that are set aside, such as entries of hidden members: readers
// of the period do not use it. The views scores and hidden_scores of the schema know it too, like the purge of periods and
// the queries of derived boards.
func AsideIn(periodID int64) int64 { return -periodID }

// PeriodOf returns the period of a row of entries by its period_id, and whether the entry is set aside.
func PeriodOf(stored int64) (periodID int64, aside bool) { return max(stored, -stored), stored < 0 }

// EachRow reads rows of member, score, tiebreak, created_time to the end of one answer.
func EachRow(rows *sql.Rows, codec rank.Codec, fn func(leaderboard.Entry)) error {
	for rows.Next() {
		var (
			e       leaderboard.Entry
			created time.Time
		)
		if err := rows.Scan(&e.Member, &e.Score, &e.Tiebreak, &created); err != nil {
			return err
		}
		e.Score, e.Tiebreak = codec.Stored(e.Score, e.Tiebreak)
		e.CreatedTime = leaderboard.MicrosOf(created)
		fn(e)
	}
	return rows.Err()
}

// AppendRow appends one row of entries, in the order of its columns.
func AppendRow(t *mysql.Text, periodID int64, codec rank.Codec, e leaderboard.Entry) *mysql.Text {
	score, tiebreak := codec.Stored(e.Score, e.Tiebreak)
	t.Str("(").Int(periodID).Str(",").Hex(e.Member).Str(",").Int(score).Str(",").Int(tiebreak).Str(",")
	return t.Time(e.CreatedTime).Str(")")
}

// EachPart reads rows of a number and a stored entry.
func EachPart(rows *sql.Rows, fn func(part int64, k rank.Key)) error {
	for rows.Next() {
		var (
			part    int64
			e       leaderboard.Entry
			created time.Time
		)
		if err := rows.Scan(&part, &e.Member, &e.Score, &e.Tiebreak, &created); err != nil {
			return err
		}
		e.CreatedTime = leaderboard.MicrosOf(created)
		fn(part, rank.Codec{}.Key(e))
	}
	return rows.Err()
}

// Same reports whether two entries are the same; nil is no entry.
func Same(a, b *leaderboard.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
