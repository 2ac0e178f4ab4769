package entries

import (
	"cmp"
	"database/sql"
	"strings"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// NoBody is the id of the body of a row of entry_metadata whose entry has no metadata, though the one before it had.
const NoBody = 0

// MetadataRow is a row of entry_metadata with its body.
type MetadataRow struct {
	PeriodID int64
	Key      rank.Key // of the entry that it is of, as stored
	BodyID   int64    // or NoBody
	Refs     int64    // of the body, 0 when there is none
	Body     string   // "": there is none, or it was not read
}

// AppendMetadata appends the statement, without an end, that reads the metadata of members in periods by primary keys, with the
// bodies when they are wanted.
func AppendMetadata(t *mysql.Text, periods []int64, members []string, bodies bool) *mysql.Text {
	t.Str("SELECT m.period_id, m.member, m.score, m.tiebreak, m.created_time, m.body_id, COALESCE(b.refs, 0), ")
	if bodies {
		t.Str("COALESCE(b.body, '')")
	} else {
		t.Str("''")
	}
	t.Str(" FROM entry_metadata m FORCE INDEX (PRIMARY) LEFT JOIN metadata_bodies b FORCE INDEX (PRIMARY) ON b.member = m.member AND b.id = m.body_id")
	return t.Str(" WHERE m.period_id IN (").Ints(periods).Str(") AND ").Among("m.member", members)
}

// EachMetadata reads the answer to AppendMetadata.
func EachMetadata(rows *sql.Rows, fn func(*MetadataRow)) error {
	for rows.Next() {
		var (
			r       MetadataRow
			e       leaderboard.Entry
			created time.Time
		)
		if err := rows.Scan(&r.PeriodID, &e.Member, &e.Score, &e.Tiebreak, &created, &r.BodyID, &r.Refs, &r.Body); err != nil {
			return err
		}
		e.CreatedTime = leaderboard.MicrosOf(created)
		r.Key = rank.Codec{}.Key(e)
		fn(&r)
	}
	return rows.Err()
}

// BodyKey is the primary key of a row of metadata_bodies.
type BodyKey struct {
	Member string
	ID     int64
}

// Compare orders keys as the table does.
func (k BodyKey) Compare(other BodyKey) int {
	return cmp.Or(strings.Compare(k.Member, other.Member), cmp.Compare(k.ID, other.ID))
}

// AppendBodies appends the condition that a row of metadata_bodies has one of the keys.
func AppendBodies(t *mysql.Text, keys []BodyKey) *mysql.Text {
	t.Str("(")
	for i, k := range keys {
		if i > 0 {
			t.Str(" OR ")
		}
		t.Str("member = ").Hex(k.Member).Str(" AND id = ").Int(k.ID)
	}
	return t.Str(")")
}
