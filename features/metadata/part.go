// Package metadata keeps a document with an entry.
package metadata

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/commit"
)

// Part adds metadata of entries to the transaction of submissions.
type Part struct{ known *known } // nil: nothing is kept

// On returns the metadata of a board's entries, nil if the board keeps none.
func (Part) On(b *commit.Board, _ *commit.Needs) commit.BoardPart {
	if !b.Rules().KeepsMetadata() {
		return nil
	}
	return &metadata{board: b, periods: map[*commit.Period]*rows{}, bodies: map[bodyKey]*body{}}
}

// Same reports whether both rules keep metadata.
func (Part) Same(now, then *leaderboard.Rules) bool {
	return now.KeepsMetadata() == then.KeepsMetadata()
}

// Rule returns the rule that the part carries out.
func (Part) Rule() string { return "/metadata" }

// metadata is the metadata of the entries of a board, by period. An entry that is moved, because its member is hidden or
// restored, keeps its key, and so its row.
type metadata struct {
	board   *commit.Board
	periods map[*commit.Period]*rows
	bodies  map[bodyKey]*body // found, which periods share

	attempt *commit.Attempt // the last attempt that made an entry
	brought *body           // with it, nil for nothing: one, for all windows
}

// rows are the rows of a period by member, as the lock found them, and as the batch makes them.
type rows struct {
	found, now map[string]row
}

// row is a row of entry_metadata.
type row struct {
	key  rank.Key // as stored
	body *body    // nil: the entry has no metadata, its predecessor had
}

// body is a row of metadata_bodies: an existing row, or a row to write.
type body struct {
	id   int64  // 0: not assigned yet
	refs int64  // rows of entry_metadata with it, for a found body
	text string // of a body to write
}

// bodyOf returns the metadata of a submission, or nil.
func bodyOf(sub *leaderboard.Submission) *body {
	if sub.Metadata == "" {
		return nil
	}
	return &body{text: sub.Metadata}
}

// Entry records the metadata of an entry that a submission has made, or that a member no longer has an entry.
func (m *metadata) Entry(p *commit.Period, member string, old, now *leaderboard.Entry, a *commit.Attempt) {
	list := m.periods[p]
	if list == nil {
		return
	}
	if now == nil {
		delete(list.now, member)
		return
	}
	if a != m.attempt {
		m.attempt, m.brought = a, bodyOf(a.Sub)
	}
	b := m.brought
	was, ok := list.now[member]
	if b == nil && a.Sub.Edit != nil && a.Sub.Edit.NoScore && ok && was.key == p.Key(*old) {
		b = was.body
	}
	if ok || b != nil {
		list.now[member] = row{p.Key(*now), b}
	}
}

// Mark returns a function that gives members the metadata that they have now.
func (m *metadata) Mark(members []string) (undo func()) {
	type kept struct {
		list   map[string]row
		member string
		row    row
		ok     bool
	}
	var all []kept
	for _, p := range m.board.Current() {
		if list := m.periods[p]; list != nil {
			for _, member := range members {
				r, ok := list.now[member]
				all = append(all, kept{list.now, member, r, ok})
			}
		}
	}
	return func() {
		for _, k := range all {
			if delete(k.list, k.member); k.ok {
				k.list[k.member] = k.row
			}
		}
	}
}

// ReadEntries asks for the metadata of members in periods.
func (m *metadata) ReadEntries(t *mysql.Text, periods []int64, members []string) {
	for chunk := range slices.Chunk(members, mysql.MaxRows) {
		appendRows(t, periods, chunk, false).Str(";")
	}
}

