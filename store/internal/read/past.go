package read

import (
	"context"
	"database/sql"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Past implements leaderboard.Pasts. For any number of periods there is one statement for their states and the entries of the
// member, and one for the counts (in chunks).
func (s *Reader) Past(ctx context.Context, periods []leaderboard.PeriodRef, member string) (out []leaderboard.PastEntry, err error) {
	if len(periods) == 0 {
		return nil, nil
	}
	err = s.look(ctx, periods, func(views []*view) error {
		found, err := lookAll(ctx, views, member)
		if err != nil {
			return err
		}
		probes := make([][]rank.Key, len(views))
		for i, k := range found {
			if k != "" {
				probes[i] = []rank.Key{k.Prefix(), k}
			}
		}
		c, err := count(ctx, views, probes, true)
		if err != nil {
			return err
		}
		out = make([]leaderboard.PastEntry, len(views))
		for i, v := range views {
			if out[i].State = v.state; found[i] == "" {
				continue
			}
			e, err := v.codec.Entry(found[i])
			if err != nil {
				return err
			}
			ranks := leaderboard.Ranks{Tied: c[i].ahead[0] + 1, Strict: c[i].ahead[1] + 1}
			out[i].Ranked = &leaderboard.Ranked{Ranks: ranks, Entry: e}
		}
		return nil
	})
	return out, mysql.Translate(ctx, "past of a member", err)
}

// lookAll reads the states of several periods, and the keys of the entries that a member has in them, "" without an entry.
// It is the first statement.
func lookAll(ctx context.Context, views []*view, member string) ([]rank.Key, error) {
	rows, err := views[0].q.QueryContext(ctx, views[0].reader.db.Limited(lookText(views, member)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	at := make(map[int64]int, len(views))
	for i, v := range views {
		at[v.ref.ID] = i
	}
	found := make([]rank.Key, len(views))
	for _, v := range views {
		if v.hasState && v.state.Seq < v.ref.LastSeq { // without a row
			return nil, seqAhead(v.state.Seq, v.ref.LastSeq)
		}
	}
	for rows.Next() {
		var (
			id              int64
			asOf            time.Time
			st              = leaderboard.State{Source: leaderboard.SourceMySQL}
			score, tiebreak sql.NullInt64
			created         sql.NullTime
		)
		if err := rows.Scan(&id, &st.Incarnation, &st.Seq, &asOf, &st.Total, &score, &tiebreak, &created); err != nil {
			return nil, err
		}
		v := views[at[id]]
		if st.AsOf = leaderboard.MicrosOf(asOf); st.Incarnation != v.ref.Incarnation {
			return nil, leaderboard.ErrPeriodNotFound
		}
		if st.Seq < v.ref.LastSeq {
			return nil, seqAhead(st.Seq, v.ref.LastSeq)
		}
		v.setState(st)
		if score.Valid {
			e := leaderboard.Entry{Member: member, Score: score.Int64, Tiebreak: tiebreak.Int64, CreatedTime: leaderboard.MicrosOf(created.Time)}
			found[at[id]] = rank.Codec{}.Key(e)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, v := range views {
		if !v.hasState {
			return nil, leaderboard.ErrPeriodNotFound
		}
	}
	return found, nil
}

// lookText takes any string for a member: an invalid id has no entry.
func lookText(views []*view, member string) string {
	t := (&mysql.Text{}).Str("SELECT p.id, " + entries.StateColumns + ", e.score, e.tiebreak, e.created_time FROM periods p")
	t.Str(" LEFT JOIN entries e FORCE INDEX (PRIMARY) ON e.period_id = p.id AND e.member = ").Hex(member).Str(" WHERE p.id IN (")
	for i, v := range views {
		t.Comma(i).Int(v.ref.ID)
	}
	return t.Str(") AND p.state <> 'deleting' LIMIT ").Int(int64(len(views))).String()
}
