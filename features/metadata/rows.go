package metadata

import (
	"cmp"
	"database/sql"
	"strings"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// noBody is the id of the body of a row of entry_metadata whose entry has no metadata, though its predecessor had.
const noBody = 0

// storedRow is a row of entry_metadata with its body.
type storedRow struct {
	PeriodID int64
	Key      rank.Key // of the entry that it is of, as stored
	BodyID   int64    // or noBody
	Refs     int64    // of the body, 0 without a body
	Body     string   // "": no body, or it was not read

	At leaderboard.Revision // of the period, in a row with only a revision
}

// appendRows appends the statement, without an end, that reads the metadata of members in periods by primary keys, with the
// bodies when they are wanted.
func appendRows(t *mysql.Text, periods []int64, members []string, bodies bool) *mysql.Text {
	appendSelect(t, bodies)
	return t.Str(" WHERE m.period_id IN (").Ints(periods).Str(") AND ").Among("m.member", members)
}

// appendAfter appends the statement that reads the rows of a number of members of a period after one.
func appendAfter(t *mysql.Text, period int64, member string, limit int) *mysql.Text {
	appendSelect(t.Str("("), true).Str(" WHERE m.period_id = ").Int(period).Str(" AND m.member > ").Hex(member)
	return t.Str(" ORDER BY m.member LIMIT ").Int(int64(limit)).Str(")")
}

func appendSelect(t *mysql.Text, bodies bool) *mysql.Text {
	t.Str("SELECT m.period_id, m.member, m.score, m.tiebreak, m.created_time, m.body_id, COALESCE(b.refs, 0), ")
	if bodies {
		t.Str("COALESCE(b.body, '')")
	} else {
		t.Str("''")
	}
	return t.Str(" FROM entry_metadata m FORCE INDEX (PRIMARY) LEFT JOIN metadata_bodies b FORCE INDEX (PRIMARY) ON b.member = m.member AND b.id = m.body_id")
}

// appendStates appends a statement with the columns of appendRows that reads the revisions of periods, as entries without a
// member. Rows of the same statement have these revisions.
func appendStates(t *mysql.Text, periods []int64) *mysql.Text {
	return t.Str("SELECT id, '', last_seq, incarnation, committed_at, 0, 0, '' FROM periods WHERE id IN (").Ints(periods).Str(")")
}

// eachRow reads the answer to appendRows, and to appendStates.
func eachRow(rows *sql.Rows, fn func(*storedRow)) error {
	for rows.Next() {
		var (
			r       storedRow
			e       leaderboard.Entry
			created time.Time
		)
		if err := rows.Scan(&r.PeriodID, &e.Member, &e.Score, &e.Tiebreak, &created, &r.BodyID, &r.Refs, &r.Body); err != nil {
			return err
		}
		e.CreatedTime = leaderboard.MicrosOf(created)
		if r.Key = (rank.Codec{}).Key(e); e.Member == "" {
			r.At = leaderboard.Revision{Incarnation: e.Tiebreak, Seq: e.Score, AsOf: e.CreatedTime}
		}
		fn(&r)
	}
	return rows.Err()
}

// bodyKey is the primary key of a row of metadata_bodies.
type bodyKey struct {
	Member string
	ID     int64
}

// Compare orders keys as the table does.
func (k bodyKey) Compare(other bodyKey) int {
	return cmp.Or(strings.Compare(k.Member, other.Member), cmp.Compare(k.ID, other.ID))
}

// appendBodyKeys appends the condition that a row of metadata_bodies has one of the keys.
func appendBodyKeys(t *mysql.Text, keys []bodyKey) *mysql.Text {
	t.Str("(")
	for i, k := range keys {
		if i > 0 {
			t.Str(" OR ")
		}
		t.Str("member = ").Hex(k.Member).Str(" AND id = ").Int(k.ID)
	}
	return t.Str(")")
}
