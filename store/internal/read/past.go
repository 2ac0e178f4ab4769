package read

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// Past implements leaderboard.Pasts. Whatever the number of periods, there is one statement for their states and the
// member's entries, and one for what is counted (in chunks).
func (s *Reader) Past(ctx context.Context, periods []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	if len(periods) == 0 {
		return nil, nil
	}
	var (
		out []leaderboard.PastEntry
		err error
	)
	for range attempts {
		s.reads.looks.Add(1)
		if out, err = s.pastOnce(ctx, periods, member); !errors.Is(err, errMoved) {
			return out, db.Translate(ctx, "past of a member", err)
		}
		s.reads.moved.Add(1)
	}
	return nil, db.Translate(ctx, "past of a member", fmt.Errorf("%w: %w", leaderboard.ErrOverloaded, err))
}

func (s *Reader) pastOnce(ctx context.Context, periods []leaderboard.PeriodRef, member string) (out []leaderboard.PastEntry, err error) {
	p := past{member: member, views: make([]*view, len(periods)), found: make([]rank.Key, len(periods))}
	for i, ref := range periods {
		p.views[i] = &view{reader: s, last: func() {}, ref: ref, codec: rank.CodecOf(ref.Rules)}
		if t := s.indexes.Ready(ref); t != nil {
			p.views[i].floor = t.At().Seq
		}
	}
	look, err := s.db.Look(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { look.End(err != nil) }()
	if err := p.look(ctx, look); err != nil {
		return nil, err
	}
	return p.answer(ctx, look)
}

// past is one state of several periods of a board, and what a member has in each.
type past struct {
	member string
	views  []*view
	found  []rank.Key // per view, "" for none
}

// look reads the states of all periods, and the member's entries.
func (p *past) look(ctx context.Context, look *db.Look) error {
	rows, err := look.QueryContext(ctx, p.views[0].reader.db.Limited(p.text()))
	if err != nil {
		return err
	}
	defer rows.Close()
	at := make(map[int64]int, len(p.views))
	for i, v := range p.views {
		v.q = look
		at[v.ref.ID] = i
	}
	for rows.Next() {
		var (
			id              int64
			asOf            time.Time
			st              = leaderboard.State{Source: leaderboard.SourceMySQL}
			member          sql.RawBytes
			score, tiebreak sql.NullInt64
			created         sql.NullTime
		)
		if err := rows.Scan(&id, &st.Incarnation, &st.Seq, &asOf, &st.Total, &member, &score, &tiebreak, &created); err != nil {
			return err
		}
		v := p.views[at[id]]
		if st.AsOf = leaderboard.MicrosOf(asOf); st.Incarnation != v.ref.Incarnation {
			return leaderboard.ErrPeriodNotFound
		}
		if st.Seq < v.ref.LastSeq {
			return seqAhead(st.Seq, v.ref.LastSeq)
		}
		v.setState(st)
		if score.Valid {
			p.found[at[id]] = rank.Codec{}.Key(leaderboard.Entry{
				Member: string(member), Score: score.Int64, Tiebreak: tiebreak.Int64, CreatedTime: leaderboard.MicrosOf(created.Time),
			})
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, v := range p.views {
		if !v.hasState {
			return leaderboard.ErrPeriodNotFound
		}
	}
	return nil
}

func (p *past) text() string {
	t := (&db.Text{}).Str("SELECT p.id, " + entries.StateColumns + ", e.member, e.score, e.tiebreak, e.created_time FROM periods p")
	t.Str(" LEFT JOIN entries e FORCE INDEX (PRIMARY) ON e.period_id = p.id AND e.member = ").Hex(p.member).Str(" WHERE p.id IN (")
	for i, v := range p.views {
		t.Comma(i).Int(v.ref.ID)
	}
	return t.Str(") AND p.state <> 'deleting' LIMIT ").Int(int64(len(p.views))).String()
}

// answer gives the entries their ranks, each among those of its period.
func (p *past) answer(ctx context.Context, look *db.Look) ([]leaderboard.PastEntry, error) {
	m := &combined{reader: p.views[0].reader, q: look, last: look.Last}
	var probes [][]rank.Key
	for i, v := range p.views {
		if k := p.found[i]; k != "" {
			m.views, probes = append(m.views, v), append(probes, []rank.Key{k.Prefix(), k})
		}
	}
	var ahead [][]int64
	if len(m.views) > 0 {
		defer m.end()
		var err error
		if ahead, err = m.ahead(ctx, probes); err != nil {
			return nil, err
		}
	}
	out := make([]leaderboard.PastEntry, len(p.views))
	for i, v := range p.views {
		if out[i].State = v.state; p.found[i] == "" {
			continue
		}
		e, err := v.codec.Entry(p.found[i])
		if err != nil {
			return nil, err
		}
		ranks := leaderboard.Ranks{Tied: ahead[0][0] + 1, Strict: ahead[0][1] + 1}
		out[i].Ranked, ahead = &leaderboard.Ranked{Ranks: ranks, Entry: e}, ahead[1:]
	}
	return out, nil
}
