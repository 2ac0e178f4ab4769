package store

import (
	"context"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// streamRows bounds the rows that the streams of a merge hold together.
const streamRows = 20_000

// stream is the entries of one period in the order of their members, read in pieces.
type stream struct {
	periodID int64
	codec    rank.Codec
	limit    int
	rows     []leaderboard.Entry // read and not passed yet
	last     string              // member read last
	ended    bool                // nothing is left to read
}

// merge passes every member that has an entry in the board or in one of its sources to fn, with what it has there, in the
// order of members: all periods are read side by side in the order of the primary key.
func (d *derivation) merge(ctx context.Context, fn func(member string, h held) error) error {
	ids := d.ids()
	streams := make([]*stream, len(ids))
	for i, id := range ids {
		streams[i] = &stream{periodID: id, codec: d.codecOf(id), limit: min(2000, streamRows/len(ids))}
	}
	for {
		member, any := "", false
		for _, s := range streams {
			if err := d.fill(ctx, s); err != nil {
				return err
			}
			if len(s.rows) > 0 && (!any || s.rows[0].Member < member) {
				member, any = s.rows[0].Member, true
			}
		}
		if !any {
			return nil
		}
		h := held{entries: make(map[int64]leaderboard.Entry, len(streams))}
		for _, s := range streams {
			if len(s.rows) > 0 && s.rows[0].Member == member {
				h.put(d.own.ID, s.periodID, s.rows[0])
				s.rows = s.rows[1:]
			}
		}
		if err := fn(member, h); err != nil {
			return err
		}
	}
}

// fill reads on when all that was read is passed.
func (d *derivation) fill(ctx context.Context, s *stream) error {
	if len(s.rows) > 0 || s.ended {
		return nil
	}
	start := time.Now()
	rows, err := d.q.QueryContext(ctx, d.store.db.Limited(streamQuery("member, score, tiebreak, created_at", s.periodID, s.last, s.limit)))
	if err != nil {
		return err
	}
	defer rows.Close()
	s.rows = make([]leaderboard.Entry, 0, s.limit)
	if err := entries.EachRow(rows, s.codec, func(e leaderboard.Entry) { s.rows = append(s.rows, e) }); err != nil {
		return err
	}
	if s.ended = len(s.rows) < s.limit; s.ended {
		return nil
	}
	s.last = s.rows[len(s.rows)-1].Member
	return d.rest(ctx, time.Since(start))
}

// streamQuery reads on in a period behind a member.
func streamQuery(columns string, periodID int64, after string, limit int) string {
	t := (&db.Text{}).Str("SELECT ").Str(columns).Str(" FROM entries FORCE INDEX (PRIMARY) WHERE period_id = ").Int(periodID)
	return t.Str(" AND member > ").Hex(after).Str(" ORDER BY member LIMIT ").Int(int64(limit)).String()
}

// computeAll passes every member to out.
func (d *derivation) computeAll(ctx context.Context, out *output) error {
	out.step.Members = 0
	return d.merge(ctx, func(member string, h held) error {
		out.step.Members++
		return out.add(ctx, member, h, d.combine(member, h.entries))
	})
}
