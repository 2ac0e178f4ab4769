package entries

import (
	"database/sql"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// HiddenIn returns the period_id of the entries of hidden members in a period: no reader of the period asks for it. The views
// scores and hidden_scores of the schema know it too, and nobody else.
func HiddenIn(periodID int64) int64 { return -periodID }

// PeriodOf returns the period of a row of entries by its period_id, and whether the row is of a hidden member.
func PeriodOf(stored int64) (periodID int64, hidden bool) { return max(stored, -stored), stored < 0 }

// EachRow reads rows of member, score, tiebreak, created_at to the end of one answer.
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
func AppendRow(t *db.Text, periodID int64, codec rank.Codec, e leaderboard.Entry) *db.Text {
	score, tiebreak := codec.Stored(e.Score, e.Tiebreak)
	t.Str("(").Int(periodID).Str(",").Hex(e.Member).Str(",").Int(score).Str(",").Int(tiebreak).Str(",")
	return t.Time(e.CreatedTime).Str(")")
}

// EachPart reads rows of a number and an entry as it is stored.
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

// Same says whether two entries are the same; nil is no entry.
func Same(a, b *leaderboard.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