// ScanEntries reads the answers to ReadEntries.
func (m *metadata) ScanEntries(answers *sql.Rows, periods []*commit.Period, members []string) error {
	byID := make(map[int64]*rows, len(periods))
	for _, p := range periods {
		if m.periods[p] == nil {
			m.periods[p] = &rows{map[string]row{}, map[string]row{}}
		}
		byID[p.ID()] = m.periods[p]
	}
	for range slices.Chunk(members, mysql.MaxRows) {
		if err := mysql.NextResult(answers); err != nil {
			return err
		}
		err := eachRow(answers, func(r *storedRow) {
			found, member := row{key: r.Key}, r.Key.Member()
			if r.BodyID != noBody {
				key := bodyKey{Member: member, ID: r.BodyID}
				if m.bodies[key] == nil {
					m.bodies[key] = &body{id: r.BodyID, refs: r.Refs}
				}
				found.body = m.bodies[key]
			}
			if list := byID[r.PeriodID]; list != nil {
				list.found[member], list.now[member] = found, found
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Changed reports whether a row differs from the row that was found.
func (m *metadata) Changed() bool {
	for _, list := range m.periods {
		if !maps.Equal(list.found, list.now) {
			return true
		}
	}
	return false
}

// writes are the rows that a batch changes.
type writes struct {
	upserts []upsert
	gone    map[int64][]string // members, by period
	bodies  []*body            // bodies with a delta, in the order of periods and members
	delta   map[*body]int64    // of the references to a body
	owner   map[*body]string   // the member that it is of
}

type upsert struct {
	period *commit.Period
	row    row
}

// writesOf compares the rows of periods with the rows that were found.
func writesOf(changed []*metadata) *writes {
	w := &writes{gone: map[int64][]string{}, delta: map[*body]int64{}, owner: map[*body]string{}}
	count := func(b *body, member string, by int64) {
		if b == nil {
			return
		}
		if _, ok := w.owner[b]; !ok {
			w.bodies = append(w.bodies, b)
		}
		w.delta[b], w.owner[b] = w.delta[b]+by, member
	}
	for _, m := range changed {
		for _, p := range m.board.Periods() {
			list := m.periods[p]
			if list == nil {
				continue
			}
			for _, member := range slices.Sorted(maps.Keys(list.found)) {
				if _, ok := list.now[member]; !ok {
					count(list.found[member].body, member, -1)
					w.gone[p.ID()] = append(w.gone[p.ID()], member)
				}
			}
			for _, member := range slices.Sorted(maps.Keys(list.now)) {
				now := list.now[member]
				old, ok := list.found[member]
				if ok && old == now {
					continue
				}
				count(old.body, member, -1)
				count(now.body, member, 1)
				w.upserts = append(w.upserts, upsert{p, now})
			}
		}
	}
	return w
}

// WriteEntries writes the batch's changes of entries' metadata.
func (Part) WriteEntries(t *mysql.Text, changed []commit.BoardPart) {
	list := commit.PartsOf[*metadata](changed)
	w := writesOf(list)
	w.appendBodies(t, list[0].board.Random)
	for _, id := range slices.Sorted(maps.Keys(w.gone)) {
		for chunk := range slices.Chunk(w.gone[id], mysql.MaxRows) {
			t.Str("DELETE FROM entry_metadata WHERE period_id = ").Int(id).Str(" AND member IN (").Hexes(chunk).Str(");")
		}
	}
	for chunk := range slices.Chunk(w.upserts, mysql.MaxRows) {
		t.Str("INSERT INTO entry_metadata (period_id, member, score, tiebreak, created_time, body_id, emptied_at) VALUES ")
		for i, u := range chunk {
			e, err := rank.Codec{}.Entry(u.row.key)
			if err != nil {
				e = leaderboard.Entry{} // it was made of an entry
			}
			t.Comma(i).Str("(").Int(u.period.ID()).Str(",").Hex(e.Member).Str(",").Int(e.Score).Str(",").Int(e.Tiebreak).Str(",").Time(e.CreatedTime)
			if u.row.body != nil {
				t.Str(",").Int(u.row.body.id).Str(",NULL)")
			} else {
				t.Str(",").Int(noBody).Str(",").Time(u.period.Clock()).Str(")")
			}
		}
		t.Str(" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_time = VALUES(created_time),")
		t.Str(" body_id = VALUES(body_id), emptied_at = VALUES(emptied_at);")
	}
}

// appendBodies gives new bodies their ids, and writes them. A body replaces another of the member that nothing refers to
// any longer.
func (w *writes) appendBodies(t *mysql.Text, random func() uint64) {
	var fresh, fewer, more, gone []*body
	unused := map[string][]*body{} // by member
	for _, b := range w.bodies {
		switch by := w.delta[b]; {
		case b.text != "" && by > 0:
			fresh = append(fresh, b)
		case b.text == "" && by < 0 && b.refs+by <= 0:
			unused[w.owner[b]] = append(unused[w.owner[b]], b)
		case b.text == "" && by < 0:
			fewer = append(fewer, b)
		case b.text == "" && by > 0:
			more = append(more, b)
		}
	}
	for _, b := range fresh {
		if free := unused[w.owner[b]]; len(free) > 0 {
			b.id, unused[w.owner[b]] = free[0].id, free[1:]
		} else {
			b.id = max(1, int64(random()>>1))
		}
	}
	for _, free := range unused {
		gone = append(gone, free...)
	}
	for chunk := range slices.Chunk(w.inOrder(fresh), mysql.MaxRows) {
		t.Str("INSERT INTO metadata_bodies (member, id, refs, body) VALUES ")
		for i, b := range chunk {
			t.Comma(i).Str("(").Hex(w.owner[b]).Str(",").Int(b.id).Str(",").Int(w.delta[b]).Str(",").Hex(b.text).Str(")")
		}
		t.Str(" ON DUPLICATE KEY UPDATE refs = VALUES(refs), body = VALUES(body);")
	}
	for _, b := range w.inOrder(append(fewer, more...)) {
		t.Str("UPDATE metadata_bodies SET refs = refs + ").Int(w.delta[b]).Str(" WHERE member = ").Hex(w.owner[b]).Str(" AND id = ").Int(b.id).Str(";")
	}
	// Housekeeping may have taken references of periods that are given up away since they were read.
	w.appendDelete(t, fewer, "refs <= 0 AND ")
	w.appendDelete(t, gone, "")
}

// appendDelete deletes bodies.
func (w *writes) appendDelete(t *mysql.Text, bodies []*body, condition string) {
	for chunk := range slices.Chunk(w.inOrder(bodies), mysql.MaxRows) {
		keys := make([]bodyKey, len(chunk))
		for i, b := range chunk {
			keys[i] = bodyKey{Member: w.owner[b], ID: b.id}
		}
		appendBodyKeys(t.Str("DELETE FROM metadata_bodies WHERE "+condition), keys).Str(";")
	}
}

// inOrder sorts bodies by their primary key.
func (w *writes) inOrder(bodies []*body) []*body {
	slices.SortFunc(bodies, func(a, b *body) int {
		return cmp.Or(strings.Compare(w.owner[a], w.owner[b]), cmp.Compare(a.id, b.id))
	})
	return bodies
}

// Committed keeps the metadata of a batch's entries of periods in memory.
func (p Part) Committed(changed []commit.BoardPart) {
	if p.known == nil {
		return
	}
	for _, m := range commit.PartsOf[*metadata](changed) {
		for period, list := range m.periods {
			p.known.wrote(period, list)
		}
	}
}
