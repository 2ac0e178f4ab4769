package store

import (
	"database/sql"
	"maps"
	"slices"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// The entry of a hidden member lives in the shadow of its period: a row of entries whose period_id is that of the
// period, negative. No reader asks for one. Who is hidden is read under the lock of the board, so a batch knows of each
// of its members whether the entry is where it belongs, and moves it when it is not; see hidden.go for why that is
// enough.

// hiddenMembers are the members of a batch that are hidden now, by board (0: everywhere).
type hiddenMembers map[hiddenKey]bool

type hiddenKey struct {
	boardID int64
	member  string
}

func (h hiddenMembers) on(boardID int64, member string) bool {
	return len(h) > 0 && (h[hiddenKey{0, member}] || h[hiddenKey{boardID, member}])
}

// shadow is the hidden side of a period.
type shadow struct {
	entries map[string]*leaderboard.Entry // found, or put there since
	touched map[string]bool               // those that the batch changed; true: there is a row of it
}

func (s *shadow) set(member string, e *leaderboard.Entry) {
	if s.touched == nil {
		s.touched = map[string]bool{}
	}
	old := s.entries[member]
	if _, ok := s.touched[member]; !ok {
		s.touched[member] = old != nil
	}
	s.put(member, e)
}

func (s *shadow) put(member string, e *leaderboard.Entry) {
	if s.entries == nil {
		s.entries = map[string]*leaderboard.Entry{}
	}
	s.entries[member] = e
}

// outcome is what has to be written: entries, and the members whose entries are gone.
func (s *shadow) outcome() (upserts []*leaderboard.Entry, gone []string) {
	for _, m := range slices.Sorted(maps.Keys(s.touched)) {
		switch e := s.entries[m]; {
		case e != nil:
			upserts = append(upserts, e)
		case s.touched[m]:
			gone = append(gone, m)
		}
	}
	return upserts, gone
}

// entry is what a submission of the member is applied to: the shadow's when the member is hidden.
func (p *period) entry(member string) *leaderboard.Entry {
	if p.hidden.on(p.ref.BoardID, member) {
		return p.shadow.entries[member]
	}
	return p.entries[member]
}

// settle moves a member's entry to the side where it belongs. To everybody it disappears, or appears with the time at
// which its score was reached: a change like any other.
func (p *period) settle(member string) {
	visible, kept := p.entries[member], p.shadow.entries[member]
	switch hidden := p.hidden.on(p.ref.BoardID, member); {
	case hidden && visible != nil:
		p.shadow.set(member, visible)
		p.log(member, visible, nil)
	case !hidden && kept != nil && visible == nil:
		p.shadow.set(member, nil)
		p.log(member, nil, kept)
	}
}

// settle does so for all members of a batch in all current periods. Past ones are settled by requests that name them.
func (f *found) settle(members []string) {
	for _, p := range f.periods {
		if p.past || len(p.hidden)+len(p.shadow.entries) == 0 {
			continue
		}
		for _, m := range members {
			p.settle(m)
		}
	}
}

// applySettle settles the past periods that the request names. A closed one stays as it is unless it is reopened.
func (r *request) applySettle(periods []*period) (leaderboard.Receipt, error) {
	for _, p := range periods {
		if !p.past || p.closed && !r.reopen || !slices.Contains(r.periodIDs, p.ref.ID) {
			continue
		}
		before := p.lastSeq
		if p.settle(r.settle); p.closed && p.lastSeq > before {
			p.actors = append(p.actors, reopening{r.actor, before, p.lastSeq})
		}
	}
	return leaderboard.Receipt{}, nil
}

// appendHidden asks which of the members are hidden on the boards that may have such, and for their shadows. While a
// member has a shadow in an open period there is a row of hidden_members, so most batches find nothing here. That row
// may have been forgotten with the member while a submission was on its way, so removals ask for shadows without it.
func (r *reading) appendHidden(t *db.Text) {
	if len(r.withHidden) == 0 {
		return
	}
	shadows := []int64{0} // no period: a list may not be empty
	for _, id := range r.periods {
		shadows = append(shadows, -id)
	}
	for chunk := range slices.Chunk(r.members, db.MaxRows) {
		t.Str("SELECT h.board_id, h.member, h.state, e.period_id, e.score, e.tiebreak, e.created_at FROM hidden_members h FORCE INDEX (PRIMARY)")
		t.Str(" LEFT JOIN entries e FORCE INDEX (PRIMARY) ON e.period_id IN (").Ints(shadows).Str(") AND e.member = h.member")
		t.Str(" WHERE h.board_id IN (0,").Ints(r.withHidden).Str(") AND h.member IN (").Hexes(chunk).Str(");")
	}
	for chunk := range slices.Chunk(r.removed, db.MaxRows) {
		t.Str("SELECT period_id, member, score, tiebreak, created_at FROM entries FORCE INDEX (PRIMARY) WHERE period_id IN (")
		t.Ints(shadows).Str(") AND member IN (").Hexes(chunk).Str(");")
	}
}

// scanHidden reads the answers to appendHidden.
func (r *reading) scanHidden(rows *sql.Rows, periods []*period) error {
	if len(r.withHidden) == 0 {
		return nil
	}
	for range slices.Chunk(r.members, db.MaxRows) {
		if err := db.NextResult(rows); err != nil {
			return err
		}
		if err := r.scanHiddenRows(rows, periods); err != nil {
			return err
		}
	}
	for range slices.Chunk(r.removed, db.MaxRows) {
		if err := db.NextResult(rows); err != nil {
			return err
		}
		if err := scanPeriods(rows, periods); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) scanHiddenRows(rows *sql.Rows, periods []*period) error {
	for rows.Next() {
		var (
			key                 hiddenKey
			state               string
			id, score, tiebreak sql.NullInt64
			created             sql.NullTime
		)
		if err := rows.Scan(&key.boardID, &key.member, &state, &id, &score, &tiebreak, &created); err != nil {
			return err
		}
		if state != stateRestoring {
			r.hidden[key] = true
		}
		for _, p := range periods {
			if id.Valid && p.ref.ID == -id.Int64 {
				e := &leaderboard.Entry{Member: key.member, CreatedTime: leaderboard.MicrosOf(created.Time)}
				e.Score, e.Tiebreak = p.codec.Stored(score.Int64, tiebreak.Int64)
				p.shadow.put(key.member, e)
			}
		}
	}
	return rows.Err()
}

// appendShadowTimes keeps the created_at that was assigned last, of periods in which nothing but shadows changed: of
// two entries that are shown together one day, the earlier one has the earlier time.
func appendShadowTimes(t *db.Text, periods []*period) (touched bool) {
	for _, p := range periods {
		if len(p.shadow.touched) == 0 {
			continue
		}
		touched = true
		if len(p.changes) == 0 {
			t.Str("UPDATE periods SET last_created_at = ").Time(p.lastCreated).Str(" WHERE id = ").Int(p.ref.ID).Str(";")
		}
	}
	return touched
}
