package derived

import (
	"context"
	"slices"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// lookUps is the number of entries that one statement of a step looks up by period and member. With some ten thousands the
// server would no longer plan by ranges.
const lookUps = 4000

// held is a member's entries: in the derived board and in its sources.
type held struct {
	visible *leaderboard.Entry
	hidden  *leaderboard.Entry          // of a hidden member
	entries map[int64]leaderboard.Entry // by period
}

// own returns the member's entry on the board, hidden or not.
func (h *held) own() *leaderboard.Entry {
	if h.visible == nil {
		return h.hidden
	}
	return h.visible
}

// put keeps an entry that a period has.
func (h *held) put(own, periodID int64, e leaderboard.Entry) {
	switch periodID {
	case own:
		h.visible = &e
	case -own:
		h.hidden = &e
	default:
		h.entries[periodID] = e
	}
}

// lookUp finds what members have, in their order.
func (d *derivation) lookUp(ctx context.Context, members []string) ([]held, error) {
	found, index := make([]held, len(members)), make(map[string]int, len(members))
	for i, m := range members {
		index[m], found[i].entries = i, make(map[int64]leaderboard.Entry, len(d.periods))
	}
	rows, err := d.q.QueryContext(ctx, d.db.Limited(lookUpQuery(d.ids(), members)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id      int64
			e       leaderboard.Entry
			created time.Time
		)
		if err := rows.Scan(&id, &e.Member, &e.Score, &e.Tiebreak, &created); err != nil {
			return nil, err
		}
		e.CreatedTime = leaderboard.MicrosOf(created)
		e.Score, e.Tiebreak = d.codecOf(id).Stored(e.Score, e.Tiebreak)
		found[index[e.Member]].put(d.own.ID, id, e)
	}
	return found, rows.Err()
}

// ids returns the periods that have entries for the board: its own, the period of its hidden entries, and the sources that
// exist.
func (d *derivation) ids() []int64 {
	ids := []int64{d.own.ID, -d.own.ID}
	for _, s := range d.desired {
		if s.periodID != 0 && !slices.Contains(ids, s.periodID) {
			ids = append(ids, s.periodID)
		}
	}
	return ids
}

func lookUpQuery(periods []int64, members []string) string {
	t := (&mysql.Text{}).Str("SELECT period_id, member, score, tiebreak, created_time FROM entries FORCE INDEX (PRIMARY) WHERE period_id IN (")
	return t.Ints(periods).Str(") AND member IN (").Hexes(members).Str(")").String()
}

// codecOf returns how a period, the board's own or a source, stores its entries.
func (d *derivation) codecOf(periodID int64) rank.Codec {
	if periodID == d.own.ID || periodID == -d.own.ID {
		return d.codec
	}
	return d.periods[periodID].codec
}

// combine returns the entry that a member should have, or nil.
func (d *derivation) combine(member string, has map[int64]leaderboard.Entry) *leaderboard.Entry {
	var room [8]share
	shares := room[:0]
	for _, s := range d.desired {
		if e, ok := has[s.periodID]; ok {
			shares = append(shares, share{s.Weight, e.Score, e.CreatedTime})
		}
	}
	e, ok := combine(d.board.Rules.Derive, member, shares, len(d.desired))
	if !ok {
		return nil
	}
	return &e
}

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

// merge passes every member that has an entry in the board or in one of its sources to fn, with its entries there, in the
// order of members: all periods are read in parallel in the order of the primary key.
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

// fill reads on when everything that was read has been passed.
func (d *derivation) fill(ctx context.Context, s *stream) error {
	if len(s.rows) > 0 || s.ended {
		return nil
	}
	start := time.Now()
	rows, err := d.q.QueryContext(ctx, d.db.Limited(streamQuery("member, score, tiebreak, created_time", s.periodID, s.last, s.limit)))
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

// streamQuery reads on in a period after a member.
func streamQuery(columns string, periodID int64, after string, limit int) string {
	t := (&mysql.Text{}).Str("SELECT ").Str(columns).Str(" FROM entries FORCE INDEX (PRIMARY) WHERE period_id = ").Int(periodID)
	return t.Str(" AND member > ").Hex(after).Str(" ORDER BY member LIMIT ").Int(int64(limit)).String()
}
